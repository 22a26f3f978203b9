#!/usr/bin/env python3
"""layer-list models (model.arch layers) go to torch and back: the weights of a trained job, exported, are loaded with
strict=True by modules that are put together from the same job file, and torch's weights begin a job of ours.

usage: compare_declared.py EXECUTOR

Needs torch, numpy and PIL (Debian 12: python3-torch, python3-pil). Of each network are compared
- the validation loss of the exported weights in torch with the one that the job reported, f32 and within bf16's rounding;
- the training loss of a first step from torch's own drawn weights, given by model.init.from;
- the losses of the steps after it, which torch takes by itself.
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "nn/layer_list/reference")]

import compare_torchvision as images  # noqa: E402
import make_layer_list  # noqa: E402
import make_networks  # noqa: E402
import safetensors_file  # noqa: E402

STEPS, RATE, ROWS, VALIDATION_ROWS, COLUMNS = 20, 0.01, 32, 12, 6
# f32 on both sides, sums in other orders; bf16 keeps 8 bits of each weight.
LOSS_BOUND, CURVE_BOUND, ROUNDED_BOUND = 1e-5, 1e-4, 0.05

NETWORKS = {
    "images": {"layers": [
        {"type": "sequence", "name": "stem", "layers": [
            {"type": "conv2d", "name": "conv", "out_channels": 8, "kernel_size": 3, "stride": 2, "padding": 1, "bias": False},
            {"type": "batch_norm", "name": "bn"},
            {"type": "relu"}]},
        {"type": "residual", "name": "down",
         "layers": [{"type": "conv2d", "out_channels": 16, "kernel_size": 3, "stride": 2, "padding": 1},
                    {"type": "batch_norm"}, {"type": "gelu"}],
         "shortcut": [{"type": "conv2d", "out_channels": 16, "kernel_size": 1, "stride": 2, "bias": False}]},
        {"type": "global_avg_pool"}, {"type": "flatten"}, {"type": "linear", "name": "head"}]},
    "table": {"layers": [
        {"type": "linear", "name": "left", "out_features": 16},
        {"type": "relu", "name": "left_relu"},
        {"type": "linear", "name": "right", "inputs": ["input"], "out_features": 16, "bias": False},
        {"type": "tanh"},
        {"type": "add", "name": "both", "inputs": ["left_relu", "3"]},
        {"type": "concat", "inputs": ["both", "input"]},
        {"type": "layer_norm"},
        {"type": "linear", "name": "head"}],
        "tie": [["left.weight", "right.weight"]]},
}


def network_of(model, sample):
    """torch's modules, as the job file declares them."""
    make_networks.CLASSES = 2
    return make_layer_list.network_of({**model, "sample": sample})


class Images:
    format, sample = "image_folder", (3, images.SIDE, images.SIDE)
    data = {"normalize": {"mean": images.MEAN, "std": images.DEVIATION}}
    options = {}
    write = staticmethod(images.write_images)
    read = staticmethod(images.read_images)


class Table:
    format, sample = "csv", (COLUMNS,)
    data = {"normalize": {"mean": 0, "std": 1}}    # or each column is brought to mean 0 and deviation 1
    options = {"label_column": "label"}

    @staticmethod
    def write(folder):
        random = np.random.default_rng(3)
        folder.mkdir()
        for part, count in (("train", ROWS), ("val", VALIDATION_ROWS)):
            rows = [",".join([*(f"x{column}" for column in range(COLUMNS)), "label"])]
            for number in range(count):
                rows.append(",".join(f"{value:.4f}" for value in random.normal(number % 2, 1, COLUMNS)) + f",c{number % 2}")
            (folder / f"{part}.csv").write_text("\n".join(rows) + "\n")

    @staticmethod
    def read(folder, part):
        rows = list(csv.reader((folder / f"{part}.csv").open()))[1:]
        return (torch.tensor([[float(value) for value in row[:-1]] for row in rows]),
                torch.tensor([int(row[-1][1:]) for row in rows]))


def run_ours(executor, folder, name, kind, model):
    """Trains; the folder of the last checkpoint, training losses by step, the last validation loss."""
    spec = {"model": {"arch": "layers", **model}, "task": {"type": "classification"},
            "data": {"dataset": "data", "split": {"train": "train", "val": "val"}, **kind.data},
            "train": {"steps": STEPS, "batch_size_per_core": ROWS, "shuffle": False,
                      "optimizer": {"name": "sgd", "lr": RATE, "momentum": 0.9}},
            "monitor": {"log_every_steps": 1}}
    (folder / f"{name}.json").write_text(json.dumps(spec))
    out = folder / name
    subprocess.run([executor, "run", folder / f"{name}.json", "--data", folder / "data", "--format", kind.format,
                    "--options", json.dumps(kind.options), "--out", out], check=True, stdout=subprocess.DEVNULL)
    rows = list(csv.DictReader((out / "metrics.csv").open()))
    return (out / "checkpoints" / f"step_{STEPS:06}_attempt_1",
            [float(row["train_loss"]) for row in rows if row["train_loss"]],
            [float(row["val_loss"]) for row in rows if row["val_loss"]][-1])


def exported(executor, checkpoint, dtype):
    file = checkpoint.parent.parent / f"weights_{dtype}.safetensors"
    subprocess.run([executor, "export", checkpoint, "--out", file, "--dtype", dtype], check=True)
    return safetensors_file.read(file)


def validation_loss(network, features, labels):
    network.eval()
    with torch.no_grad():
        return torch.nn.functional.cross_entropy(network(features), labels).item()


def curve(network, features, labels):
    network.train()
    optimizer = torch.optim.SGD(network.parameters(), RATE, 0.9)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(network(features), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def compare(executor, name, kind, folder):
    kind.write(folder / "data")
    train, validation = (kind.read(folder / "data", part) for part in ("train", "val"))
    model = NETWORKS[name]
    checkpoint, _, reported = run_ours(executor, folder, "there", kind, model)
    differences = {}
    for dtype in ("f32", "bf16"):
        network = network_of(model, kind.sample)
        network.load_state_dict(exported(executor, checkpoint, dtype), strict=True)
        differences[dtype] = abs(validation_loss(network, *validation) - reported)

    torch.manual_seed(7)
    network = network_of(model, kind.sample)
    safetensors_file.write(folder / "torch.safetensors", network.state_dict())
    _, losses, _ = run_ours(executor, folder, "back", kind, {**model, "init": {"from": str(folder / "torch.safetensors")}})
    theirs = curve(network, *train)
    first = abs(theirs[0] - losses[0])
    after = max(abs(a - b) for a, b in zip(theirs, losses, strict=True))
    figures = (("exported weights' validation loss", differences["f32"], LOSS_BOUND),
               ("in bf16", differences["bf16"], ROUNDED_BOUND),
               ("first loss from torch's weights", first, LOSS_BOUND), ("losses", after, CURVE_BOUND))
    print(f"declared {name}: " + ", ".join(f"{what} differ by {found:.1e} (bound {bound:.0e})"
                                           for what, found, bound in figures))
    return all(found <= bound for _, found, bound in figures)


def main():
    good = True
    for name, kind in (("images", Images), ("table", Table)):
        with tempfile.TemporaryDirectory() as folder:
            good &= compare(sys.argv[1], name, kind, pathlib.Path(folder))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
