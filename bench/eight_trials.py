#!/usr/bin/env python3
"""What eight trials at once cost beside the same work without a service around it, in time and in memory.

Eight single-core lenet trials (a grid of eight learning rates) run at once on the eight virtual cores of a service. The same
eight jobs are trained by slipway-executor by hand, two single-thread processes at a time: as much work on two threads as two
CPUs can take. Both in turns, after one round of each that does not count; compiled code is kept by both. Then memory: the
proportional set sizes of the eight executors while all of them train, and of one that trains alone in a service just started.

Prints one JSON line: seconds of each round, `ratio` of the medians (goal: 1.05); `pss_mb` of eight and one, what the
plan of a step holds (weights, gradients, activations) for each, `pss_ratio` of eight to one, and `pss_ratio_without_plans`
(goal: 2).

usage: bench/eight_trials.py [--epochs 20] [--images 10000] [--rounds 3] [--bin build/release/bin] [-- OPTION OF SLIPWAYD ...]
"""
import argparse
import json
import os
import pathlib
import select
import statistics
import subprocess
import sys
import tempfile
import time

from sweep_parts import Sweeps, add_common, by_hand, cpu_s_at_once, digits_job

RATES = [0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08]
PLACE = "train.optimizer.lr"
MB = 1e6


def sweep_of(job, rates):
    return {"name": "eight", "objective": {"metric": "val_loss"}, "space": {PLACE: {"type": "choice", "values": rates}},
            "algorithm": {"name": "grid"}, "limits": {"max_concurrent": 8}, "job": job}


def with_rate(job, rate):
    train = job["train"] | {"optimizer": job["train"]["optimizer"] | {"lr": rate}}
    return job | {"train": train}


def seconds_by_hand(sweeps, job, folder):
    """Two at a time: the next one begins when one of them ends."""
    waiting = [by_hand(sweeps, with_rate(job, rate), folder / str(i)) for i, rate in enumerate(RATES)]
    began = time.monotonic()
    running = []
    while waiting or running:
        while waiting and len(running) < 2:
            running.append(subprocess.Popen(waiting.pop(0), stdout=subprocess.DEVNULL))
        for process in first_to_end(running):
            assert process.wait() == 0, process.args
            running.remove(process)
    return time.monotonic() - began


def first_to_end(processes):
    """Waits without taking CPU time from them."""
    places = {os.pidfd_open(process.pid): process for process in processes}
    ended, _, _ = select.select(list(places), [], [])
    for place in places:
        os.close(place)
    return [places[place] for place in ended]


def pss_mb(process):
    """Proportional set size by kind of page."""
    lines = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:]
    sizes = {name: int(rest.split()[0]) * 1024 / MB for name, rest in (line.split(":", 1) for line in lines)}
    return {"all": sizes["Pss"], "anonymous": sizes["Pss_Anon"], "files": sizes["Pss_File"], "shared_memory": sizes["Pss_Shmem"]}


def greatest_pss(sweeps, sweep_id, trials):
    """The greatest sum that was seen while all of the trials had measured something; without one, all of it is 0."""
    greatest = {"all": 0.0}
    while sweeps.calls.sweep(sweep_id)["state"] == "running":
        jobs = [one["job_id"] for one in sweeps.calls.trials(sweep_id) if one["reports"]]
        processes = [process for one in jobs for process in sweeps.service.executors(one)]
        if len(processes) == trials:
            try:
                sizes = [pss_mb(process) for process in processes]
                sums = {kind: round(sum(one[kind] for one in sizes), 1) for kind in sizes[0]}
                greatest = max(greatest, sums, key=lambda one: one["all"])
            except (FileNotFoundError, ProcessLookupError):
                pass    # one has ended
        time.sleep(0.05)
    return greatest


def pss_of_trials(sweeps, job, rates):
    """In a service without other executors. Trials that were never seen to train all at once are trained again, twice as long."""
    epochs = job["train"]["epochs"]
    while True:
        sweeps.service.stop()
        sweeps.service.start()
        longer = job | {"train": job["train"] | {"epochs": epochs}}
        greatest = greatest_pss(sweeps, sweeps.calls.create(sweep_of(longer, rates)), len(rates))
        if greatest["all"] > 0:
            return greatest
        assert epochs < 1000 * job["train"]["epochs"], "the trials were never seen to train all at once"
        epochs *= 2


def planned_mb(sweeps, job, folder):
    """What the plan of a training step holds, of a job that reports it."""
    reporting = job | {"train": job["train"] | {"epochs": 1}, "monitor": {"log_every_steps": 1000}}
    cpu_s_at_once([by_hand(sweeps, reporting, folder)])
    graphs = json.loads((folder / "out" / "graphs.json").read_text())
    return next(graph for graph in graphs if graph["program"] == "train_step")["memory"]["peak_bytes"] / MB


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_common(parser, images=10000)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("options", nargs="*", help="of slipwayd, after --")
    arguments = parser.parse_args()
    job = digits_job(arguments.epochs)
    service, hand = [], []
    with Sweeps(arguments, *arguments.options) as sweeps, tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for number in range(arguments.rounds + 1):
            service.append(sweeps.seconds(sweeps.run(sweep_of(job, RATES))["id"]))
            (folder / str(number)).mkdir()
            hand.append(seconds_by_hand(sweeps, job, folder / str(number)))
            print(f"round {number}: {service[-1]:.2f} s, by hand {hand[-1]:.2f} s", file=sys.stderr, flush=True)
        one = pss_of_trials(sweeps, job, RATES[:1])
        eight = pss_of_trials(sweeps, job, RATES)
        planned = planned_mb(sweeps, job, folder / "planned")
    print(json.dumps({
        "epochs": arguments.epochs, "images": arguments.images,
        "service_s": [round(value, 3) for value in service[1:]], "by_hand_s": [round(value, 3) for value in hand[1:]],
        "ratio": round(statistics.median(service[1:]) / statistics.median(hand[1:]), 3),
        "pss_mb": {"eight": eight, "one": one}, "planned_mb_each": round(planned, 2),
        "pss_ratio": round(eight["all"] / one["all"], 2),
        "pss_ratio_without_plans": round((eight["all"] - 8 * planned) / (one["all"] - planned), 2)}))


if __name__ == "__main__":
    main()
