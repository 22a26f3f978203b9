"""A dataset of text in bytes, written to a folder, and its batches as slipway-executor makes them: executor/text a second time."""
import numpy as np
import torch

import masks

VOCABULARY, PADDING, MASK, SEED = 258, 256, 257, 3


def invented(count, seed):
    """So many bytes of words of an invented language: some of them frequent, as in any."""
    random = np.random.default_rng(seed)
    words = ["".join(random.choice(list("aeioulnrst"), 2 + i % 7)) for i in range(200)]
    chances = 1 / np.arange(1, 201)
    return " ".join(random.choice(words, count, p=chances / chances.sum()))[:count].encode()


def lines(path, count):
    """At most so many bytes of a file, whole lines."""
    blob = path.read_bytes()[:count]
    return blob[:blob.rindex(b"\n") + 1]


class Part:
    """Rows of `length` tokens, of causal_lm with the one after; the last row may be short."""

    def __init__(self, written, task, length, first_row):
        self.task, self.length, self.first_row = task, length, first_row
        overlap = 1 if task == "causal_lm" else 0
        tokens, width = list(written), length + overlap
        self.rows, self.counts = [], []
        for begin in range(0, len(tokens) - overlap, length):
            row = tokens[begin:begin + width]
            self.counts.append(len(row))
            self.rows.append(row + [PADDING] * (width - len(row)))

    def batch(self, numbers, epoch, seed):
        """(features, labels) with -100 where nothing is counted."""
        features, labels = [], []
        for number in numbers:
            row, count = self.rows[number], self.counts[number]
            if self.task == "masked_lm":
                shown, wanted = masks.masked(row, count, self.first_row + number, epoch, seed, VOCABULARY, MASK, {PADDING, MASK})
                features.append(shown)
                labels.append([wanted.get(i, -100) for i in range(self.length)])
            else:
                features.append(row[:-1])
                labels.append(row[1:count] + [-100] * (self.length - count + 1))
        return torch.tensor(features), torch.tensor(labels)


class Texts:
    format = "text"

    def __init__(self, folder, task, length, batch, train, validation):
        folder.mkdir()
        self.folder, self.batch_size = folder, batch
        for part, content in (("train", train), ("val", validation)):
            (folder / f"{part}.txt").write_bytes(content)
        self.train = Part(train, task, length, 0)
        self.val = Part(validation, task, length, len(self.train.rows))
        self.steps_per_epoch = len(self.train.rows) // batch
        self.job = {"task": {"type": task},
                    "data": {"dataset": "text", "split": {"train": "train", "val": "val"}, "max_length": length,
                             "tokenizer": {"type": "byte"}}}

    def batch(self, step):
        epoch, batch = divmod(step, self.steps_per_epoch)
        return self.train.batch(range(batch * self.batch_size, (batch + 1) * self.batch_size), epoch, SEED)

    def validation(self):
        return [self.val.batch(range(first, min(first + self.batch_size, len(self.val.rows))), 0, 0)
                for first in range(0, len(self.val.rows), self.batch_size)]
