"""Small networks as torch.export writes them, and what torch computes with them in float64.

usage: make_programs.py FOLDER
writes FOLDER/*.pt2, their members deflated, and FOLDER/programs.json. Needs torch 2.9 or newer.
"""

import copy
import io
import json
import pathlib
import sys
import zipfile

import torch
from torch import nn


class Convolutional(nn.Module):
    """Batch norm, a frozen layer, a table that is no part of the state dict, a mask written in place, a tied layer."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(6, momentum=0.2)
        self.frozen = nn.Conv2d(6, 6, 1)
        self.frozen.requires_grad_(False)
        self.encode, self.decode = nn.Linear(8, 8, bias=False), nn.Linear(8, 8)
        self.decode.weight = self.encode.weight
        self.fc = nn.Linear(8, 4)
        self.register_buffer("order", torch.tensor([1, 0, 3, 2, 5, 4]), persistent=False)
        self.register_buffer("scale", torch.linspace(0.5, 1.5, 6))

    def forward(self, x):
        x = torch.relu_(self.bn(self.conv(x)))
        x = self.frozen(x)[:, self.order] * self.scale[:, None, None]
        mask = x.new_zeros(x.shape[-2:])
        mask[1:, :] = 1
        mask[:, -1] += torch.tensor(0.5)
        x = (x * mask).mean(dim=(2, 3))
        x = torch.cat([x, x[:, :2]], dim=1)
        return self.fc(self.decode(torch.tanh(self.encode(x))))


class Dropping(nn.Module):
    """Two dropouts of different rates, stochastic depth, attention with dropout."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Dropout(0.5), nn.Dropout(0.25)
        self.fc = nn.Linear(6, 3)

    def forward(self, x):
        branch = self.first(x)
        if self.training:
            branch = branch * x.new_empty((x.shape[0], 1)).bernoulli_(0.75).div_(0.75)
        x = x + branch
        heads = x.reshape(x.shape[0], 1, 2, 3)
        x = nn.functional.scaled_dot_product_attention(heads, heads, heads, dropout_p=0.1 if self.training else 0.0).flatten(1)
        return self.fc(self.second(x))


class Selecting(nn.Module):
    """An operator whose result has a size that depends on the data."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 3)

    def forward(self, x):
        return self.fc(torch.linalg.qr(x)[0] + torch.special.i0(x) + torch.special.i0(x))


class Points(nn.Module):
    """A table of four columns and two classes, with all that a checkpoint must keep: statistics, a count, a constant, a dropout."""

    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Linear(4, 16), nn.BatchNorm1d(16)
        self.drop, self.last = nn.Dropout(0.2), nn.Linear(16, 2)
        self.register_buffer("order", torch.tensor([3, 2, 1, 0]), persistent=False)

    def forward(self, x):
        return self.last(self.drop(torch.relu_(self.norm(self.first(x[:, self.order])))))


def write(folder, name, module, example, free=True, train=True):
    shapes = ({0: torch.export.Dim.DYNAMIC},) if free else None
    exported = torch.export.export(module.train(train), (example,), dynamic_shapes=shapes)
    stored = io.BytesIO()
    torch.export.save(exported, stored)
    with zipfile.ZipFile(stored) as source, zipfile.ZipFile(folder / f"{name}.pt2", "w", zipfile.ZIP_DEFLATED) as target:
        for member in source.infolist():
            target.writestr(zipfile.ZipInfo(member.filename), source.read(member), zipfile.ZIP_DEFLATED, 9)


def array(tensor):
    return {"dims": list(tensor.shape), "values": [float(f"{one:.9g}") for one in tensor.detach().double().flatten().tolist()]}


def main():
    folder = pathlib.Path(sys.argv[1])
    torch.manual_seed(3)
    expected = {}
    module = Convolutional().train()
    features = torch.randn(4, 3, 5, 6)
    write(folder, "convolutional", module, features)
    double = copy.deepcopy(module).double()
    with torch.no_grad():
        evaluated = copy.deepcopy(double).eval()(features.double())
    trained = double(features.double())
    loss = (trained * torch.cos(torch.arange(16.0, dtype=torch.float64)).reshape(4, 4)).sum()
    loss.backward()
    expected["convolutional"] = {
        "features": array(features), "evaluated": array(evaluated), "trained": array(trained),
        "gradients": {name: array(one.grad) for name, one in double.named_parameters() if one.grad is not None},
        "statistics": {name: array(one) for name, one in double.named_buffers() if "running" in name},
        "state_dict": sorted(module.state_dict())}
    module = Dropping().train()
    features = torch.randn(4, 6)
    write(folder, "dropping", module, features)
    with torch.no_grad():
        expected["dropping"] = {"features": array(features), "evaluated": array(copy.deepcopy(module).double().eval()(features.double()))}
    write(folder, "points", Points(), torch.randn(4, 4))
    write(folder, "evaluating", Points().eval(), torch.randn(4, 4), train=False)
    write(folder, "baked", nn.Sequential(nn.Flatten(), nn.Linear(6, 3)), torch.randn(4, 6), free=False)
    write(folder, "selecting", Selecting(), torch.randn(6, 6))
    (folder / "programs.json").write_text(json.dumps(expected, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
