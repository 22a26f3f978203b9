#!/usr/bin/env python3
"""What a checkpoint after each step costs: ResNet-18 on 69 real photos with `checkpoint.every_steps` 1 beside the same run without
checkpoints, in turns, each with compiled code on disk.

Prints one JSON line; for each number of cores the medians of both: seconds of the whole run, ms of a step (its program and what
goes in and out), ms that a step waits for its save, CPU seconds. `step_ratio`: step times with saves over those without;
`stride_ratio`: the same of the time from one step to the next, waiting included; `ratio`: of whole runs. Fails unless both train
the same, to the last bit of the losses.

usage: bench/saves_every_step.py [--epochs 10] [--batch 16] [--side 64] [--cores 8,1] [--rounds 3] [--bin build/release/bin]
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile

from photo_runs import Executor, add_common, copy_photos, job

SIDES = {"without": {"every_epochs": 0, "save_final": False}, "every_step": {"every_steps": 1, "every_epochs": 0}}
STEP_PHASES = ("transfer_to_device", "execute", "transfer_from_device")


def losses(frames):
    return [frame["values"] for frame in frames if frame["type"] == "metric"]


def measured(ran):
    report = ran["report"]
    phases, steps = report["phases"], report["step"]
    step_ms = sum(phases.get(name, 0.0) for name in STEP_PHASES) / steps * 1e3
    wait_ms = phases.get("checkpoint", 0.0) / steps * 1e3
    return {"seconds": ran["seconds"], "step_ms": step_ms, "wait_ms": wait_ms, "stride_ms": step_ms + wait_ms, "cpu_s": ran["cpu_s"]}


def one_round(executor, arguments, cores, folder):
    ran = {name: executor.run(job(arguments, cores, **checkpoint), folder / "cache") for name, checkpoint in SIDES.items()}
    if losses(ran["without"]["frames"]) != losses(ran["every_step"]["frames"]):
        raise SystemExit("a run that saves trains differently")
    if len(ran["every_step"]["weights"]) != ran["every_step"]["report"]["step"]:
        raise SystemExit("there is not a checkpoint of each step")
    return {name: measured(one) for name, one in ran.items()}


def summary(rounds):
    median = {name: {key: statistics.median(one[name][key] for one in rounds) for key in rounds[0][name]} for name in SIDES}
    ratio = {key: round(median["every_step"][key] / median["without"][key], 3) for key in ("seconds", "step_ms", "stride_ms", "cpu_s")}
    return {**{name: {key: round(value, 3) for key, value in one.items()} for name, one in median.items()},
            "step_ratio": ratio["step_ms"], "stride_ratio": ratio["stride_ms"], "ratio": ratio["seconds"], "work": ratio["cpu_s"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_common(parser)
    arguments = parser.parse_args()
    cores = [int(word) for word in arguments.cores.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        copy_photos(folder / "photos")
        executor, load = Executor(arguments, folder), [os.getloadavg()[0]]
        for each in cores:
            executor.run(job(arguments, each), folder / "cache")    # compiles
        rounds = []
        for number in range(arguments.rounds):
            rounds.append({each: one_round(executor, arguments, each, folder) for each in cores})
            print(f"round {number}: " + ", ".join(f"{each} cores {sides['without']['step_ms']:.1f} ms a step, with saves "
                                                  f"{sides['every_step']['step_ms']:.1f} and {sides['every_step']['wait_ms']:.1f} of waiting"
                                                  for each, sides in rounds[-1].items()), file=sys.stderr, flush=True)
        load.append(os.getloadavg()[0])
    print(json.dumps({"epochs": arguments.epochs, "batch": arguments.batch, "side": arguments.side, "load": [round(one, 1) for one in load],
                      "cores": {str(each): summary([one[each] for one in rounds]) for each in cores}}))


if __name__ == "__main__":
    main()
