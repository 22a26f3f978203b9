#!/usr/bin/env python3
"""One training step of a workload in PyTorch, as `slipway-executor bench` measures ours: forward, backward, update, on
fixed random input. Prints one line of JSON.

usage: bench/torch_workloads.py WORKLOAD [--precision f32|bf16] [--threads N] [--repeats R] [--batch B]
       [--optimizer adamw|sgd|sgd_momentum]
bf16 is torch.autocast: weights and optimizer state stay float32, as ours do.
"""
import argparse
import json
import resource
import statistics
import time

import torch
import torch.nn.functional as functional

import torch_networks as networks

CLASSES = 10
BERT_SEQUENCE, BERT_PREDICTIONS = 128, 20


def require_fast_products():
    """Debian's PyTorch takes whatever BLAS there is; the reference one is thirty times slower, on one thread."""
    with open("/proc/self/maps") as maps:
        loaded = maps.read()
        if "openblas" not in loaded and "mkl" not in loaded:
            raise SystemExit("PyTorch multiplies matrices by a slow library here: apt-get install libopenblas0-openmp")


def labels_of(batch):
    return torch.randint(CLASSES, (batch,))


def mlp128(batch):
    x, y = torch.randn(batch, 784), labels_of(batch)
    return networks.Mlp([784, 512, 256, CLASSES]), x, lambda logits: functional.cross_entropy(logits, y)


def cnn128(batch):
    x, y = torch.randn(batch, 1, 28, 28), labels_of(batch)
    return networks.Cnn(), x, lambda logits: functional.cross_entropy(logits, y)


def resnet34_32(batch):
    x, y = torch.randn(batch, 3, 128, 128), torch.randint(2, (batch, CLASSES)).float()
    network = networks.ResNet([3, 4, 6, 3], CLASSES)
    return network, x, lambda logits: functional.binary_cross_entropy_with_logits(logits, y)


def resnet18_64(batch):
    x, y = torch.randn(batch, 3, 64, 64), labels_of(batch)
    return networks.ResNet([2, 2, 2, 2], CLASSES), x, lambda logits: functional.cross_entropy(logits, y)


def mixer_32(batch):
    x, y = torch.randn(batch, 3, 128, 128), labels_of(batch)
    network = networks.Mixer(128, 16, 8, 512, 256, 2048, CLASSES)
    return network, x, lambda logits: functional.cross_entropy(logits, y)


def bert(batch, vocabulary, **options):
    tokens = torch.randint(1, vocabulary, (batch, BERT_SEQUENCE))
    labels = torch.full((batch, BERT_SEQUENCE), -100)
    for row in labels:
        places = torch.randperm(BERT_SEQUENCE)[:BERT_PREDICTIONS]
        row[places] = torch.randint(1, vocabulary, (BERT_PREDICTIONS,))
    network = networks.Bert(vocabulary=vocabulary, **options)
    return network, tokens, lambda logits: functional.cross_entropy(logits.view(-1, vocabulary), labels.view(-1))


def bert_small(batch):
    return bert(batch, 8192, layers=4, hidden=256, heads=4, intermediate=1024)


def bert_base(batch):
    return bert(batch, 30522, layers=12, hidden=768, heads=12, intermediate=3072)


def gpt2(batch, sequence, vocabulary, **options):
    tokens = torch.randint(vocabulary, (batch, sequence))
    labels = torch.randint(vocabulary, (batch, sequence))
    network = networks.Gpt2(vocabulary=vocabulary, **options)
    return network, tokens, lambda logits: functional.cross_entropy(logits.view(-1, vocabulary), labels.view(-1))


def gpt_small(batch):
    return gpt2(batch, 256, 256, layers=6, hidden=384, heads=6, positions=256)


def gpt2_124m(batch):
    return gpt2(batch, 64, 50257, layers=12, hidden=768, heads=12)


# name -> (batch, maker of network, input and loss)
WORKLOADS = {"mlp128": (128, mlp128), "cnn128": (128, cnn128), "resnet34_32": (32, resnet34_32),
             "resnet18_64": (64, resnet18_64), "mixer_32": (32, mixer_32), "bert_small": (32, bert_small),
             "bert_base": (8, bert_base), "gpt_small": (16, gpt_small), "gpt2_124m": (4, gpt2_124m)}


OPTIMIZERS = {"adamw": lambda parameters: torch.optim.AdamW(parameters, lr=1e-4, weight_decay=0.01),
              "sgd": lambda parameters: torch.optim.SGD(parameters, lr=1e-4, weight_decay=0.01),
              "sgd_momentum": lambda parameters: torch.optim.SGD(parameters, lr=1e-4, momentum=0.9, weight_decay=0.01)}


def measure(arguments):
    require_fast_products()
    torch.manual_seed(1)
    torch.set_num_threads(arguments.threads)
    own_batch, make = WORKLOADS[arguments.workload]
    batch = arguments.batch or own_batch
    network, x, loss_of = make(batch)
    if x.dim() == 4:
        network, x = (part.to(memory_format=torch.channels_last) for part in (network, x))
    optimizer = OPTIMIZERS[arguments.optimizer](network.parameters())
    times = []
    for step in range(3 + arguments.repeats):
        if step == 3:
            before = resource.getrusage(resource.RUSAGE_SELF)
        begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=arguments.precision == "bf16"):
            logits = network(x)
        loss = loss_of(logits.float())
        loss.backward()
        optimizer.step()
        times.append((time.perf_counter() - begin) * 1e3)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    times = times[3:]
    return {"workload": arguments.workload, "precision": arguments.precision, "threads": arguments.threads,
            "batch": batch, "optimizer": arguments.optimizer, "repeats": arguments.repeats, "median_ms": round(statistics.median(times), 3),
            "min_ms": round(min(times), 3), "items_per_s": round(batch / statistics.median(times) * 1e3, 3),
            "resident_peak_bytes": usage.ru_maxrss * 1024,
            "faults_per_step": round((usage.ru_minflt - before.ru_minflt) / arguments.repeats, 3),
            "cpu_ms": round((usage.ru_utime + usage.ru_stime - before.ru_utime - before.ru_stime)
                            / arguments.repeats * 1e3, 3), "loss": loss.item()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workload", choices=WORKLOADS)
    parser.add_argument("--precision", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--batch", type=int, default=0)
    parser.add_argument("--optimizer", choices=OPTIMIZERS, default="adamw")
    print(json.dumps(measure(parser.parse_args())), flush=True)


if __name__ == "__main__":
    main()
