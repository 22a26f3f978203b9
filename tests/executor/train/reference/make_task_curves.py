#!/usr/bin/env python3
"""Writes task_curves.json: 20 training losses of torch for the MLP of make_loss_curves.py, with SGD and momentum, for
each loss of the table below.

How it was made: python3 make_task_curves.py (Debian 12, python3-torch 1.13.1, float32, one thread). Weights, images and
classes are those of make_loss_curves.py; labels that are numbers come from the same generator, drawn for each step.
"""
import json
import pathlib

import numpy as np
import torch
import torch.nn.functional as functional

import make_loss_curves as curves

STEPS = 20


def numbers(step):
    drawn = curves.uniform(curves.SEED, curves.SITE_SHUFFLE, 1000 + step, curves.BATCH * curves.CLASSES)
    return drawn.reshape(curves.BATCH, curves.CLASSES)


def smoothed(outputs, classes, step):
    return functional.cross_entropy(outputs, classes, label_smoothing=0.1)


def multilabel(outputs, classes, step):
    return functional.binary_cross_entropy_with_logits(outputs, torch.from_numpy((numbers(step) < 0.3).astype(np.float32)))


def regression(outputs, classes, step):
    return functional.mse_loss(outputs, torch.from_numpy(np.float32(4) * numbers(step) - np.float32(2)))


def curve(loss_of):
    model = curves.mlp()
    curves.initialise(model)
    optimizer = curves.OPTIMIZERS["sgd_momentum"](model.parameters())
    losses = []
    for step, (x, classes) in zip(range(STEPS), curves.batches()):
        optimizer.zero_grad()
        loss = loss_of(model(x), classes, step)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    torch.set_num_threads(1)
    found = {loss_of.__name__: curve(loss_of) for loss_of in (smoothed, multilabel, regression)}
    pathlib.Path(__file__).with_name("task_curves.json").write_text(json.dumps(found, indent=1) + "\n")
