#!/usr/bin/env python3
"""What eight virtual cores cost: one training as a job of one core and as one of eight, on the same threads, in turns.

Both have the same global batch and the defaults of a job, so that both give the same bits on any number of threads
(docs/decisions/0013). The data are invented. One line for each network: the median step in ms with one core and with eight,
the ratio of eight to one in each round, what the plan says a step needs and the resident peak of each, in MB.

usage: bench/cores_of_a_job.py [NETWORK...] [--precision f32] [--threads 2] [--rounds 3] [--steps 20]
                               [--executor build/release/bin/slipway-executor]
"""
import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import tempfile
import typing

ROOT = pathlib.Path(__file__).resolve().parents[1]
CORES = (1, 8)
MB = 1e6


class Network(typing.NamedTuple):
    model: dict
    data: str
    batch: int    # of all cores


# Batch norm over all cores: with each core's own rows only, eight would compute another network than one.
NETWORKS = {
    "resnet18": Network({"arch": "resnet18", "sync_batch_norm": True}, "images", 128),
    "resnet34": Network({"arch": "resnet34", "sync_batch_norm": True}, "images", 64),
    "vit_tiny": Network({"arch": "vit_tiny"}, "images", 64),
    "bert_small": Network({"arch": "bert_small", "dropout": 0}, "text", 32),
    "gpt_tiny": Network({"arch": "gpt_tiny", "dropout": 0}, "text", 32),
}


class Ran(typing.NamedTuple):
    step_ms: float
    planned_mb: float
    resident_mb: float


def write_images(folder):
    for name, count in (("data_batch_1", 640), ("test_batch", 64)):
        records = (bytes([i % 10]) + random.randbytes(3072) for i in range(count))
        (folder / f"{name}.bin").write_bytes(b"".join(records))


def write_text(folder):
    for part, count in (("train", 1 << 18), ("test", 1 << 13)):
        (folder / f"{part}.txt").write_bytes(bytes(97 + byte % 26 for byte in random.randbytes(count)))


# By name: the format of a dataset, what writes it, and what a job says about it.
DATA = {
    "images": ("cifar10", write_images, {}, lambda arch: "classification"),
    "text": ("text", write_text, {"tokenizer": {"type": "byte"}, "max_length": 128},
             lambda arch: "masked_lm" if arch.startswith("bert") else "causal_lm"),
}


def job_of(network, cores, arguments):
    _, _, fields, task = DATA[network.data]
    return {"model": network.model, "task": {"type": task(network.model["arch"])},
            "data": {"dataset": "invented", "split": {"train": "train", "val": "test"}} | fields,
            "train": {"steps": arguments.steps, "batch_size_per_core": network.batch // cores, "precision": arguments.precision,
                      "optimizer": {"name": "adamw", "lr": 1e-4}},
            "accelerator": {"cores": cores}, "checkpoint": {"every_epochs": 0}}


def run(network, cores, data, arguments):
    """Trains once and reads what the job's report says."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        job = pathlib.Path(folder) / "job.json"
        job.write_text(json.dumps(job_of(network, cores, arguments)))
        process = subprocess.Popen([arguments.executor, "run", job, "--data", data, "--format", DATA[network.data][0],
                                    "--out", out, "--workers", str(arguments.threads)],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        said = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"slipway-executor ended with {process.returncode}: {said[-2000:]}")
        report = json.loads((out / "report.json").read_text())
        graphs = json.loads((out / "graphs.json").read_text())
    executed = next(metric for metric in report["metrics"] if metric["name"] == "ExecuteTime")
    step = next(graph for graph in graphs if graph["program"] == "train_step")
    return Ran(executed["percentiles"]["50"] * 1e3, step["memory"]["peak_bytes"] / MB, usage.ru_maxrss * 1024 / MB)


def compare(name, data, arguments):
    network = NETWORKS[name]
    rounds = [[run(network, cores, data / network.data, arguments) for cores in CORES] for _ in range(arguments.rounds)]
    ratios = [eight.step_ms / one.step_ms for one, eight in rounds]
    one, eight = ([ran[i] for ran in rounds] for i in range(2))
    median = [statistics.median(ran.step_ms for ran in side) for side in (one, eight)]
    print(f"{name:<12} {arguments.precision:<5} {median[0]:9.1f} {median[1]:9.1f}   "
          f"{statistics.median(ratios):5.2f} ({', '.join(f'{ratio:.2f}' for ratio in ratios)})   "
          f"planned {one[0].planned_mb:.0f} {eight[0].planned_mb:.0f}   "
          f"resident {max(ran.resident_mb for ran in one):.0f} {max(ran.resident_mb for ran in eight):.0f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help=f"{', '.join(NETWORKS)}; without any: all")
    parser.add_argument("--precision", default="f32", choices=("f32", "bf16", "bf16_true"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--executor", default=ROOT / "build/release/bin/slipway-executor")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.networks if name not in NETWORKS]:
        parser.error(f"there is no network {unknown[0]}, but {', '.join(NETWORKS)}")
    random.seed(1)
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder)
        for name, (_, write, _, _) in DATA.items():
            (data / name).mkdir()
            write(data / name)
        for name in arguments.networks or NETWORKS:
            compare(name, data, arguments)


if __name__ == "__main__":
    main()
