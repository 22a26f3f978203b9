#!/usr/bin/env python3
"""How good a search is that stops early, and for how many core-seconds: real sweeps of lenet on mnist10k.

`asha` (the default): 81 trials of ASHA that promotes from checkpoints, from one epoch to 27, and the same 81 points all trained to the
end by a random search. `pbt`: a population that changes its values while it trains, and the best of many trials of the same length whose
values are fixed, drawn from the same space. For each seed and both sides: the best validation accuracy, what the same trial's
validation loss was, core-seconds (the time that jobs held their cores), CPU seconds, seconds by the clock. Eight trials at a time; images
in equal parts of training (four fifths) and validation for all.

Prints one JSON line: the figures, and over all seeds the median of `behind_points` (percentage points of accuracy that the first side is
behind the other; goal of asha: at most 0.3) and of `core_s_share` (its core-seconds over those of the other; goal: at most 0.25).

usage: bench/asha_search.py [asha|pbt] [--trials 81] [--epochs 27] [--images 10000] [--seeds 1 ...] [--population 16]
                            [--fixed-trials 48] [--bin build/release/bin] [-- OPTION OF SLIPWAYD ...]
"""
import argparse
import json
import statistics
import sys

from queue_drain import cpu_by_program
from sweep_parts import Sweeps, add_common, digits_job

RATES = {"train.optimizer.lr": {"type": "log_uniform", "min": 0.0003, "max": 0.3},
         "train.optimizer.weight_decay": {"type": "log_uniform", "min": 1e-6, "max": 0.01}}
# What cannot change while a trial trains is not in the space of pbt.
SPACE = RATES | {"train.optimizer.momentum": {"type": "uniform", "min": 0, "max": 0.98},
                 "train.batch_size_per_core": {"type": "choice", "values": [16, 32, 64, 128], "ordered": True}}


def sweep_of(space, algorithm, epochs, seed, **limits):
    goes_on = algorithm["name"] in ("asha", "pbt")    # from the checkpoint that its last job ended with
    return {"name": algorithm["name"], "objective": {"metric": "val_accuracy", "mode": "max"}, "space": space, "algorithm": algorithm,
            "limits": {"max_concurrent": 8, "max_failures": 1000, **limits}, "seed": seed,
            "job": digits_job(epochs, checkpoint={"every_epochs": 0, "save_final": goes_on})}


def measured(sweeps, body):
    """Runs a sweep. Trials may fail: rates that ruin the weights are part of the space."""
    before = cpu_by_program(sweeps.service)["executors"]
    sweep_id = sweeps.calls.create(body)
    sweep = sweeps.calls.wait_end(sweep_id, 7200)
    assert sweep["state"] == "finished", (sweep["state"], sweep["reason"])
    cpu_s = cpu_by_program(sweeps.service)["executors"] - before
    trials = sweeps.calls.trials(sweep_id)
    assert len(trials) == sweep["trials"]["total"]
    best = next(one for one in trials if one["number"] == sweep["best"]["trial"])
    figures = {"accuracy": best["value"], "loss": min(sweeps.service.metric(best["job_id"], "val_loss").values()),
               "core_s": round(sweep["core_s"], 1), "cpu_s": round(cpu_s, 1), "s": round(sweeps.seconds(sweep_id), 1),
               "trials": len(trials), "failed": sweep["trials"]["failed"], "epochs": sum(one["last_time"] or 0 for one in trials),
               "point": best["point"]}
    print(f"{body['name']}, seed {body['seed']}: {figures}", file=sys.stderr, flush=True)
    return figures


def asha(arguments, seed):
    algorithm = {"name": "asha", "mode": "promote", "min_time": 1, "max_time": arguments.epochs, "reduction_factor": 3}
    return (sweep_of(SPACE, algorithm, arguments.epochs, seed, max_trials=arguments.trials),
            sweep_of(SPACE, {"name": "random"}, arguments.epochs, seed, max_trials=arguments.trials))


def pbt(arguments, seed):
    algorithm = {"name": "pbt", "population": arguments.population, "interval": max(1, arguments.epochs // 9),
                 "max_time": arguments.epochs}
    return (sweep_of(RATES, algorithm, arguments.epochs, seed),
            sweep_of(RATES, {"name": "sobol"}, arguments.epochs, seed, max_trials=arguments.fixed_trials))


MODES = {"asha": asha, "pbt": pbt}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mode", nargs="?", choices=MODES, default="asha")
    add_common(parser, images=10000)
    parser.add_argument("--trials", type=int, default=81)
    parser.add_argument("--epochs", type=int, default=27)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--population", type=int, default=16)
    parser.add_argument("--fixed-trials", type=int, default=48)
    parser.add_argument("options", nargs="*", help="of slipwayd, after --")
    arguments = parser.parse_args()
    first, other = arguments.mode, "random" if arguments.mode == "asha" else "fixed"
    runs = []
    with Sweeps(arguments, *arguments.options) as sweeps:
        for seed in arguments.seeds:
            one, two = (measured(sweeps, body) for body in MODES[arguments.mode](arguments, seed))
            runs.append({"seed": seed, first: one, other: two,
                         "behind_points": round(100 * (two["accuracy"] - one["accuracy"]), 3),
                         "core_s_share": round(one["core_s"] / two["core_s"], 3), "cpu_s_share": round(one["cpu_s"] / two["cpu_s"], 3)})
    medians = {name: statistics.median(run[name] for run in runs) for name in ("behind_points", "core_s_share", "cpu_s_share")}
    print(json.dumps({"mode": arguments.mode, "images": arguments.images, "epochs": arguments.epochs, "runs": runs, **medians}))


if __name__ == "__main__":
    main()
