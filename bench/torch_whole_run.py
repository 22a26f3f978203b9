#!/usr/bin/env python3
"""A whole training run of ResNet-18 on photos in PyTorch, as a plain script does it: a DataLoader, a validation pass and a checkpoint
after each epoch. Prints one line of JSON: seconds from the start of the script to the last checkpoint, and of what they consist.

usage: bench/torch_whole_run.py FOLDER --out FOLDER [--epochs 10] [--batch 16] [--side 64] [--val 17] [--threads 2] [--loaders 0]
       [--keep] [--no-saves]

FOLDER holds CLASS/*.jpg. Images are decoded whenever the loader asks for them, as torchvision's ImageFolder does it; --keep keeps
the tensors in memory instead. --loaders: worker processes of the DataLoader, 0: in this process. Needs torch, numpy and Pillow
(Debian: python3-torch, python3-numpy, python3-pil).
"""
import time

BEGIN = time.perf_counter()

import argparse
import json
import pathlib

import numpy
import torch
import torch.nn.functional as functional
from PIL import Image

import torch_networks as networks
from torch_workloads import require_fast_products

IMPORTED = time.perf_counter()


class Photos(torch.utils.data.Dataset):
    def __init__(self, folder, side, keep):
        classes = sorted(each for each in pathlib.Path(folder).iterdir() if each.is_dir())
        self.files = [(file, number) for number, each in enumerate(classes) for file in sorted(each.glob("*.jpg"))]
        self.classes, self.side, self.kept = len(classes), side, {} if keep else None

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        if self.kept is not None and index in self.kept:
            return self.kept[index]
        file, label = self.files[index]
        with Image.open(file) as image:
            pixels = numpy.asarray(image.convert("RGB").resize((self.side, self.side), Image.BILINEAR))
        sample = torch.from_numpy(pixels.copy()).permute(2, 0, 1).float() / 255, label
        if self.kept is not None:
            self.kept[index] = sample
        return sample


class Clock:
    """Seconds by phase; each moment belongs to one."""

    def __init__(self):
        self.seconds, self.last = {"import": IMPORTED - BEGIN}, IMPORTED

    def ended(self, phase):
        now = time.perf_counter()
        self.seconds[phase] = self.seconds.get(phase, 0) + now - self.last
        self.last = now


def train_epoch(network, optimizer, loader, clock):
    network.train()
    for x, y in loader:
        clock.ended("input")
        loss = functional.cross_entropy(network(x.to(memory_format=torch.channels_last)), y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        clock.ended("steps")
    clock.ended("input")
    return loss.item()


def evaluate(network, loader):
    network.eval()
    loss, right, count = 0.0, 0, 0
    with torch.no_grad():
        for x, y in loader:
            logits = network(x.to(memory_format=torch.channels_last))
            loss += functional.cross_entropy(logits, y, reduction="sum").item()
            right += (logits.argmax(1) == y).sum().item()
            count += len(y)
    return loss / count, right / count


def run(arguments):
    require_fast_products()
    clock = Clock()
    torch.manual_seed(1)
    torch.set_num_threads(arguments.threads)
    photos = Photos(arguments.folder, arguments.side, arguments.keep)
    train, val = torch.utils.data.random_split(photos, [len(photos) - arguments.val, arguments.val])
    loader = torch.utils.data.DataLoader(train, arguments.batch, shuffle=True, drop_last=True, num_workers=arguments.loaders)
    val_loader = torch.utils.data.DataLoader(val, arguments.batch, num_workers=arguments.loaders)
    network = networks.ResNet([2, 2, 2, 2], photos.classes).to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9)
    clock.ended("build")
    for epoch in range(arguments.epochs):
        loss = train_epoch(network, optimizer, loader, clock)
        val_loss, val_accuracy = evaluate(network, val_loader)
        clock.ended("evaluate")
        if not arguments.no_saves:
            torch.save({"model": network.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch},
                       pathlib.Path(arguments.out) / f"epoch_{epoch + 1}.pt")
        clock.ended("checkpoint")
    return {"seconds": round(clock.last - BEGIN, 3), "phases": {name: round(each, 3) for name, each in clock.seconds.items()},
            "train_photos": len(train), "steps": arguments.epochs * len(loader), "train_loss": loss, "val_loss": val_loss,
            "val_accuracy": val_accuracy}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--out", required=True, help="folder of the checkpoints")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--side", type=int, default=64, help="images are resized to squares of this side")
    parser.add_argument("--val", type=int, default=17, help="photos of the validation part")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--loaders", type=int, default=0, help="worker processes of the DataLoader; 0: none")
    parser.add_argument("--keep", action="store_true", help="keep decoded images in memory")
    parser.add_argument("--no-saves", action="store_true", help="write no checkpoints")
    print(json.dumps(run(parser.parse_args())))


if __name__ == "__main__":
    main()
