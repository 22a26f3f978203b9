#!/usr/bin/env python3
"""How fast a full queue drains: N lenet jobs of one epoch on 500 real digits, queued at once on 8 single cores.

Prints one JSON line: jobs, jobs_per_minute, submit_s, first_step_after_start_s and first_step_after_submit_s (p50, p99),
double_booked (must be 0), all_succeeded. Data: mnist10k of SLIPWAY_TEST_DATA (default ../shared/data).

usage: bench/queue_drain.py [--jobs 200] [--bin build/release/bin]
"""
import argparse
import gzip
import json
import os
import pathlib
import struct
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))


def write_digits(source, target, count):
    """The first `count` images and labels, as idx files."""
    target.mkdir(parents=True)
    images = gzip.decompress((source / "t10k-images-idx3-ubyte.gz").read_bytes())
    labels = gzip.decompress((source / "t10k-labels-idx1-ubyte.gz").read_bytes())
    (target / "digits-images-idx3-ubyte").write_bytes(struct.pack(">4B3I", 0, 0, 8, 3, count, 28, 28) + images[16:16 + 784 * count])
    (target / "digits-labels-idx1-ubyte").write_bytes(struct.pack(">4BI", 0, 0, 8, 1, count) + labels[8:8 + count])


def percentile(values, share):
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    arguments = parser.parse_args()
    os.environ["SLIPWAY_BIN_DIR"] = str(pathlib.Path(arguments.bin).resolve())
    from service import DATA, Service, wait_for
    from test_queue import DOUBLE_BOOKED

    service = Service()
    try:
        write_digits(DATA / "mnist10k", service.data / "digits", 500)
        service.start()
        service.dataset("digits", "idx")
        spec = {"model": {"arch": "lenet"}, "task": {"type": "classification"},
                "data": {"dataset": "digits", "split": {"val_fraction": 0.2, "seed": 0}},
                "train": {"epochs": 1, "batch_size_per_core": 32, "optimizer": {"name": "sgd", "lr": 0.05, "momentum": 0.9}},
                "accelerator": {"cores": 1}, "monitor": {"log_every_steps": 1}}
        began = time.monotonic()
        jobs = [service.submit({**spec, "name": f"drain {i}"}) for i in range(arguments.jobs)]
        submit_s = time.monotonic() - began

        def drained():
            counts = {state: int(n) for state, n in service.sql("select state, count(*) from job group by state")}
            return counts if counts.get("succeeded", 0) + counts.get("failed", 0) == len(jobs) else None

        counts = wait_for(drained, "the queue to drain", 1800, 0.5)
        wall_s = time.monotonic() - began
        rows = service.sql("""
            select extract(epoch from j.created_at), extract(epoch from j.started_at),
                   (select min(extract(epoch from e.created_at)) from job_event e where e.job_id = j.id and e.type = 'metric')
            from job j""")
        after_submit = [float(step) - float(created) for created, started, step in rows]
        after_start = [float(step) - float(started) for created, started, step in rows]
        print(json.dumps({
            "jobs": len(jobs), "all_succeeded": counts.get("succeeded") == len(jobs),
            "jobs_per_minute": round(60 * len(jobs) / wall_s, 1), "submit_s": round(submit_s, 2),
            "first_step_after_submit_s": {"p50": percentile(after_submit, 0.5), "p99": percentile(after_submit, 0.99)},
            "first_step_after_start_s": {"p50": percentile(after_start, 0.5), "p99": percentile(after_start, 0.99)},
            "double_booked": len(service.sql(DOUBLE_BOOKED))}))
    finally:
        service.close()


if __name__ == "__main__":
    main()
