#!/usr/bin/env python3
"""A whole run of ResNet-18 on 69 real photos from process start to result, beside a plain PyTorch script of the same task, in turns.

Both train ten epochs with SGD and momentum, measure 17 other photos after each epoch and save a checkpoint then. Ours runs as
`slipway-executor run` with the defaults of a job, as `first` (no compiled code on disk) and `later` (code on disk). PyTorch
(bench/torch_whole_run.py) runs tuned and untuned as in bench/compare, with its DataLoader in its process and with two workers;
the first round finds the fastest, the others repeat that one.

Prints one JSON line: of each side the median seconds, those of all rounds, the median CPU seconds, and where the time goes by
phase; `ratio`: our median seconds over PyTorch's; `work`: the same of the CPU time; `load`: of the machine before and after.
Fails unless all our runs of as many cores end with the same weights, to the bit. `start` is the time of a process before and
after its own clock.

usage: bench/whole_run.py [--epochs 10] [--batch 16] [--side 64] [--cores 8,1] [--rounds 3] [--bin build/release/bin]
                          [--python /usr/bin/python3] [--keep] [--no-torch]
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import sys
import tempfile

from compare_slices import compare_settings
from photo_runs import VAL, Executor, add_common, copy_photos, job, timed

HERE = pathlib.Path(__file__).resolve().parent
# Phases of our report by what they are to whoever waits for the run.
PHASES = {"data": ("open_data", "input_wait"), "compile": ("trace", "compile"),
          "steps": ("transfer_to_device", "execute", "transfer_from_device"), "evaluate": ("evaluate",), "checkpoint": ("checkpoint",),
          "other": ("other",)}


class Ours:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.executor = Executor(arguments, folder)
        self.weights = {}

    def measured(self, cores, cache):
        ran = self.executor.run(job(self.arguments, cores), cache)
        if self.weights.setdefault(cores, ran["weights"]) != ran["weights"]:    # of all its checkpoints
            raise SystemExit(f"two runs of {cores} cores ended with different weights")
        phases = ran["report"]["phases"]
        grouped = {name: sum(phases.get(part, 0.0) for part in parts) for name, parts in PHASES.items()}
        return {"seconds": ran["seconds"], "cpu_s": ran["cpu_s"],
                "phases": {"start": ran["seconds"] - ran["report"]["wall_s"], **grouped}}

    def round(self, cores):
        """A run without compiled code on disk, and one with."""
        cache = self.folder / "cache"
        shutil.rmtree(cache, ignore_errors=True)
        return {"first": self.measured(cores, cache), "later": self.measured(cores, cache)}


class Torch:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.settings = compare_settings()
        self.best = None

    def measured(self, setting, loaders):
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("MALLOC_", "OMP_", "OPENBLAS_"))}
        out = self.folder / "torch"
        out.mkdir()
        seconds, cpu_s, line = timed([self.arguments.python, HERE / "torch_whole_run.py", self.folder / "photos", "--out", out,
                                      "--epochs", self.arguments.epochs, "--batch", self.arguments.batch, "--side", self.arguments.side,
                                      "--val", VAL, "--loaders", loaders, *(["--keep"] if self.arguments.keep else [])],
                                     environment | self.settings[setting])
        shutil.rmtree(out)
        said = json.loads(line)
        return {"seconds": seconds, "cpu_s": cpu_s, "phases": {"start": seconds - said["seconds"], **said["phases"]}}

    def round(self):
        if self.best:
            return self.measured(*self.best)
        ran = {(setting, loaders): self.measured(setting, loaders) for setting in self.settings for loaders in (0, 2)}
        self.best = min(ran, key=lambda one: ran[one]["seconds"])
        self.others = {f"{setting}, {loaders} loaders": round(one["seconds"], 2) for (setting, loaders), one in ran.items()}
        return ran[self.best]


def summary(rounds):
    names = rounds[0]["phases"]
    return {"seconds": round(statistics.median(one["seconds"] for one in rounds), 3), "rounds": [round(one["seconds"], 3) for one in rounds],
            "cpu_s": round(statistics.median(one["cpu_s"] for one in rounds), 3),
            "phases": {name: round(statistics.median(one["phases"][name] for one in rounds), 3) for name in names}}


def measure(arguments, folder):
    copy_photos(folder / "photos")
    cores = [int(word) for word in arguments.cores.split(",")]
    ours, torch = Ours(arguments, folder), None if arguments.no_torch else Torch(arguments, folder)
    mine, theirs, load = [], [], [os.getloadavg()[0]]
    for number in range(arguments.rounds):
        mine.append({each: ours.round(each) for each in cores})
        if torch:
            theirs.append(torch.round())
        print(f"round {number}: " + ", ".join(f"{each} cores {runs['first']['seconds']:.2f} s, later {runs['later']['seconds']:.2f}"
                                              for each, runs in mine[-1].items())
              + (f"; PyTorch {theirs[-1]['seconds']:.2f} s" if torch else ""), file=sys.stderr, flush=True)
    load.append(os.getloadavg()[0])
    result = {"epochs": arguments.epochs, "batch": arguments.batch, "side": arguments.side, "load": [round(one, 1) for one in load]}
    if torch:
        result["torch"] = {"as": f"{torch.best[0]}, {torch.best[1]} loaders", "others": torch.others, **summary(theirs)}
    result["ours"] = {}
    for each in cores:
        sides = {kind: summary([one[each][kind] for one in mine]) for kind in ("first", "later")}
        for side in sides.values() if torch else ():
            side["ratio"] = round(side["seconds"] / result["torch"]["seconds"], 3)
            side["work"] = round(side["cpu_s"] / result["torch"]["cpu_s"], 3)
        result["ours"][str(each)] = sides
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_common(parser)
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--keep", action="store_true", help="PyTorch's dataset keeps decoded images in memory, as ours does")
    parser.add_argument("--no-torch", action="store_true", help="ours alone")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(arguments, pathlib.Path(folder))))


if __name__ == "__main__":
    main()
