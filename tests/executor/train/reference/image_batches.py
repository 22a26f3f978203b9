"""A dataset of small images in classes, written to a folder, and its batches as slipway-executor makes them.

Images are a few squares of colour, so that they differ much: of images of noise a deep layer makes nearly the same numbers,
and batch norm, which divides by their deviation, makes large differences of rounding errors.
"""
import io
import tarfile

import numpy as np
import torch
from PIL import Image

MEAN, DEVIATION, CLASSES, GRID = 0.5, 0.25, 4, 4


class Images:
    format = "webdataset"

    def __init__(self, folder, side, batch, train, validation):
        folder.mkdir()
        self.folder, self.batch_size, self.steps_per_epoch = folder, batch, train // batch
        self.job = {"task": {"type": "classification"},
                    "data": {"dataset": "images", "split": {"train": "train", "val": "val"},
                             "normalize": {"mean": MEAN, "std": DEVIATION}}}
        random = np.random.default_rng(5)
        self.parts = {part: self.write_part(random, part, side, count) for part, count in (("train", train), ("val", validation))}

    def write_part(self, random, part, side, count):
        """Noise around a mean for each class, lossless: (features, labels) in the order of the archive."""
        labels = torch.arange(count) % CLASSES
        prototypes = np.random.default_rng(6).uniform(0, 255, (CLASSES, GRID, GRID, 3))
        drawn = random.uniform(0, 255, (count, GRID, GRID, 3))
        pixels = (0.3 * prototypes[labels] + 0.7 * drawn).astype(np.uint8)
        pixels = pixels.repeat(side // GRID, axis=1).repeat(side // GRID, axis=2)
        with tarfile.open(self.folder / f"{part}.tar", "w") as archive:
            for number, (image, label) in enumerate(zip(pixels, labels.tolist())):
                file = io.BytesIO()
                Image.fromarray(image).save(file, "png")
                for ending, content in (("png", file.getvalue()), ("cls", str(label).encode())):
                    member = tarfile.TarInfo(f"{number:04}.{ending}")
                    member.size = len(content)
                    archive.addfile(member, io.BytesIO(content))
        return (torch.from_numpy(pixels.transpose(0, 3, 1, 2).astype(np.float32)) / 255 - MEAN) / DEVIATION, labels

    def batch(self, step):
        begin = step % self.steps_per_epoch * self.batch_size
        features, labels = self.parts["train"]
        return features[begin:begin + self.batch_size], labels[begin:begin + self.batch_size]

    def validation(self):
        return [self.parts["val"]]
