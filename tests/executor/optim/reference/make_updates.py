#!/usr/bin/env python3
"""Writes updates.json: weights of a small network after 20 steps of torch's optimizers, for each optimizer with each
schedule, and with clipping, parameters without decay, groups, frozen layers and a moving average.

How it was made: python3 make_updates.py (Debian 12, python3-torch 1.13.1 and python3-numpy, computed in float64).
Weights and inputs are made from their names (`numbers` of ../../nn/reference/make_networks.py; its twin is in torch_numbers.cpp). LAMB, which torch has
not, is written here in numpy after You et al. 2020, algorithm 2, with bias correction. Each case carries its settings,
which the C++ test reads. `make_updates.py --check` compares with the file that is there.
"""
import json
import math
import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as functional

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "nn" / "reference"))
from make_networks import tensor  # noqa: E402

STEPS, BATCH, FEATURES, HIDDEN, CLASSES = 20, 8, 6, 5, 3
MATRICES = ["fc1.weight", "fc2.weight"]


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = torch.nn.Linear(FEATURES, HIDDEN)
        self.norm = torch.nn.LayerNorm(HIDDEN)
        self.fc2 = torch.nn.Linear(HIDDEN, CLASSES)
        self.double()
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                parameter.copy_(tensor(name, tuple(parameter.shape)) + (1.0 if name == "norm.weight" else 0.0))

    def forward(self, x):
        return self.fc2(torch.tanh(self.norm(self.fc1(x))))


class Lamb(torch.optim.Optimizer):
    """In numpy; a group with "decays" False is stepped as by Adam."""

    def __init__(self, groups, **defaults):
        super().__init__(groups, {"decays": True, **defaults})
        self.steps = 0

    def step(self):
        self.steps += 1
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                x, g, state = parameter.detach().numpy(), parameter.grad.numpy(), self.state[parameter]
                m = state["m"] = beta1 * state.get("m", 0) + (1 - beta1) * g
                v = state["v"] = beta2 * state.get("v", 0) + (1 - beta2) * g * g
                step = m / (1 - beta1**self.steps) / (np.sqrt(v / (1 - beta2**self.steps)) + group["eps"])
                ratio = 1.0
                if group["decays"]:
                    step = step + group["weight_decay"] * x
                    above, below = np.linalg.norm(x), np.linalg.norm(step)
                    ratio = above / below if above > 0 and below > 0 else 1.0
                parameter.data -= torch.from_numpy(group["lr"] * ratio * step)


ADAM = {"betas": (0.9, 0.98), "eps": 1e-6}
# Rows of optimizers(): the class, its learning rate and its other numbers.
OPTIMIZERS = {
    "sgd": (torch.optim.SGD, 0.2, {"weight_decay": 0.01}),
    "sgd_momentum": (torch.optim.SGD, 0.05, {"momentum": 0.9, "weight_decay": 0.01}),
    "sgd_nesterov": (torch.optim.SGD, 0.05, {"momentum": 0.9, "weight_decay": 0.01, "nesterov": True}),
    "adam": (torch.optim.Adam, 0.02, {"weight_decay": 0.01, **ADAM}),
    "adamw": (torch.optim.AdamW, 0.02, {"weight_decay": 0.1, **ADAM}),
    "lamb": (Lamb, 0.02, {"weight_decay": 0.1, **ADAM}),
}
WARMUP, PERIOD, GAMMA, MIN_LR = 5, 7, 0.5, 0.005


def past_warmup(step):
    return (step - WARMUP) / (STEPS - WARMUP)


def cosine(lr):
    return lambda step: (step + 1) / WARMUP if step < WARMUP else (
        MIN_LR + (lr - MIN_LR) / 2 * (1 + math.cos(math.pi * past_warmup(step)))) / lr


def linear(step):
    return (step + 1) / WARMUP if step < WARMUP else 1 - past_warmup(step)


schedulers = torch.optim.lr_scheduler
SCHEDULES = {
    "constant": lambda optimizer, lr: schedulers.LambdaLR(optimizer, lambda step: 1.0),
    "step": lambda optimizer, lr: schedulers.StepLR(optimizer, PERIOD, GAMMA),
    "cosine": lambda optimizer, lr: schedulers.LambdaLR(optimizer, cosine(lr)),
    "linear": lambda optimizer, lr: schedulers.LambdaLR(optimizer, linear),
    # The largest rate of each group, not one for all.
    "one_cycle": lambda optimizer, lr: schedulers.OneCycleLR(
        optimizer, [group["lr"] for group in optimizer.param_groups], total_steps=STEPS, cycle_momentum=False),
}


def groups_of(network, case, lr):
    """A group of torch for each parameter: whether it decays, and its learning rate."""
    groups = []
    for name, parameter in network.named_parameters():
        if case.get("frozen") and name.startswith(case["frozen"]):
            parameter.requires_grad_(False)
            continue
        group = {"params": [parameter], "lr": lr}
        if case.get("exempt") and parameter.dim() == 1:
            group.update({"decays": False} if case["optimizer"] == "lamb" else {"weight_decay": 0.0})
        if case.get("scaled") and name.startswith(case["scaled"]):
            group["lr"] = lr * case["lr_scale"]
        groups.append(group)
    return groups


def trained(case):
    make, lr, settings = OPTIMIZERS[case["optimizer"]]
    network = Network()
    optimizer = make(groups_of(network, case, lr), **({"lr": lr} | settings))
    scheduler = SCHEDULES[case["schedule"]](optimizer, lr)
    average = None
    if case.get("ema_decay"):
        decay = case["ema_decay"]
        average = torch.optim.swa_utils.AveragedModel(network, avg_fn=lambda mean, x, n: decay * mean + (1 - decay) * x)
        average.update_parameters(network)    # the first time copies
    norms = []
    for step in range(STEPS):
        labels = (torch.arange(BATCH) * 5 + step) % CLASSES
        optimizer.zero_grad()
        functional.cross_entropy(network(tensor(f"x{step}", (BATCH, FEATURES))), labels).backward()
        if case.get("clip_norm"):
            norms.append(float(torch.nn.utils.clip_grad_norm_(network.parameters(), case["clip_norm"])))
        optimizer.step()
        scheduler.step()
        if average:
            average.update_parameters(network)
    flat = lambda module: [round(float(x), 10) for p in module.parameters() for x in p.detach().reshape(-1)]
    result = dict(case, lr=lr, settings={k: v for k, v in settings.items() if k != "nesterov"}, weights=flat(network))
    if average:
        result["averages"] = flat(average.module)
    if norms:
        result["norms"] = [round(norm, 10) for norm in norms]
    return result


def rates(make):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.3)
    scheduler = make(optimizer, 0.3)
    values = []
    for _ in range(STEPS):
        values.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return values


CASES = [{"optimizer": optimizer, "schedule": schedule} for optimizer in OPTIMIZERS for schedule in SCHEDULES]
CASES += [
    {"optimizer": "sgd", "schedule": "constant", "clip_norm": 0.4},
    {"optimizer": "adamw", "schedule": "constant", "clip_norm": 100.0},
    {"optimizer": "adam", "schedule": "constant", "exempt": True},
    {"optimizer": "adamw", "schedule": "constant", "exempt": True},
    {"optimizer": "lamb", "schedule": "constant", "exempt": True},
    {"optimizer": "sgd_momentum", "schedule": "one_cycle", "scaled": "fc2", "lr_scale": 3.0},
    {"optimizer": "adamw", "schedule": "linear", "scaled": "norm", "lr_scale": 0.1},
    {"optimizer": "sgd_momentum", "schedule": "constant", "frozen": "fc1", "clip_norm": 0.4},
    {"optimizer": "adam", "schedule": "constant", "ema_decay": 0.9},
    {"optimizer": "adamw", "schedule": "cosine", "clip_norm": 0.3, "exempt": True, "scaled": "fc2", "lr_scale": 2.0,
     "frozen": "norm", "ema_decay": 0.95},
]
RATES = dict(SCHEDULES)
RATES["cosine without warm-up"] = lambda optimizer, lr: schedulers.CosineAnnealingLR(optimizer, STEPS, MIN_LR)
RATES["linear without warm-up"] = lambda optimizer, lr: schedulers.LinearLR(optimizer, 1.0, 0.0, STEPS)
RATES["one_cycle with other factors"] = lambda optimizer, lr: schedulers.OneCycleLR(
    optimizer, lr, total_steps=STEPS, pct_start=0.45, div_factor=4.0, final_div_factor=50.0, cycle_momentum=False)


def main():
    torch.set_num_threads(1)
    document = {"cases": [trained(case) for case in CASES], "rates": {name: rates(make) for name, make in RATES.items()}}
    target = pathlib.Path(__file__).with_name("updates.json")
    if "--check" in sys.argv[1:]:
        stored = json.loads(target.read_text())
        for case, old in zip(document["cases"], stored["cases"], strict=True):
            assert np.allclose(case["weights"], old["weights"], rtol=0, atol=1e-9), case
        for name, values in document["rates"].items():
            assert np.allclose(values, stored["rates"][name], rtol=1e-12), name
        print("updates.json is fresh")
        return
    lines = ",\n".join(json.dumps(case) for case in document["cases"])
    rates_lines = ",\n".join(f'"{name}": {json.dumps(values)}' for name, values in document["rates"].items())
    target.write_text(f'{{"cases": [\n{lines}\n],\n"rates": {{\n{rates_lines}\n}}}}\n')


if __name__ == "__main__":
    main()
