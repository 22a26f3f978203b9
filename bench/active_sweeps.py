#!/usr/bin/env python3
"""What active sweeps cost: N of them, each with one trial whose job waits for a far start time, or with none active.

Prints one JSON line for each state. idle: while nothing happens, transactions of PostgreSQL per second, and CPU time per second
(milliseconds) of slipwayd and of PostgreSQL. ending: while jobs of trials are cancelled, one in each sweep in turn, so that each sweep
takes a step (a trial failed, the next one starts): transactions and CPU milliseconds for each trial that ends, and how long the service
took from the last request until each sweep had its next trial.

usage: bench/active_sweeps.py [--sweeps 1000] [--ends 200] [--seconds 30] [--bin build/release/bin]
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import sys
import time

from queue_drain import ROOT, cpu_by_program

sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))


def transactions(service):
    """Committed until now. The question is one itself; statistics are told up to a second late."""
    return int(service.sql("select xact_commit from pg_stat_database where datname = current_database()")[0][0])


class Measurement:
    def __init__(self, service):
        self.service = service
        time.sleep(1.5)
        self.began, self.cpu, self.commits = time.monotonic(), cpu_by_program(service), transactions(service)

    def end(self):
        seconds, cpu = time.monotonic() - self.began, cpu_by_program(self.service)
        time.sleep(1.5)
        commits = transactions(self.service) - self.commits - 2
        return seconds, {name: 1000 * (cpu[name] - self.cpu[name]) for name in ("slipwayd", "postgres")}, commits


def idle(service, seconds):
    measurement = Measurement(service)
    time.sleep(seconds)
    passed, cpu_ms, commits = measurement.end()
    return {"transactions_per_s": round(commits / (passed + 1.5), 1),
            **{f"{name}_ms_per_s": round(used / passed, 2) for name, used in cpu_ms.items()}}


def held_sweep(service, number):
    body = {"name": f"held {number}", "algorithm": {"name": "random"}, "limits": {"max_trials": 1000, "max_concurrent": 1, "max_failures": 1000},
            "seed": number, "space": {"train.optimizer.lr": {"type": "log_uniform", "min": 0.0001, "max": 0.1}},
            "job": {"model": {"arch": "mlp"}, "task": {"type": "classification"}, "data": {"dataset": "points", "split": {"val_fraction": 0.2}},
                    "train": {"epochs": 1, "optimizer": {"name": "adam", "lr": 0.01}}, "limits": {"start_after": "2100-01-01T00:00:00Z"}}}
    return service.post("/v1/sweeps", body)["id"]


def waiting_jobs(service):
    """sweep -> the job of its trial that waits."""
    return {sweep: job for job, sweep in service.sql("select id, parent_id from job where state = 'queued' and parent_id is not null")}


def end_trials(service, count, wait_for):
    jobs = list(waiting_jobs(service).items())[:count]
    ended = {job for _, job in jobs}
    measurement = Measurement(service)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda job: service.post(f"/v1/jobs/{job}/cancel", {}), ended))
    asked = time.monotonic()

    def has_next():
        now = waiting_jobs(service)
        return all(now.get(sweep) not in (None, job) for sweep, job in jobs)
    wait_for(has_next, "the next trials", 300, 0.1)
    behind_s = time.monotonic() - asked
    _, cpu_ms, commits = measurement.end()
    return {"trials": len(jobs), "transactions_per_trial": round(commits / len(jobs), 1), "next_trials_behind_s": round(behind_s, 2),
            **{f"{name}_ms_per_trial": round(used / len(jobs), 2) for name, used in cpu_ms.items()}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sweeps", type=int, default=1000)
    parser.add_argument("--ends", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    arguments = parser.parse_args()
    os.environ["SLIPWAY_BIN_DIR"] = str(pathlib.Path(arguments.bin).resolve())
    from service import Service, wait_for, write_points

    service = Service("--queued-jobs-max", "0", "--active-sweeps-max", str(arguments.sweeps))
    try:
        write_points(service.data / "points")
        service.start()
        service.dataset("points", "csv", {"group_column": "family"})
        print(json.dumps({"sweeps": 0, "idle": idle(service, arguments.seconds)}), flush=True)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda number: held_sweep(service, number), range(arguments.sweeps)))
        wait_for(lambda: len(waiting_jobs(service)) == arguments.sweeps, "a job of each sweep", 300, 0.5)
        time.sleep(5)
        print(json.dumps({"sweeps": arguments.sweeps, "idle": idle(service, arguments.seconds)}), flush=True)
        print(json.dumps({"sweeps": arguments.sweeps, "ending": end_trials(service, min(arguments.ends, arguments.sweeps), wait_for)}), flush=True)
    finally:
        service.close()


if __name__ == "__main__":
    main()
