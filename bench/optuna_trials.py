#!/usr/bin/env python3
"""The other side of sweep_overhead.py: one process that trains LeNet in PyTorch on digits, on one thread, for trials of a study.

usage: bench/optuna_trials.py calibrate --digits FOLDER --steps N
           prints the CPU seconds of N steps after a warm-up
       bench/optuna_trials.py work --digits FOLDER --steps N --journal FILE --trials N --seed N
           takes trials of the study in the journal until it has N; prints when the first began and the last ended
       bench/optuna_trials.py one --digits FOLDER --steps N --lr LR
           trains once and prints the validation loss
The study and its workers share a journal file, as Optuna's documentation says of several processes.
"""
import argparse
import json
import pathlib
import struct
import time

import torch
import torch.nn.functional as functional
from torch import nn


def read_idx(folder, name):
    content = next(pathlib.Path(folder).glob(f"*-{name}-ubyte")).read_bytes()
    dims = struct.unpack(f">{content[3]}I", content[4:4 + 4 * content[3]])
    return torch.frombuffer(bytearray(content[4 + 4 * content[3]:]), dtype=torch.uint8).view(*dims)


def read_digits(folder):
    """Training and validation parts: four fifths and a fifth."""
    images = read_idx(folder, "images-idx3").unsqueeze(1).float() / 255
    images = (images - images.mean()) / images.std()
    labels = read_idx(folder, "labels-idx1").long()
    cut = len(labels) * 4 // 5
    return (images[:cut], labels[:cut]), (images[cut:], labels[cut:])


def lenet():
    return nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))


def train(data, steps, lr, batch=32):
    """The validation loss after so many steps; every epoch is validated, as ours is."""
    (images, labels), (val_images, val_labels) = data
    network = lenet()
    optimizer = torch.optim.SGD(network.parameters(), lr=lr, momentum=0.9)
    done = 0
    while done < steps:
        order = torch.randperm(len(labels))
        for begin in range(0, len(labels) - batch + 1, batch):
            if done == steps:
                break
            rows = order[begin:begin + batch]
            optimizer.zero_grad(set_to_none=True)
            functional.cross_entropy(network(images[rows]), labels[rows]).backward()
            optimizer.step()
            done += 1
        with torch.no_grad():
            loss = functional.cross_entropy(network(val_images), val_labels).item()
    return loss


def calibrate(data, arguments):
    train(data, 20, 0.01)
    before = time.process_time()
    train(data, arguments.steps, 0.01)
    return {"cpu_s": time.process_time() - before}


def work(data, arguments):
    import optuna
    import warnings
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore")
    study = optuna.create_study(storage=optuna.storages.JournalStorage(optuna.storages.JournalFileStorage(arguments.journal)),
                                study_name="digits", sampler=optuna.samplers.RandomSampler(seed=arguments.seed), load_if_exists=True)
    study.optimize(lambda trial: train(data, arguments.steps, trial.suggest_float("lr", 0.005, 0.05, log=True)),
                   callbacks=[optuna.study.MaxTrialsCallback(arguments.trials)])
    trials = [one for one in study.get_trials() if one.datetime_complete]
    return {"trials": len(trials), "s": (max(one.datetime_complete for one in trials)
                                         - min(one.datetime_start for one in trials)).total_seconds()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("act", choices=["calibrate", "work", "one"])
    parser.add_argument("--digits", required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--journal")
    parser.add_argument("--trials", type=int)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--lr", type=float)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    data = read_digits(arguments.digits)
    acts = {"calibrate": calibrate, "work": work, "one": lambda data, given: {"val_loss": train(data, given.steps, given.lr)}}
    print(json.dumps(acts[arguments.act](data, arguments)), flush=True)


if __name__ == "__main__":
    main()
