#!/usr/bin/env python3
"""Runs that are killed while they save: kill -9 of the executor at random moments of a run that saves after each step, again and again.

The state (a wide perceptron with Adam) is large enough that a save is still being written when the next step ends: most moments
fall into one. Each time the run goes on from the newest whole checkpoint. Its final weights and optimizer state must be those of
a run that nobody touched, bit by bit. Prints one JSON line: kills, runs, those with other bits, the times that a checkpoint was
half written when the kill came, steps done again after a kill (mean, most).

usage: bench/killed_saves.py [--kills 100] [--seed 1] [--bin build/release/bin]
"""
import argparse
import hashlib
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))
STEPS = 40
JOB = {"model": {"arch": "layers", "layers": [{"type": "linear", "out_features": 1500}, {"type": "relu"}, {"type": "dropout", "rate": 0.2},
                                              {"type": "linear", "out_features": 1500}, {"type": "relu"},
                                              {"type": "linear", "name": "head"}]},
       "task": {"type": "classification"}, "data": {"dataset": "points", "split": {"val_fraction": 0.2, "seed": 0}},
       "train": {"steps": STEPS, "batch_size_per_core": 8, "optimizer": {"name": "adam", "lr": 0.001}},
       "accelerator": {"cores": 8}, "monitor": {"log_every_steps": 1},
       "checkpoint": {"every_steps": 1, "every_epochs": 0, "keep_last": 2}}


class Runs:
    def __init__(self, executor, folder):
        self.executor, self.folder = executor, folder
        from service import write_points
        write_points(folder / "points")
        self.job = folder / "job.json"
        self.job.write_text(json.dumps(JOB))

    def start(self, out, resume):
        return subprocess.Popen([self.executor, "run", self.job, "--out", out, "--data", self.folder / "points", "--format", "csv",
                                 "--options", json.dumps({"group_column": "family"}), "--cache", self.folder / "cache",
                                 *(["--resume"] if resume else [])], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def checkpoints(self, out):
        return {int(re.search(r"step_(\d+)", each.name)[1]): each for each in (out / "checkpoints").glob("step_*") if each.suffix != ".tmp"}

    def bits(self, out):
        last = self.checkpoints(out)[STEPS]
        return [hashlib.sha256((last / name).read_bytes()).hexdigest() for name in ("model.safetensors", "optimizer.safetensors")]


def kill_until_it_ends(runs, out, chance, counts):
    """Whether the run came to its end; otherwise the kills are used up and it is let go on."""
    resume = False
    while True:
        begun = time.monotonic()
        process = runs.start(out, resume)
        resume = True
        pause_s = chance.uniform(0.2, 2.5) if counts["kills"] < counts["wanted"] else 600
        try:
            text, _ = process.communicate(timeout=pause_s)
            if process.returncode != 0:
                raise SystemExit(f"the run failed after {time.monotonic() - begun:.1f} s:\n{text[-2000:]}")
            return
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        counts["kills"] += 1
        counts["half_written"] += any((out / "checkpoints").glob("*.tmp"))
        saved = max(runs.checkpoints(out), default=0)
        metrics = [int(line.split(",")[0]) for line in (out / "metrics.csv").read_text().splitlines()[1:] if line[:1].isdigit()] \
            if (out / "metrics.csv").exists() else []
        counts["again"].append(max(0, max(metrics, default=0) - saved))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    counts = {"wanted": arguments.kills, "kills": 0, "half_written": 0, "again": []}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        runs = Runs(pathlib.Path(arguments.bin) / "slipway-executor", folder)
        undisturbed = folder / "undisturbed"
        process = runs.start(undisturbed, False)
        text, _ = process.communicate()
        if process.returncode != 0:
            raise SystemExit(f"the undisturbed run failed:\n{text[-2000:]}")
        wanted, count, different = runs.bits(undisturbed), 0, 0
        while counts["kills"] < arguments.kills:
            out = folder / f"run_{count}"
            kill_until_it_ends(runs, out, chance, counts)
            different += runs.bits(out) != wanted
            count += 1
            shutil.rmtree(out)
        print(json.dumps({"kills": counts["kills"], "runs": count, "other_bits": different, "half_written": counts["half_written"],
                          "steps_again_mean": round(sum(counts["again"]) / len(counts["again"]), 2), "steps_again_max": max(counts["again"])}))
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
