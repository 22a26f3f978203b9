#!/usr/bin/env python3
"""Writes networks.json: names and shapes of full networks, logits of the full residual ones in evaluation, and logits,
loss, gradients and running statistics of tiny ones, from the torch networks of bench/torch_networks.py (named as torchvision, timm and Hugging Face name theirs).

How it was made: python3 make_networks.py (Debian 12, python3-torch 1.13.1, computed in float64).
Weights and inputs are made from their names (`numbers` below; its twin is in test_networks.cpp), so no file of weights
is needed. Of each gradient three numbers are kept: its sum weighted by numbers of its own, which any wrong element
moves, and the sums of its absolute values and of the first eight elements.
"""
import json
import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as functional

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[3] / "bench"))

import torch_networks as networks  # noqa: E402

BATCH, SEQUENCE, PREDICTIONS, VOCABULARY, CLASSES = 4, 8, 3, 50, 10


def numbers(name, count):
    """`count` numbers in [-1, 1), multiples of 2^-23: a hash of the name (FNV-1a) and the position (murmur3's end)."""
    start = 2166136261
    for letter in name.encode():
        start = ((start ^ letter) * 16777619) & 0xFFFFFFFF
    x = (np.arange(count, dtype=np.uint32) * np.uint32(2654435761)) ^ np.uint32(start)
    x ^= x >> np.uint32(16)
    x *= np.uint32(0x85EBCA6B)
    x ^= x >> np.uint32(13)
    x *= np.uint32(0xC2B2AE35)
    x ^= x >> np.uint32(16)
    return (x >> np.uint32(8)).astype(np.float64) * 2.0**-23 - 1.0


def tensor(name, shape):
    return torch.from_numpy(numbers(name, int(np.prod(shape))).reshape(shape))


def integers(name, shape, first, end):
    return (first + torch.floor((tensor(name, shape) + 1) / 2 * (end - first))).long()


def set_weights(network):
    """Matrices of unit gain, norms near 1, biases near 0; rounded to float32, as ours are."""
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            values = tensor(name, tuple(parameter.shape))
            if parameter.dim() > 1:
                values *= float(np.float32(np.sqrt(3.0 * parameter.shape[0] / parameter.numel())))
            else:
                values = values * 0.125 + (1.0 if is_norm_scale(name) else 0.0)
            parameter.copy_(values.float().double())


def is_norm_scale(name):
    return name.endswith(".weight")


def sums(name, values):
    flat = values.detach().reshape(-1)
    weights = torch.from_numpy(numbers("weights of " + name, flat.numel()))
    return [float((flat * weights).sum()), float(flat.abs().sum()), float(flat[:8].sum())]


def classified(logits):
    return functional.cross_entropy(logits, integers("labels", (BATCH,), 0, CLASSES))


def yes_or_no(logits):
    return functional.binary_cross_entropy_with_logits(logits, integers("targets", (BATCH, CLASSES), 0, 2).double())


def images(size):
    return tensor("images", (BATCH, 3, size, size))


def predicted(logits):
    """The masked-language-model loss, at every third position."""
    labels = torch.full((BATCH, SEQUENCE), -100)
    labels[:, ::3] = integers("labels", (BATCH, PREDICTIONS), 0, VOCABULARY)
    return functional.cross_entropy(logits.view(-1, VOCABULARY), labels.view(-1))


def next_token(logits):
    labels = integers("labels", (BATCH, SEQUENCE), 0, VOCABULARY)
    return functional.cross_entropy(logits.view(-1, VOCABULARY), labels.view(-1))


def tokens():
    return integers("tokens", (BATCH, SEQUENCE), 1, VOCABULARY)


def padded_tokens():
    """Every other row is one token short."""
    rows = tokens()
    rows[1::2, -1] = 0
    return rows

#name->(network, input, loss of its output)
TINY = {
    "mlp": lambda: (networks.Mlp([12, 8, 6, CLASSES]), tensor("images", (BATCH, 12)), classified),
    "cnn": lambda: (networks.Cnn(3, 8, CLASSES), images(8), classified),
    "resnet": lambda: (networks.ResNet([1, 2, 1, 1], CLASSES, 4), images(64), yes_or_no),
    "bottleneck": lambda: (networks.ResNet([1, 2, 1, 1], CLASSES, 4, networks.Bottleneck), images(64), yes_or_no),
    "mixer": lambda: (networks.Mixer(16, 4, 2, 12, 10, 20, CLASSES), images(16), classified),
    "vit": lambda: (networks.Vit(16, 4, 2, 12, 3, CLASSES), images(16), classified),
    "bert": lambda: (networks.Bert(2, 12, 3, VOCABULARY, 24, 16, 0.0), tokens(), predicted),
    "bert_padded": lambda: (networks.Bert(2, 12, 3, VOCABULARY, 24, 16, 0.0, padding=0), padded_tokens(), predicted),
    "gpt2": lambda: (networks.Gpt2(2, 12, 3, VOCABULARY, 16), tokens(), next_token),
}

FULL = {
    "resnet18": lambda: networks.ResNet([2, 2, 2, 2], CLASSES),
    "resnet34": lambda: networks.ResNet([3, 4, 6, 3], CLASSES),
    "resnet50": lambda: networks.ResNet([3, 4, 6, 3], CLASSES, block=networks.Bottleneck),
    "vit_tiny": lambda: networks.Vit(64, 16, 12, 192, 3, CLASSES),
    "vit_small": lambda: networks.Vit(64, 16, 12, 384, 6, CLASSES),
    "vit_base": lambda: networks.Vit(64, 16, 12, 768, 12, CLASSES),
    "mixer_s16": lambda: networks.Mixer(64, 16, 8, 512, 256, 2048, CLASSES),
    "mixer_b16": lambda: networks.Mixer(64, 16, 12, 768, 384, 3072, CLASSES),
    "bert_base": lambda: networks.Bert(12, 768, 12, 30522, 3072),
    "gpt2_124m": lambda: networks.Gpt2(12, 768, 12, 50257),
}


def evaluated_logits(make):
    """Four images of 128 x 128, by running statistics that are made from their names, too: [[…], …]."""
    network = make().double().eval()
    set_weights(network)
    with torch.no_grad():
        for name, buffer in network.named_buffers():
            if name.endswith("running_mean"):
                buffer.copy_((tensor(name, tuple(buffer.shape)) * 0.125).float().double())
            if name.endswith("running_var"):
                buffer.copy_((tensor(name, tuple(buffer.shape)) * 0.25 + 1.0).float().double())
        return network(tensor("images", (BATCH, 3, 128, 128))).tolist()


LANGUAGE = {
    "bert_small": lambda: networks.Bert(4, 512, 8, 1000, 2048, padding=0),
    "gpt_small": lambda: networks.Gpt2(6, 384, 6, 256, 256),
}


def language_logits(make):
    """Two rows of 32 tokens, the second with 8 of padding; every 37th logit of the others."""
    network = make().double().eval()
    set_weights(network)
    vocabulary = next(network.parameters()).shape[0]
    tokens = integers("tokens", (2, 32), 1, vocabulary)
    tokens[1, 24:] = 0
    with torch.no_grad():
        logits = network(tokens)
    return torch.cat((logits[0], logits[1, :24]))[:, ::37].tolist()


def tiny_case(make):
    network, x, loss_of = make()
    network.double().train()
    set_weights(network)
    logits = network(x)
    loss = loss_of(logits)
    loss.backward()
    case = {"logits": sums("logits", logits), "loss": loss.item(),
            "gradients": {name: sums(name, p.grad) for name, p in network.named_parameters()}}
    statistics = {name: sums(name, b) for name, b in network.named_buffers() if "running" in name}
    return case | ({
    "statistics" : statistics} if statistics else {})


def main():
    names = {name: {p: list(value.shape) for p, value in make().state_dict().items()} for name, make in FULL.items()}
    logits = {name: evaluated_logits(FULL[name]) for name in ("resnet18", "resnet50")}
    logits |= {name: language_logits(make) for name, make in LANGUAGE.items()}
    cases = {name: tiny_case(make) for name, make in TINY.items()}
    lines = [f' "{kind}": {{\n' + ",\n".join(
        f'  "{name}": ' + json.dumps(rows) for name, rows in table.items()) + "\n }"
        for kind, table in (("full", names), ("logits", logits), ("tiny", cases))]
    (HERE / "networks.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
