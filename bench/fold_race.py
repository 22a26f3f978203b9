#!/usr/bin/env python3
"""What fold pruning saves: a sweep of cross-validations of a small network on real digits, once with every fold of every trial and once
with objective.fold_pruning, by the same service.

Prints one JSON line: trials, folds, folds_trained and core_s of both, saved (fractions of the core-seconds and of the folds), winners
(the best trial of each; they must be the same). Data: mnist10k of SLIPWAY_TEST_DATA (default ../shared/data).

usage: bench/fold_race.py [--trials 16] [--folds 5] [--samples 2000] [--epochs 3] [--bin build/release/bin] [--record FILE]
--record: writes the values and the core-seconds of every fold, as tests/scheduler/search/recorded_folds.json
"""
import argparse
import datetime
import json
import os
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))
sys.path.insert(0, str(ROOT / "bench"))


def body_of(options, pruning):
    return {
        "name": "pruned" if pruning else "whole",
        "objective": {"metric": "cv.val_loss.mean"} | ({"fold_pruning": {}} if pruning else {}),
        "space": {"train.optimizer.lr": {"type": "log_uniform", "min": 1e-4, "max": 0.1},
                  "model.width": {"type": "choice", "values": [32, 128]},
                  "train.batch_size_per_core": {"type": "choice", "values": [16, 64]}},
        "algorithm": {"name": "random"}, "limits": {"max_trials": options.trials, "max_concurrent": 4}, "seed": 1,
        "cross_validation": {
            "split": {"method": "stratified_kfold", "folds": options.folds, "seed": 1},
            "job": {"model": {"arch": "mlp"}, "task": {"type": "classification"}, "data": {"dataset": "digits"},
                    "train": {"epochs": options.epochs, "optimizer": {"name": "adam", "lr": 0.001}}}}}


def run_sweep(service, body):
    sweep_id = service.post("/v1/sweeps", body)["id"]
    while (sweep := service.get(f"/v1/sweeps/{sweep_id}"))["finished_at"] is None:
        time.sleep(0.5)
    if sweep["state"] != "finished":
        sys.exit(f"the sweep is {sweep['state']}: {sweep['reason']}")
    return sweep, service.get(f"/v1/sweeps/{sweep_id}/trials?limit=200")["items"]


def seconds_of_job(service, job_id):
    attempts = service.get(f"/v1/jobs/{job_id}/attempts")["items"]
    moments = [[datetime.datetime.fromisoformat(one[name].replace("Z", "+00:00")) for name in ("created_at", "ended_at")] for one in attempts]
    return sum((end - begin).total_seconds() for begin, end in moments)


def record(service, sweep, trials, options):
    cursor, seconds = "", {}
    while cursor is not None:
        page = service.get(f"/v1/jobs?parent={sweep['id']}&limit=200" + (f"&cursor={cursor}" if cursor else ""))
        for job in page["items"]:
            seconds[job["parent"]["key"]] = round(seconds_of_job(service, job["id"]), 3)
        cursor = page["next_cursor"]
    report = service.get(f"/v1/datasets/digits/splits/{sweep['split_id']}")["report"]
    content = {
        "from": f"bench/fold_race.py --trials {options.trials} --folds {options.folds} --samples {options.samples} --epochs {options.epochs}: "
                "mlp on the first samples of mnist10k; values are val_loss of each fold, core_s what its job held one core for",
        "objective": sweep["spec"]["objective"]["metric"],
        "sizes": [{"train": part["train"], "val": part["val"]} for part in report["parts"]],
        "trials": [{"point": one["point"], "values": one["fold_values"],
                    "core_s": [seconds[f"{one['number']}-fold-{fold}"] for fold in range(options.folds)]} for one in trials]}
    lines = ",\n".join("  " + json.dumps(one) for one in content.pop("trials"))
    head = json.dumps(content, indent=1)[:-2]
    pathlib.Path(options.record).write_text(f'{head},\n "trials": [\n{lines}\n ]\n}}\n')


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--trials", type=int, default=16)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--bin", default=str(ROOT / "build" / "release" / "bin"))
    parser.add_argument("--record")
    options = parser.parse_args()
    os.environ["SLIPWAY_BIN_DIR"] = str(pathlib.Path(options.bin).resolve())
    from queue_drain import write_digits
    from service import DATA, Service    # reads the folder of the programs
    service = Service()
    try:
        write_digits(DATA / "mnist10k", service.data / "digits", options.samples)
        service.start()
        service.dataset("digits", "idx")
        whole, trials = run_sweep(service, body_of(options, False))
        pruned, some = run_sweep(service, body_of(options, True))
        if options.record:
            record(service, whole, trials, options)
        folds = [sum(len(one["fold_values"]) for one in of) for of in (trials, some)]
        print(json.dumps({
            "trials": len(trials), "folds": options.folds, "folds_trained": folds,
            "core_s": [round(one["core_s"], 2) for one in (whole, pruned)],
            "saved": [round(1 - pruned["core_s"] / whole["core_s"], 3), round(1 - folds[1] / folds[0], 3)],
            "winners": [whole["best"]["trial"], pruned["best"]["trial"]]}))
    finally:
        service.close()


if __name__ == "__main__":
    main()
