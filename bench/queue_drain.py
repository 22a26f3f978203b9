#!/usr/bin/env python3
"""How fast a full queue drains: N lenet jobs of one epoch on 500 real digits, queued at once on 8 single cores.

Prints one JSON line: jobs, jobs_per_minute, submit_s, first_step_after_start_s and first_step_after_submit_s (p50, p99),
double_booked (must be 0), all_succeeded, disk_kb_per_job (what jobs leave in the home folder, without the database), and where the CPU
time goes: cpu_ms_per_job by program, cpu_ms_of_training (one epoch of such a job: what twenty more epochs cost, by hand) and
training_share, that over the sum. Data: mnist10k of SLIPWAY_TEST_DATA (default ../shared/data).

usage: bench/queue_drain.py [--jobs 200] [--bin build/release/bin] [--lean] [-- OPTION OF SLIPWAYD ...]
--lean: as a sweep asks of its trials: no last checkpoint, no report, no sinks
"""
import argparse
import copy
import gzip
import json
import os
import pathlib
import resource
import struct
import subprocess
import sys
import tempfile
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


def cpu_seconds(process):
    """Of a process, and of its children that have ended; nothing of one that is gone: its parent counts it."""
    try:
        return read_cpu_seconds(process)
    except (FileNotFoundError, ProcessLookupError):    # the second: it ended between opening and reading
        return 0.0, 0.0


def read_cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    own, ended = sum(map(int, fields[11:13])), sum(map(int, fields[13:15]))
    tick = os.sysconf("SC_CLK_TCK")
    return own / tick, ended / tick


def children_of(process):
    return [int(word) for file in pathlib.Path(f"/proc/{process}/task").glob("*/children") for word in file.read_text().split()]


def cpu_by_program(service):
    """CPU seconds until now: slipwayd, its executors, PostgreSQL with all its processes."""
    own, ended = cpu_seconds(service.process.pid)
    postmaster = service.postmaster()
    executors = [one for one in children_of(service.process.pid) if one != postmaster]
    return {"slipwayd": own,
            "executors": ended + sum(sum(cpu_seconds(one)) for one in executors),
            "postgres": sum(cpu_seconds(postmaster)) + sum(sum(cpu_seconds(one)) for one in children_of(postmaster))}


def training_cpu_ms(executor, data, spec, epochs=20):
    """CPU time of one epoch: the difference between two runs by hand."""
    def run(count):
        changed = copy.deepcopy(spec)
        changed["train"]["epochs"] = count
        changed["monitor"]["log_every_steps"] = 1000
        with tempfile.TemporaryDirectory() as folder:
            job = pathlib.Path(folder) / "job.json"
            job.write_text(json.dumps(changed))
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([executor, "run", job, "--out", f"{folder}/out", "--data", data, "--format", "idx", "--workers", "1"],
                           check=True, stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return 1000 * min(run(1 + epochs) - run(1) for _ in range(3)) / epochs


def disk_bytes(home):
    """What is below the home folder, without the database and what is shared by jobs."""
    shared = {"postgres", "data", "cache", "compiled", "packed"}
    files = [file for file in home.rglob("*") if file.is_file() and file.relative_to(home).parts[0] not in shared]
    return sum(file.stat().st_blocks * 512 for file in files)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    parser.add_argument("--lean", action="store_true", help="as a sweep asks: no last checkpoint, no report, no sinks")
    parser.add_argument("options", nargs="*", help="of slipwayd, after --")
    arguments = parser.parse_args()
    os.environ["SLIPWAY_BIN_DIR"] = str(pathlib.Path(arguments.bin).resolve())
    from service import DATA, Service, wait_for
    from test_queue import DOUBLE_BOOKED

    service = Service(*arguments.options)
    try:
        write_digits(DATA / "mnist10k", service.data / "digits", 500)
        service.start()
        service.dataset("digits", "idx")
        spec = {"model": {"arch": "lenet"}, "task": {"type": "classification"},
                "data": {"dataset": "digits", "split": {"val_fraction": 0.2, "seed": 0}},
                "train": {"epochs": 1, "batch_size_per_core": 32, "optimizer": {"name": "sgd", "lr": 0.05, "momentum": 0.9}},
                "accelerator": {"cores": 1}, "monitor": {"log_every_steps": 1}}
        if arguments.lean:
            spec["monitor"].update(sinks=[], metrics_report="never")
            spec["checkpoint"] = {"every_epochs": 0, "save_final": False}
        cpu_before, disk_before = cpu_by_program(service), disk_bytes(service.home)
        began = time.monotonic()
        jobs = [service.submit({**spec, "name": f"drain {i}"}) for i in range(arguments.jobs)]
        submit_s = time.monotonic() - began

        def drained():
            counts = {state: int(n) for state, n in service.sql("select state, count(*) from job group by state")}
            return counts if counts.get("succeeded", 0) + counts.get("failed", 0) == len(jobs) else None

        counts = wait_for(drained, "the queue to drain", 1800, 0.5)
        wall_s = time.monotonic() - began
        cpu_after, disk_after = cpu_by_program(service), disk_bytes(service.home)
        cpu_ms = {name: round(1000 * (cpu_after[name] - cpu_before[name]) / len(jobs), 1) for name in cpu_after}
        training_ms = training_cpu_ms(pathlib.Path(arguments.bin) / "slipway-executor", service.data / "digits", spec)
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
            "double_booked": len(service.sql(DOUBLE_BOOKED)),
            "disk_kb_per_job": round((disk_after - disk_before) / 1024 / len(jobs), 1), "cpu_ms_per_job": cpu_ms,
            "cpu_ms_of_training": round(training_ms, 1), "training_share": round(training_ms / sum(cpu_ms.values()), 3)}))
    finally:
        service.close()


if __name__ == "__main__":
    main()
