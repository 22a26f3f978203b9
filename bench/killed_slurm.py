#!/usr/bin/env python3
"""Slices over Slurm while something is killed: kill -9 at random moments of a job of sixteen cores on a cluster of two hosts.

What is killed: a slurmd, slurmctld, slipwayd, the executor of a random rank; what does not come back by itself is started again. The
moments are drawn from the time for which a job that nobody touched was `running`, and count from when the job is. A kill counts only if
the job was `running` just before; otherwise, another job is killed.
Each job must end `succeeded` with the weights, bit by bit, of one that nobody touched, nothing may be left in Slurm, as a process or
as a lease. slurmctld that is killed within 5 s of a job's start may end that job, which goes on from its last checkpoint: these jobs
need the same bits, too. Prints one JSON line: for each kind the jobs, the kills, the jobs that succeeded, those with other bits, those
that needed another attempt, attempts at the most, and the moments (seconds after `running`) of those that went wrong.

usage: bench/killed_slurm.py [--moments 20] [--kinds slurmd,slurmctld,slipwayd,rank] [--epochs 12] [--seed 1]
As root, with the packages of deploy/slurm/packages.txt; SLIPWAY_BIN_DIR names other programs than build/release/bin.
"""
import argparse
import json
import os
import pathlib
import random
import signal
import sys
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))
KINDS = ("slurmd", "slurmctld", "slipwayd", "rank")


class Slices(unittest.TestCase):
    """Holds what is started for one measurement; nothing here is a test."""


class Kills:
    """Each way returns whether it has killed something of a job that went on."""

    def __init__(self, case, chance):
        self.cluster, self.service, self.chance = case.cluster, case.service, chance

    def slurmd(self, _):
        self.cluster.kill(self.chance.choice(("slurmd-node1", "slurmd-node2")))
        self.cluster.up()
        return True

    def slurmctld(self, _):
        self.cluster.kill("slurmctld")
        self.cluster.up()
        return True

    def slipwayd(self, _):
        self.service.kill()
        self.service.start()
        return True

    def rank(self, job_id):
        executors = self.service.executors(job_id)
        if not executors:
            return False
        os.kill(self.chance.choice(executors), signal.SIGKILL)
        return True


def wait_running(service, job_id):
    """Until it is `running`, or has ended."""
    from service import FINAL_STATES, wait_for
    wait_for(lambda: service.job(job_id)["state"] in FINAL_STATES | {"running"}, f"{job_id} to run", 120, 0.02)


class Campaign:
    """The jobs so far, compared with the one that nobody touched."""

    def __init__(self, case, epochs, chance):
        self.case, self.service, self.epochs, self.chance = case, case.service, epochs, chance
        self.kills = Kills(case, chance)
        job_id = self.submit("undisturbed")
        wait_running(self.service, job_id)
        begun = time.monotonic()
        assert self.service.wait_end(job_id, 600)["state"] == "succeeded"
        self.running_s, self.bits = time.monotonic() - begun, self.service.newest_weights(job_id)

    def submit(self, name):
        import slurm_service
        return self.service.submit(slurm_service.slice_job(name, 16, self.epochs))

    def one_job(self, kind, moment_s):
        """What came of one job at whose moment something was killed: whether it was, the job, its weights."""
        from service import wait_for
        job_id = self.submit(f"{kind} {moment_s:.1f}")
        wait_running(self.service, job_id)
        time.sleep(moment_s)
        killed = self.service.job(job_id)["state"] == "running" and getattr(self.kills, kind)(job_id)
        job = self.service.wait_end(job_id, 600)
        self.case.cluster.wait_empty(120)
        wait_for(lambda: not self.service.executors(), "executors to be gone", 30)
        wait_for(lambda: self.service.sql("select count(*) from lease") == [["0"]], "leases to be gone", 30)
        return killed, job, self.service.newest_weights(job_id) if job["state"] == "succeeded" else None

    def kill_all(self, kind, of_kind, count):
        while of_kind["kills"] < count:
            moment_s = self.chance.uniform(0, self.running_s)
            killed, job, weights = self.one_job(kind, moment_s)
            of_kind["jobs"] += 1
            of_kind["kills"] += killed
            of_kind["succeeded"] += job["state"] == "succeeded"
            of_kind["other_bits"] += weights is not None and weights != self.bits
            of_kind["other_attempts"] += job["attempts"] > 1
            of_kind["attempts_max"] = max(of_kind["attempts_max"], job["attempts"])
            if weights != self.bits:
                of_kind["wrong_at_s"].append(round(moment_s, 2))
                print(kind, moment_s, job["state"], job.get("reason"), file=sys.stderr)
            print(f"{kind} at {moment_s:.2f} s, {job['attempts']} attempts: {of_kind}", file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--moments", type=int, default=20)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    kinds = given.kinds.split(",")
    if unknown := set(kinds) - set(KINDS):
        parser.error(f"--kinds has {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
    import slurm_service
    figures = {}
    try:
        slurm_service.start(Slices, settings=("--virtual-hosts", "2", "--host-name", "pod"))
        campaign = Campaign(Slices, given.epochs, random.Random(given.seed))
        figures["undisturbed_s"] = round(campaign.running_s, 1)
        print(f"undisturbed: running for {campaign.running_s:.1f} s", file=sys.stderr, flush=True)
        for kind in kinds:
            figures[kind] = {"jobs": 0, "kills": 0, "succeeded": 0, "other_bits": 0, "other_attempts": 0, "attempts_max": 0, "wrong_at_s": []}
            campaign.kill_all(kind, figures[kind], given.moments)
    finally:
        Slices.doClassCleanups()
    print(json.dumps(figures))
    return 0 if all(not each["wrong_at_s"] for each in figures.values() if isinstance(each, dict)) else 1


if __name__ == "__main__":
    sys.exit(main())
