#!/usr/bin/env python3
"""What the choice of worker threads is worth: steps with one thread, with all, and with as many as the engine chooses, in turns.

usage: bench/worker_choice.py [--bin build/release/bin] [--workloads mlp128,cnn128,...] [--batches 8,32,128] [--precisions f32,bf16]
                              [--threads N] [--rounds 3]
One line a row: medians in ms, how many threads were chosen, and the choice over the better of the two others.
"""
import argparse
import json
import os
import pathlib
import subprocess

WORKLOADS = ["mlp128", "cnn128", "resnet18_64", "bert_small", "gpt_small", "mixer_32", "resnet34_32", "bert_base", "gpt2_124m"]
# About a second of steps.
REPEATS = {"mlp128": 1000, "cnn128": 500, "resnet18_64": 15, "bert_small": 12, "gpt_small": 4, "mixer_32": 4, "resnet34_32": 5}


def median(values):
    return sorted(values)[len(values) // 2]


def measure(arguments, workload, precision, batch, options):
    command = [pathlib.Path(arguments.bin, "slipway-executor"), "bench", workload, "--cores", "8", "--batch", str(batch), "--precision", precision,
               "--optimizer", "sgd_momentum", "--pin", "--repeats", str(REPEATS.get(workload, 3)), *options]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--workloads", default=",".join(WORKLOADS))
    parser.add_argument("--batches", default="8,32,128")
    parser.add_argument("--precisions", default="f32,bf16")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    many = ["--threads", str(arguments.threads)]
    ways = {"one": ["--threads", "1"], "all": many, "chosen": [*many, "--choose"]}
    for workload in arguments.workloads.split(","):
        for precision in arguments.precisions.split(","):
            for batch in arguments.batches.split(","):
                times, used = {way: [] for way in ways}, []
                for _ in range(arguments.rounds):
                    for way, options in ways.items():
                        result = measure(arguments, workload, precision, batch, options)
                        times[way].append(result["median_ms"])
                        if way == "chosen":
                            used.append(result["threads_used"])
                one, all_, chosen = (median(times[way]) for way in ways)
                print(f"{workload} {precision} {batch}: one {one:.3f}, {arguments.threads} {all_:.3f}, chosen {chosen:.3f} with "
                      f"{'/'.join(map(str, used))}, over the better {chosen / min(one, all_):.2f}", flush=True)


if __name__ == "__main__":
    main()
