#!/usr/bin/env python3
"""Trains a language model with slipway-executor and the same one in torch, on the same batches.

usage: compare_language.py EXECUTOR [--arch bert_small] [--cores 1] [--steps 20] [--optimizer sgd]
       compare_language.py EXECUTOR --text FOLDER [--bytes N] [--steps 300] …

Needs torch and numpy (Debian 12: python3-torch). Torch's first weights go into the job by model.init.from, under Hugging
Face's names and with the tied tensors stored twice, as its files may have them. Dropout is off. Compared are
- every gradient of step 1 with torch's in float64: what sgd with momentum leaves in its buffer, its rate next to nothing;
- the losses of all steps, of several epochs, whose masks (masks.py) are drawn anew;
- validation loss and perplexity of the last weights, and those weights.
The text is bytes; the last row of a part is short, so padding is among what must not count.

With a folder of wikitext2 (valid.txt to train on, test.txt to validate on, N bytes of the one and a fourth of the
other) a longer training's validation perplexity is compared, which must be within 2 %.
"""
import argparse
import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch
from torch.nn import functional

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[3] / "bench")]

import masks  # noqa: E402
import safetensors_file  # noqa: E402
import torch_networks as networks  # noqa: E402

LENGTH, BATCH, ROWS, VALIDATION_ROWS, SHORT = 64, 8, 64, 11, 37
VOCABULARY, PADDING, MASK, SEED = 258, 256, 257, 3

# Both sides calculate in f32 and sum in other orders, and 20 steps carry that on.
GRADIENT_BOUND, LOSS_BOUND, PERPLEXITY_BOUND, WEIGHT_BOUND = 1e-4, 1e-4, 1e-4, 1e-3
LONG_BOUND = 0.02

NETWORKS = {
    "bert_tiny": lambda: networks.Bert(2, 128, 2, VOCABULARY, 512, rate=0.0, padding=PADDING),
    "bert_small": lambda: networks.Bert(4, 512, 8, VOCABULARY, 2048, rate=0.0, padding=PADDING),
    "gpt_tiny": lambda: networks.Gpt2(4, 128, 4, VOCABULARY),
    "gpt2": lambda: networks.Gpt2(12, 768, 12, VOCABULARY),
}
TIED = {"bert": (("cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight"),
                 ("cls.predictions.decoder.bias", "cls.predictions.bias")),
        "gpt": (("lm_head.weight", "transformer.wte.weight"),)}

OPTIMIZERS = {
    "sgd": ({"name": "sgd", "lr": 0.05, "momentum": 0.9, "weight_decay": 1e-4},
            lambda p: torch.optim.SGD(p, 0.05, 0.9, weight_decay=1e-4)),
    # A larger eps than usual: what Adam divides by is noise in f32 where a gradient is nearly 0.
    "adam": ({"name": "adam", "lr": 1e-4, "eps": 1e-5}, lambda p: torch.optim.Adam(p, 1e-4, eps=1e-5)),
}


def is_bert(arch):
    return arch.startswith("bert")


def text(count, seed):
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
    """Rows of LENGTH + overlap tokens, the last one short."""

    def __init__(self, written, overlap, first_row):
        tokens = list(written)
        width = LENGTH + overlap
        self.first_row = first_row
        self.rows, self.counts = [], []
        for begin in range(0, len(tokens) - overlap, LENGTH):
            row = tokens[begin:begin + width]
            self.counts.append(len(row))
            self.rows.append(row + [PADDING] * (width - len(row)))

    def steps_per_epoch(self):
        return len(self.rows) // BATCH

    def batch(self, arch, numbers, epoch, seed):
        """(features, labels) with -100 where nothing is counted."""
        features, labels = [], []
        for number in numbers:
            row, count = self.rows[number], self.counts[number]
            if is_bert(arch):
                shown, wanted = masks.masked(row, count, self.first_row + number, epoch, seed, VOCABULARY, MASK,
                                             {PADDING, MASK})
                features.append(shown)
                labels.append([wanted.get(i, -100) for i in range(LENGTH)])
            else:
                features.append(row[:-1])
                labels.append(row[1:count] + [-100] * (LENGTH - count + 1))
        return torch.tensor(features), torch.tensor(labels)


def parts_of(asked, folder):
    overlap = 0 if is_bert(asked.arch) else 1
    written = {"train": text(ROWS * LENGTH + SHORT, 1), "val": text(VALIDATION_ROWS * LENGTH + SHORT, 2)}
    if asked.text:
        written = {"train": lines(asked.text / "valid.txt", asked.bytes), "val": lines(asked.text / "test.txt", asked.bytes // 4)}
    folder.mkdir()
    for name, content in written.items():
        (folder / f"{name}.txt").write_bytes(content)
    train = Part(written["train"], overlap, 0)
    return train, Part(written["val"], overlap, len(train.rows))


def run_ours(asked, folder, optimizer, steps, name):
    """(training losses by step, last row of validation values, folder of the last checkpoint)"""
    out = folder / name
    spec = {"model": {"arch": asked.arch, "dropout": 0, "init": {"from": str(folder / "first.safetensors")}},
            "task": {"type": "masked_lm" if is_bert(asked.arch) else "causal_lm"},
            "data": {"dataset": "text", "split": {"train": "train", "val": "val"}, "max_length": LENGTH,
                     "tokenizer": {"type": "byte"}},
            "train": {"steps": steps, "batch_size_per_core": BATCH // asked.cores, "shuffle": False, "seed": SEED,
                      "optimizer": optimizer},
            "accelerator": {"cores": asked.cores}, "monitor": {"log_every_steps": 1},
            "checkpoint": {"every_epochs": 0}}
    (folder / "job.json").write_text(json.dumps(spec))
    subprocess.run([asked.executor, "run", folder / "job.json", "--data", folder / "text", "--format", "text",
                    "--out", out], check=True, stdout=subprocess.DEVNULL)
    rows = list(csv.DictReader((out / "metrics.csv").open()))
    return ({int(row["step"]): float(row["train_loss"]) for row in rows if row["train_loss"]},
            [row for row in rows if row["val_loss"]][-1], out / "checkpoints" / f"step_{steps:06}_attempt_1")


def loss_of(network, batch, reduction="mean"):
    features, labels = batch
    logits = network(features)
    return functional.cross_entropy(logits.reshape(-1, VOCABULARY), labels.reshape(-1), reduction=reduction)


def worst_gradient(arch, first, batch, ours):
    """Of an element over the largest of its tensor. What is next to nothing beside the largest of the network, as the
    keys' biases, which move no probability, is nothing but rounding on both sides."""
    network = NETWORKS[arch]().double()
    network.load_state_dict({name: tensor.double() for name, tensor in first.items()})
    loss_of(network, batch).backward()
    theirs = {name: parameter.grad for name, parameter in network.named_parameters()}
    floor = 1e-4 * max(grad.abs().max().item() for grad in theirs.values())
    return max((ours[name + ".momentum_buffer"] - grad).abs().max().item() / max(grad.abs().max().item(), floor)
               for name, grad in theirs.items())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("executor")
    parser.add_argument("--arch", default="bert_small", choices=NETWORKS)
    parser.add_argument("--cores", type=int, default=1, choices=(1, 8))
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--optimizer", default="sgd", choices=OPTIMIZERS)
    parser.add_argument("--text", type=pathlib.Path, help="a folder of wikitext2")
    parser.add_argument("--bytes", type=int, default=200_000, help="of its training text")
    asked = parser.parse_args()
    torch.manual_seed(1)
    network = NETWORKS[asked.arch]()
    first = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    tied = {again: first[name] for again, name in TIED[asked.arch.split("_")[0].rstrip("2")]}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        train, validation = parts_of(asked, folder / "text")
        safetensors_file.write(folder / "first.safetensors", first | tied)

        def batch_of(step):
            epoch, batch = divmod(step, train.steps_per_epoch())
            return train.batch(asked.arch, range(batch * BATCH, (batch + 1) * BATCH), epoch, SEED)

        one = run_ours(asked, folder, {"name": "sgd", "lr": 1e-9, "momentum": 0.9}, 1, "one")
        gradients = worst_gradient(asked.arch, first, batch_of(0), safetensors_file.read(one[2] / "optimizer.safetensors"))
        numbers, make_optimizer = OPTIMIZERS[asked.optimizer]
        losses, evaluated, last = run_ours(asked, folder, numbers, asked.steps, "all")
        weights = safetensors_file.read(last / "model.safetensors")
        evaluated = {key: float(evaluated[key]) for key in ("val_loss", "val_perplexity")}

    optimizer = make_optimizer(network.parameters())
    curve = 0.0
    for step in range(asked.steps):
        optimizer.zero_grad()
        loss = loss_of(network, batch_of(step))
        loss.backward()
        optimizer.step()
        curve = max(curve, abs(loss.item() - losses[step + 1]))
    moved = max((tensor - weights.pop(name)).abs().max().item() / max(tensor.abs().max().item(), 1.0)
                for name, tensor in network.state_dict().items())
    assert not weights, f"not torch's: {sorted(weights)}"
    with torch.no_grad():
        total = count = 0
        for first_row in range(0, len(validation.rows), BATCH):
            numbers = range(first_row, min(first_row + BATCH, len(validation.rows)))
            batch = validation.batch(asked.arch, numbers, 0, 0)
            total += loss_of(network, batch, "sum").item()
            count += (batch[1] >= 0).sum().item()
        val_loss = total / count

    figures = (("gradients", gradients, GRADIENT_BOUND), ("training losses", curve, LOSS_BOUND),
               ("validation loss", abs(val_loss - evaluated["val_loss"]), LOSS_BOUND),
               ("perplexity, relatively,", abs(evaluated["val_perplexity"] / math.exp(val_loss) - 1), PERPLEXITY_BOUND),
               ("weights", moved, WEIGHT_BOUND))
    if asked.text:
        print(f"validation perplexity {evaluated['val_perplexity']:.4f}, torch's {math.exp(val_loss):.4f}")
        figures = (figures[0], ("perplexity, relatively,", figures[3][1], LONG_BOUND))
    print(f"{asked.arch}, {asked.optimizer}, {asked.cores} cores, {asked.steps} steps: " +
          ", ".join(f"{what} differ by {found:.1e} (bound {bound:.0e})" for what, found, bound in figures))
    return 0 if all(found <= bound for _, found, bound in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
