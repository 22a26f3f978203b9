#!/usr/bin/env python3
"""Writes layer_list.json: of each network in cases.json the names and shapes of its state dict, logits, loss, gradients and
running statistics, from torch modules that are put together as the case declares them.

How it was made: python3 make_layer_list.py (Debian 12, python3-torch 1.13.1, computed in float64). Weights, inputs and what
is kept of each tensor are those of ../../reference/make_networks.py.
"""
import collections
import json
import pathlib
import sys

import torch
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "reference"))

import make_networks as networks  # noqa: E402


class Residual(nn.Module):
    def __init__(self, layers, shortcut):
        super().__init__()
        self.layers, self.shortcut = layers, shortcut

    def forward(self, x):
        return self.layers(x) + self.shortcut(x)


class Add(nn.Module):
    def forward(self, *inputs):
        return sum(inputs[1:], inputs[0])


class Concat(nn.Module):
    def forward(self, *inputs):
        return torch.cat(inputs, 1)


class Columns(nn.Module):
    def __init__(self, places):
        super().__init__()
        self.places = places

    def forward(self, x):
        return x[:, self.places]


class Codes(nn.Embedding):
    def forward(self, x):
        return super().forward(x.long())


class Named(nn.Module):
    """Modules that read earlier ones by name."""

    def __init__(self, layers, modules):
        super().__init__()
        self.inputs = [layer.get("inputs") for layer in layers]
        for name, module in modules.items():
            self.add_module(name, module)

    def forward(self, x):
        results, last = {"input": x}, "input"
        for (name, module), inputs in zip(self.named_children(), self.inputs):
            results[name] = module(*[results[source] for source in inputs or [last]])
            last = name
        return results[last]


def shape_after(module, sample):
    """One sample's shape behind a module, by trying."""
    inputs = [torch.zeros(2, *dims) for dims in sample]
    return tuple(module.eval()(*inputs).shape[1:])


def module_of(layer, sample, columns):
    """The torch module of a layer that reads samples of these shapes, the first one's columns named so."""
    kind, shape = layer["type"], sample[0]
    window = {"kernel_size": layer.get("kernel_size"), "stride": layer.get("stride"), "padding": layer.get("padding", 0)}
    if kind == "linear":
        return nn.Linear(shape[-1], layer.get("out_features", networks.CLASSES), bias=layer.get("bias", True))
    if kind == "conv2d":
        return nn.Conv2d(shape[0], layer["out_channels"], window["kernel_size"], window["stride"] or 1, window["padding"],
                         groups=layer.get("groups", 1), bias=layer.get("bias", True))
    if kind == "batch_norm":
        norm = nn.BatchNorm2d if len(shape) == 3 else nn.BatchNorm1d
        return norm(shape[0], eps=layer.get("eps", 1e-5), momentum=layer.get("momentum", 0.1))
    if kind == "residual":
        shortcut = list_of(layer["shortcut"], sample, columns) if "shortcut" in layer else nn.Identity()
        return Residual(list_of(layer["layers"], sample, columns), shortcut)
    return {
        "layer_norm": lambda: nn.LayerNorm(shape[-1], eps=layer.get("eps", 1e-5)),
        "relu": nn.ReLU,
        "gelu": lambda: nn.GELU(approximate=layer.get("approximate", "none")),
        "tanh": nn.Tanh,
        "sigmoid": nn.Sigmoid,
        "softmax": lambda: nn.Softmax(dim=-1),
        "max_pool": lambda: nn.MaxPool2d(**window),
        "avg_pool": lambda: nn.AvgPool2d(**window),
        "global_avg_pool": lambda: nn.AdaptiveAvgPool2d(1),
        "flatten": nn.Flatten,
        "sequence": lambda: list_of(layer["layers"], sample, columns),
        "columns": lambda: Columns([columns.index(name) for name in layer["columns"]]),
        "embedding": lambda: Codes(layer["num_embeddings"], layer["embedding_dim"], layer.get("padding_idx")),
        "add": Add,
        "concat": Concat,
    }[kind]()


def list_of(layers, sample, columns):
    modules, shapes, last = collections.OrderedDict(), {"input": sample[0]}, "input"
    names = {"input": columns}
    for place, layer in enumerate(layers):
        name = layer.get("name", str(place))
        inputs = layer.get("inputs", [last])
        read = [shapes[source] for source in inputs]
        modules[name] = module_of(layer, read, names.get(inputs[0]))
        names[name] = layer.get("columns")
        shapes[name], last = shape_after(modules[name], read), name
    if any("inputs" in layer for layer in layers):
        return Named(layers, modules)
    return nn.Sequential(modules)


def tie(network, pairs):
    """The name that the network has first stays."""
    order = [name for name, _ in network.named_parameters()]
    for pair in pairs:
        kept, other = sorted(pair, key=order.index)
        home, _, own = other.rpartition(".")
        setattr(network.get_submodule(home), own, network.get_parameter(kept))


def network_of(case):
    network = list_of(case["layers"], [tuple(case["sample"])], case.get("columns"))
    tie(network, case.get("tie", []))
    return network


def row_of(case):
    def make():
        dims = (networks.BATCH, *case["sample"])
        codes = "codes" in case
        features = networks.integers("features", dims, 0, case["codes"]).double() if codes else networks.tensor("features", dims)
        return network_of(case), features, networks.classified

    names = {name: list(value.shape) for name, value in network_of(case).state_dict().items()}
    return {"names": names} | networks.tiny_case(make)


def main():
    cases = json.loads((HERE / "cases.json").read_text())
    rows = [f' "{name}": ' + json.dumps(row_of(case)) for name, case in cases.items()]
    (HERE / "layer_list.json").write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
