#!/usr/bin/env python3
"""Trains a residual network with slipway-executor, loads its checkpoint into torchvision and goes on there.

usage: compare_torchvision.py EXECUTOR [--arch resnet18] [--cores 1] [--steps 20]

Needs torch, torchvision and PIL (Debian 12: python3-torch, python3-torchvision, python3-pil). Compared are
- the names, shapes and types of the checkpoint, by load_state_dict(strict=True) of what step 1 left,
  exported;
- the validation loss of the last checkpoint's weights: torchvision's evaluation beside ours;
- the losses of steps 2 to 20 on the same batches, from the weights and the momentum of step 1;
- weights, running statistics and counts after them.
With 8 cores torch computes each core's share by itself and takes the mean of their running statistics.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torchvision
from PIL import Image

import safetensors_file
from scaled_residuals import scale_residuals

SIDE, TRAIN, VALIDATION, CLASSES = 64, 32, 12, ("bright", "dark")
MEAN, DEVIATION, RATE, MOMENTUM, DECAY = 0.5, 0.25, 1e-5, 0.9, 1e-4

# Both sides calculate in f32 and sum in other orders, and 20 steps carry that on: a rate, and for deep networks first
# weights, with which f32 tells something (docs/torch.md). With 0.001 ResNet-18's losses differ by 3e-4.
EVALUATION_BOUND, LOSS_BOUND, WEIGHT_BOUND = 1e-5, 1e-4, 1e-3


def write_images(folder):
    """JPEGs of noise around two means, in parts and classes."""
    random = np.random.default_rng(5)
    for part, count in (("train", TRAIN), ("val", VALIDATION)):
        for number in range(count):
            label = number % 2
            pixels = np.clip(random.normal(110 + 40 * (1 - label), 50, (SIDE, SIDE, 3)), 0, 255)
            path = folder / part / CLASSES[label] / f"{number:03}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(pixels.astype(np.uint8)).save(path, quality=95)


def read_images(folder, part):
    """In the dataset's order: by path."""
    files = sorted((folder / part).glob("*/*.jpg"))
    pixels = np.stack([np.asarray(Image.open(file), np.float32).transpose(2, 0, 1) for file in files])
    labels = torch.tensor([CLASSES.index(file.parent.name) for file in files])
    return (torch.from_numpy(pixels) / 255 - MEAN) / DEVIATION, labels


def first_weights(arch, folder):
    """The job's model.init: torch's weights with scaled residuals where a network is deep, else none."""
    scale = {"resnet34": 0.25, "resnet50": 0.1}.get(arch)
    if scale is None:
        return {}
    torch.manual_seed(1)
    tensors = getattr(torchvision.models, arch)(num_classes=len(CLASSES)).state_dict()
    scale_residuals(arch, tensors, scale)
    file = folder / "first.safetensors"
    safetensors_file.write(file, {name: tensor for name, tensor in tensors.items() if tensor.is_floating_point()})
    return {"init": {"from": str(file)}}


def job(arch, cores, steps, init):
    return {"model": {"arch": arch} | init, "task": {"type": "classification"},
            "data": {"dataset": "images", "split": {"train": "train", "val": "val"},
                     "normalize": {"mean": MEAN, "std": DEVIATION}},
            "train": {"steps": steps, "batch_size_per_core": TRAIN // cores, "shuffle": False,
                      "optimizer": {"name": "sgd", "lr": RATE, "momentum": MOMENTUM, "weight_decay": DECAY}},
            "accelerator": {"cores": cores}, "monitor": {"log_every_steps": 1},
            "checkpoint": {"every_steps": 1, "every_epochs": 0, "keep_last": 100}}


def run_ours(executor, folder, spec):
    (folder / "job.json").write_text(json.dumps(spec))
    subprocess.run([executor, "run", folder / "job.json", "--data", folder / "images", "--format", "image_folder",
                    "--out", folder / "out"], check=True, stdout=subprocess.DEVNULL)
    rows = list(csv.DictReader((folder / "out" / "metrics.csv").open()))
    return ({int(row["step"]): float(row["train_loss"]) for row in rows if row["train_loss"]},
            [float(row["val_loss"]) for row in rows if row["val_loss"]][-1])


def is_running(name):
    return "running" in name


class Theirs:
    """torchvision's network and torch's optimizer, as a checkpoint of ours left them."""

    def __init__(self, executor, arch, checkpoint):
        self.network = getattr(torchvision.models, arch)(num_classes=len(CLASSES))
        exported = checkpoint.parent / "exported.safetensors"
        subprocess.run([executor, "export", checkpoint, "--out", exported], check=True)
        self.network.load_state_dict(safetensors_file.read(exported), strict=True)
        self.optimizer = torch.optim.SGD(self.network.parameters(), RATE, MOMENTUM, weight_decay=DECAY)
        states = safetensors_file.read(checkpoint / "optimizer.safetensors")
        for name, parameter in self.network.named_parameters():
            self.optimizer.state[parameter]["momentum_buffer"] = states[name + ".momentum_buffer"]

    def validate(self, images, labels):
        self.network.eval()
        with torch.no_grad():
            return torch.nn.functional.cross_entropy(self.network(images), labels).item()

    def step(self, images, labels, cores):
        self.network.train()
        self.optimizer.zero_grad()
        before = {name: buffer.clone() for name, buffer in self.network.named_buffers()}
        after = {name: torch.zeros_like(buffer) for name, buffer in before.items() if is_running(name)}
        total = 0.0
        for core in range(cores):
            for name, buffer in self.network.named_buffers():
                buffer.copy_(before[name])
            logits = self.network(images[core::cores])
            loss = torch.nn.functional.cross_entropy(logits, labels[core::cores], reduction="sum") / len(labels)
            loss.backward()
            total += loss.item()
            for name, buffer in self.network.named_buffers():
                if is_running(name):
                    after[name] += buffer / cores
        for name, buffer in self.network.named_buffers():
            if is_running(name):
                buffer.copy_(after[name])
        self.optimizer.step()
        return total


def largest_difference(ours, theirs):
    """Of a tensor's elements over its largest, or over 1 when that is more; counts must be equal."""
    worst = 0.0
    for name, value in ours.items():
        if value.dtype == torch.int64:
            assert value == theirs[name], f"{name}: {value} and {theirs[name]}"
            continue
        scale = theirs[name].abs().max().item()
        worst = max(worst, (value - theirs[name]).abs().max().item() / max(scale, 1.0))
    return worst


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("executor")
    parser.add_argument("--arch", default="resnet18")
    parser.add_argument("--cores", type=int, default=1, choices=(1, 8))
    parser.add_argument("--steps", type=int, default=20)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_images(folder / "images")
        losses, val_loss = run_ours(asked.executor, folder, 
                                    job(asked.arch, asked.cores, asked.steps, first_weights(asked.arch, folder)))
        train, validation = (read_images(folder / "images", part) for part in ("train", "val"))
        checkpoints = folder / "out" / "checkpoints"
        last = checkpoints / f"step_{asked.steps:06}_attempt_1"

        evaluated = abs(Theirs(asked.executor, asked.arch, last).validate(*validation) - val_loss)
        theirs = Theirs(asked.executor, asked.arch, checkpoints / "step_000001_attempt_1")
        curve = max(abs(theirs.step(*train, asked.cores) - losses[step]) for step in range(2, asked.steps + 1))
        weights = largest_difference(safetensors_file.read(last / "model.safetensors"), theirs.network.state_dict())

    figures = (("validation loss", evaluated, EVALUATION_BOUND), ("training losses", curve, LOSS_BOUND),
               ("weights and statistics", weights, WEIGHT_BOUND))
    print(f"{asked.arch}, {asked.cores} cores, {asked.steps} steps: " +
          ", ".join(f"{what} differ by {found:.1e} (bound {bound:.0e})" for what, found, bound in figures))
    return 0 if all(found <= bound for _, found, bound in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
