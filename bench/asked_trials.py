#!/usr/bin/env python3
"""What it costs to ask a sweep whose trials run elsewhere for a trial and to tell it a value, as its log grows.

One worker asks for a trial, reports the sum of the squares of its parameters, and so on. Prints one JSON line for each part of the log:
median and longest milliseconds of both, by the clock, and slipwayd's CPU milliseconds for each trial.

usage: bench/asked_trials.py [--trials 1000] [--parameters 20] [--algorithm tpe] [--parts 5] [--bin build/release/bin]
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import time

from queue_drain import ROOT, cpu_by_program

sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))


def new_sweep(service, arguments):
    body = {"name": "elsewhere", "objective": {"metric": "cost", "mode": "min"}, "algorithm": {"name": arguments.algorithm}, "seed": 1,
            "space": {f"x{number}": {"type": "uniform", "min": -1, "max": 1} for number in range(arguments.parameters)},
            "limits": {"max_trials": arguments.trials, "max_concurrent": 8}}
    return "/v1/sweeps/" + service.post("/v1/sweeps", body)["id"]


def timed_ms(call):
    began = time.monotonic()
    return call(), 1000 * (time.monotonic() - began)


def one_trial(service, sweep):
    asked, suggest_ms = timed_ms(lambda: service.post(f"{sweep}/suggest", {"count": 1}))
    trial = asked["trials"][0]
    told = {"time": 1, "value": sum(value * value for value in trial["point"].values()), "end": "completed"}
    _, observe_ms = timed_ms(lambda: service.post(f"{sweep}/trials/{trial['number']}/observe", told))
    return suggest_ms, observe_ms


def part(service, sweep, count):
    before = cpu_by_program(service)["slipwayd"]
    suggest_ms, observe_ms = zip(*(one_trial(service, sweep) for _ in range(count)))
    cpu_ms = 1000 * (cpu_by_program(service)["slipwayd"] - before) / count
    return {"suggest_ms": round(statistics.median(suggest_ms), 2), "suggest_ms_max": round(max(suggest_ms), 2),
            "observe_ms": round(statistics.median(observe_ms), 2), "observe_ms_max": round(max(observe_ms), 2), "slipwayd_ms": round(cpu_ms, 2)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--parameters", type=int, default=20)
    parser.add_argument("--algorithm", default="tpe")
    parser.add_argument("--parts", type=int, default=5)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "release" / "bin")
    arguments = parser.parse_args()
    os.environ["SLIPWAY_BIN_DIR"] = str(arguments.bin.resolve())
    from service import Service
    service = Service()
    try:
        service.start()
        sweep, count = new_sweep(service, arguments), arguments.trials // arguments.parts
        for number in range(arguments.parts):
            print(json.dumps({"trials": (number + 1) * count, **part(service, sweep, count)}), flush=True)
    finally:
        service.close()


if __name__ == "__main__":
    main()
