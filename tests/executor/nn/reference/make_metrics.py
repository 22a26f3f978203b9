#!/usr/bin/env python3
"""Writes metrics.json: losses and metrics of small batches, from torch in float64 where torch has them, else from their
definition in numpy: areas under curves are counted pair by pair, and a tie is half a pair.

How it was made: python3 make_metrics.py (Debian 12, python3-torch 1.13.1). Inputs are quarters: exact in float32, and
full of ties.
"""
import json
import pathlib

import numpy as np
import torch
import torch.nn.functional as functional

HERE = pathlib.Path(__file__).resolve().parent
SAMPLES, CLASSES, LABELS = 40, 7, 4
SMOOTHING = 0.1
OWN_SHARE = 0.25


def quarters(random, *shape):
    return np.round(random.normal(0, 1.5, shape) * 4) / 4


def classification(random):
    logits, labels = quarters(random, SAMPLES, CLASSES), random.integers(0, CLASSES, SAMPLES)
    x, y = torch.tensor(logits), torch.tensor(labels)
    own = logits[np.arange(SAMPLES), labels]
    before = np.arange(CLASSES)[None, :] < labels[:, None]
    rank = ((logits > own[:, None]) | ((logits == own[:, None]) & before)).sum(axis=1)
    confusion = np.zeros((CLASSES, CLASSES), int)
    np.add.at(confusion, (labels, logits.argmax(axis=1)), 1)
    return {"logits": logits.ravel().tolist(), "labels": labels.tolist(),
            "smoothed_loss": functional.cross_entropy(x, y, label_smoothing=SMOOTHING).item(),
            "loss": functional.cross_entropy(x, y).item(), "mixed": mixed(logits, labels),
            "top": {str(k): int((rank < k).sum()) for k in (1, 2, 5, 7)}, "confusion": confusion.ravel().tolist()}


def mixed(logits, labels):
    """Labels as torchvision's MixUp makes them of the batch and of itself, one on."""
    own = functional.one_hot(torch.tensor(labels), CLASSES).double()
    shares = OWN_SHARE * own + (1 - OWN_SHARE) * own.roll(1, 0)
    x = torch.tensor(logits, requires_grad=True)
    smoothed = functional.cross_entropy(x, shares, label_smoothing=SMOOTHING)
    smoothed.backward()
    return {"own_share": OWN_SHARE, "shares": shares.ravel().tolist(), "loss": functional.cross_entropy(x, shares).item(),
            "smoothed_loss": smoothed.item(), "smoothed_gradient": x.grad.ravel().tolist()}


def area(scores, there):
    pairs = scores[there][:, None] - scores[~there][None, :]
    return float(((pairs > 0) + 0.5 * (pairs == 0)).mean()) if pairs.size else None


def multilabel(random):
    logits = quarters(random, SAMPLES, LABELS)
    targets = (random.random((SAMPLES, LABELS)) < 0.3).astype(float)
    targets[:, 2] = random.choice([0, 0.25, 0.5, 0.75, 1], SAMPLES)    # shares
    targets[:, 3] = 0                                                  # a label that nobody has
    there = targets >= 0.5
    return {"logits": logits.ravel().tolist(), "targets": targets.ravel().tolist(),
            "loss": functional.binary_cross_entropy_with_logits(torch.tensor(logits), torch.tensor(targets)).item(),
            "accuracy": float(((logits >= 0) == there).mean()),
            "auc": [area(logits[:, label], there[:, label]) for label in range(LABELS)]}


def regression(random):
    targets = quarters(random, SAMPLES, LABELS) + 1000 * np.arange(LABELS)    # far from zero
    targets[:, 3] = 7                                                         # nothing to explain
    outputs = targets + quarters(random, SAMPLES, LABELS) / 2
    squares = ((outputs - targets) ** 2).sum(axis=0)
    total = ((targets - targets.mean(axis=0)) ** 2).sum(axis=0)
    x, y = torch.tensor(outputs), torch.tensor(targets)
    return {"outputs": outputs.ravel().tolist(), "targets": targets.ravel().tolist(),
            "loss": functional.mse_loss(x, y).item(), "mae": functional.l1_loss(x, y).item(),
            "squares": squares.tolist(), "r2": [1 - s / t if t > 0 else None for s, t in zip(squares, total)]}


def main():
    random = np.random.default_rng(20221122)
    found = {"samples": SAMPLES, "classes": CLASSES, "label_count": LABELS, "smoothing": SMOOTHING,
             "classification": classification(random), "multilabel": multilabel(random),
             "regression": regression(random)}
    (HERE / "metrics.json").write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
