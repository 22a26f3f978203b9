#!/usr/bin/env python3
"""Writes loss_curves.json: 50 training losses of torch for each (model, optimizer) of the table below.

How it was made: python3 make_loss_curves.py (Debian 12, python3-torch 1.13.1, float32, one thread).
Weights and batches come from the same counter-based generator as ours (Philox-4x32-10), written here a second
time in numpy, so both sides start from the same bits without a file of weights. Sample i of class c is
2 * (prototype[c] + noise[i]) - 2; step k trains on samples k*32 ... k*32+31.

Learning rates are chosen so that float32 can tell: with lr 0.001 and eps 1e-8 torch's own float32 curve of LeNet inputs
its float64 curve by 1.4e-3 within 50 steps (Adam divides by the square root of tiny squares); with the two settings of
Adam below it stays within 3e-7.
"""
import json
import math
import pathlib
import sys

import numpy as np
import torch

SITE_INIT, SITE_SHUFFLE, SITE_AUGMENT = 1, 2, 6
STEPS, BATCH, CLASSES, SIDE, SEED = 50, 32, 10, 16, 7


def philox(counter, key):
    """Ten rounds over uint64 arrays of shape [n, 4]; key is two numbers."""
    c0, c1, c2, c3 = (counter[:, i].astype(np.uint64) for i in range(4))
    k0, k1 = key
    low = np.uint64(0xFFFFFFFF)
    shift = np.uint64(32)
    for _ in range(10):
        p0 = np.uint64(0xD2511F53) * c0
        p1 = np.uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = (p1 >> shift) ^ c1 ^ np.uint64(k0), p1 & low, (p0 >> shift) ^ c3 ^ np.uint64(k1), p0 & low
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack([c0, c1, c2, c3], axis=1)


def uniform(seed, site, index, count):
    blocks = (count + 3) // 4
    counter = np.zeros((blocks, 4), np.uint64)
    counter[:, 0] = np.arange(blocks)
    counter[:, 1] = index & 0xFFFFFFFF
    counter[:, 2] = index >> 32
    counter[:, 3] = site
    numbers = philox(counter, (seed & 0xFFFFFFFF, seed >> 32)).reshape(-1)[:count]
    return ((numbers >> np.uint64(8)).astype(np.float64) * 2.0**-24).astype(np.float32)


def initialise(model):
    for call, parameter in enumerate(model.parameters()):
        fan_in = parameter.fan_in
        u = uniform(SEED, SITE_INIT, call, parameter.numel()).astype(np.float64)
        values = ((2.0 * u - 1.0) * (1.0 / math.sqrt(fan_in))).astype(np.float32)
        parameter.data = torch.from_numpy(values.reshape(parameter.shape))


class Flat(torch.nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = torch.nn.Sequential(*layers)
        for layer in self.layers:
            if hasattr(layer, "weight"):
                fan_in = layer.weight[0].numel()
                layer.weight.fan_in = layer.bias.fan_in = fan_in

    def forward(self, x):
        return self.layers(x)


def mlp():
    nn = torch.nn
    return Flat([nn.Flatten(), nn.Linear(SIDE * SIDE, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, CLASSES)])


def lenet():
    nn = torch.nn
    return Flat([nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(),
                 nn.MaxPool2d(2), nn.Flatten(), nn.Linear(16 * 2 * 2, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
                 nn.Linear(84, CLASSES)])


OPTIMIZERS = {
    "sgd_momentum": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=1e-4),
    "sgd_nesterov": lambda p: torch.optim.SGD(p, lr=0.02, momentum=0.9, nesterov=True),
    "adam": lambda p: torch.optim.Adam(p, lr=0.0005, betas=(0.9, 0.999), eps=1e-8),
    "adam_eps": lambda p: torch.optim.Adam(p, lr=0.001, betas=(0.9, 0.999), eps=1e-5),
}


def batches():
    pixels = SIDE * SIDE
    prototypes = uniform(SEED, SITE_SHUFFLE, 0, CLASSES * pixels).reshape(CLASSES, pixels)
    for step in range(STEPS):
        noise = uniform(SEED, SITE_AUGMENT, step, BATCH * pixels).reshape(BATCH, pixels)
        labels = (np.arange(BATCH) + step) % CLASSES
        x = np.float32(2) * (prototypes[labels] + noise) - np.float32(2)
        yield torch.from_numpy(x.reshape(BATCH, 1, SIDE, SIDE)), torch.from_numpy(labels)


def curve(make_model, make_optimizer):
    model = make_model()
    initialise(model)
    optimizer = make_optimizer(model.parameters())
    losses = []
    for x, labels in batches():
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def main():
    torch.set_num_threads(1)
    check = "--check" in sys.argv[1:]
    curves = {f"{model.__name__}/{name}": curve(model, make) for model in (mlp, lenet) for name, make in OPTIMIZERS.items()}
    target = pathlib.Path(__file__).with_name("loss_curves.json")
    if check:
        stored = json.loads(target.read_text())
        assert stored.keys() == curves.keys(), "the stored curves are of other models"
        for name, losses in curves.items():
            # 1e-5: another CPU's kernels may sum in another order.
            assert np.allclose(stored[name], losses, rtol=1e-5), f"{name} is stale"
        print("the stored curves are fresh")
        return
    target.write_text(json.dumps(curves, indent=1) + "\n")


if __name__ == "__main__":
    main()
