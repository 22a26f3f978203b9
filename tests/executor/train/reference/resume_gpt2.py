#!/usr/bin/env python3
"""A job with GPT-2 as published: 124 million parameters begin with given weights, make two steps, are saved, and a run that
resumes from the first step ends with the same bits.

usage: resume_gpt2.py EXECUTOR [--batch 4] [--length 64] [--figures FILE]

Needs torch (Debian 12: python3-torch), 5 GB of memory and 5 GB below the folder of temporary files. What the job planned and
what it took is said.
"""
import argparse
import json
import pathlib
import resource
import shutil
import sys
import tempfile

import torch

import executor_runs
import safetensors_file
import text_batches
from compare_training import NETWORKS, Row, adamw, file_of, job_of
from figures import Figure, conclude

FILES = ("model.safetensors", "optimizer.safetensors")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("executor")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--length", type=int, default=64)
    parser.add_argument("--figures", type=pathlib.Path, help="a file for the table of compare_all.py")
    asked = parser.parse_args()
    row = Row("gpt2", adamw(1e-4), batch=asked.batch, length=asked.length, vocabulary=50257)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tokens = 8 * asked.batch * asked.length
        data = text_batches.Texts(folder / "text", "causal_lm", asked.length, asked.batch, text_batches.invented(tokens, 1),
                                  text_batches.invented(tokens // 4, 2))
        torch.manual_seed(1)
        safetensors_file.write(folder / "first.safetensors", file_of(row, NETWORKS["gpt2"](row).state_dict()))
        job = job_of(row, data, 2, folder / "first.safetensors")
        job["checkpoint"] |= {"every_steps": 1, "keep_last": 2}
        job["model"]["dropout"] = 0.1
        last = executor_runs.run(asked.executor, job, data, folder / "out").last
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        planned = max(graph.get("memory", {}).get("peak_bytes", 0) for graph in json.loads((folder / "out/report.json").read_text())["graphs"])
        saved = {name: (last / name).read_bytes() for name in FILES}
        shutil.rmtree(last)
        again = executor_runs.run(asked.executor, job, data, folder / "out", ("--resume",)).last
        different = sum(saved[name] != (again / name).read_bytes() for name in FILES)
    return conclude(f"gpt2 with its 50,257 tokens, {asked.batch} x {asked.length} tokens a step: planned {planned / 2**20:.0f} MiB, "
                    f"took {peak:.0f} MiB", [Figure("files that differ after a resume", different, 0)], asked.figures)


if __name__ == "__main__":
    sys.exit(main())
