#!/usr/bin/env python3
"""Slices whose processes are killed: kill -9 of one rank, of slipwayd and of the other host's agent at random moments of a job.

LeNet on sixteen cores: two hosts, that of `slipwayd serve` and that of a `slipwayd agent` on the same database, which share
a store. What was killed is started again after a while, as systemd would. Each job must end `succeeded` with the weights and
curves of a run that nobody touched, bit by bit, and leave no process. Prints one JSON line: kills by kind, jobs, attempts by how they
ended, jobs with other bits, jobs that left a process, promises of the store that `slipwayd verify` found broken.

usage: bench/killed_slices.py [--kills 60] [--kinds rank slipwayd agent] [--epochs 8] [--seed 1] [--bin build/release/bin]
"""
import argparse
import collections
import contextlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))
KILLS_MAX = 2          # of a job: it waits 15 s and more after later ones
STARTED_AGAIN_S = 8    # at most; leases last as long
CURVES = ("train_loss", "val_loss")


class TwoHosts:
    """A service and the agent of another host."""

    def __init__(self):
        import service
        self.wait_for, self.programs = service.wait_for, service.BIN
        self.service = service.Service("--host-name", "first", "--executor-grace-s", "6")
        self.other_home = self.service.home / "other"
        self.other_home.mkdir(mode=0o755)
        self.agent = None

    def start(self):
        self.service.start()
        (self.other_home / "store").symlink_to(self.service.home / "store")
        self.start_agent()

    def start_agent(self):
        lines = (self.service.home / "postgres" / "data" / "postmaster.pid").read_text().splitlines()
        with open(self.service.home / "agent.log", "ab") as log:
            self.agent = subprocess.Popen(
                [self.programs / "slipwayd", "agent", "--home", self.other_home, "--host-name", "second", "--dataset-root", self.service.data,
                 "--executor-grace-s", "6", "--database", f"postgresql:///slipway?user=slipway&host={lines[4]}&port={lines[3]}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        self.wait_for(self.has_agent, "the second host", 60, 0.2)

    def has_agent(self):
        assert self.agent.poll() is None, "the agent ended; it said:\n" + (self.service.home / "agent.log").read_text()[-3000:]
        return self.service.sql("select 1 from host where name = 'second' and heartbeat_at > clock_timestamp() - interval '5 s'")

    def executors(self, job):
        """Process ids on both hosts."""
        found = self.service.executors(job)
        home, self.service.home = self.service.home, self.other_home
        try:
            return found + self.service.executors(job)
        finally:
            self.service.home = home

    def close(self):
        if self.agent is not None and self.agent.poll() is None:
            self.agent.terminate()
            self.agent.wait(60)
        for process in self.executors(""):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self.service.close()


class Killer:
    """Each way returns whether it has killed something of a job that went on."""

    def __init__(self, hosts, chance, final_states):
        self.hosts, self.service, self.chance, self.final_states = hosts, hosts.service, chance, final_states

    def has_ended(self, job):
        return self.service.job(job)["state"] in self.final_states

    def rank(self, job):
        processes = self.hosts.executors(job)
        if not processes or self.service.job(job)["state"] != "running":
            return False
        os.kill(self.chance.choice(processes), signal.SIGKILL)
        before = self.service.job(job)["attempts"]
        self.hosts.wait_for(lambda: self.service.job(job)["attempts"] > before or self.has_ended(job), "another attempt", 120, 0.05)
        return not self.has_ended(job)

    def slipwayd(self, job):
        if self.service.job(job)["state"] != "running":
            return False
        self.service.kill()
        time.sleep(self.chance.uniform(0, STARTED_AGAIN_S))
        self.service.start()
        return True

    def agent(self, job):
        if self.service.job(job)["state"] != "running":
            return False
        self.hosts.agent.kill()
        self.hosts.agent.wait()
        time.sleep(self.chance.uniform(0, STARTED_AGAIN_S))
        self.hosts.start_agent()
        return True


def spec_of(epochs):
    import slice_jobs
    spec = slice_jobs.on_slice(slice_jobs.job("lenet"), 16)
    return {**spec, "train": {**spec["train"], "epochs": epochs}, "limits": {"max_restarts": 100}}


class Run:
    """The jobs so far, compared with the one that nobody touched."""

    def __init__(self, hosts, spec):
        self.hosts, self.service, self.spec = hosts, hosts.service, spec
        self.kills, self.endings = collections.Counter(), collections.Counter()
        self.jobs, self.other_bits, self.left = 0, [], []
        began = time.monotonic()
        job = self.service.submit(spec)
        assert self.service.wait_end(job, 600)["state"] == "succeeded", self.service.job(job)
        self.took_s, self.bits = time.monotonic() - began, self.bits_of(job)

    def bits_of(self, job):
        return self.service.newest_weights(job), [self.service.metric(job, name) for name in CURVES]

    def one_job(self, killer, kinds, wanted):
        job = self.service.submit(self.spec)
        self.jobs += 1
        killed = 0
        while killed < KILLS_MAX and sum(self.kills.values()) < wanted and not killer.has_ended(job):
            time.sleep(killer.chance.uniform(0, self.took_s))
            kind = min(kinds, key=lambda each: self.kills[each])
            if getattr(killer, kind)(job):
                self.kills[kind] += 1
                killed += 1
        done = self.service.wait_end(job, 600)
        for attempt in self.service.get(f"/v1/jobs/{job}/attempts")["items"]:
            self.endings[attempt["exit_kind"]] += 1
        if done["state"] != "succeeded" or self.bits_of(job) != self.bits:
            self.other_bits.append(job)
            print(f"{job} {done['state']} {done.get('reason')} after {done['attempts']} attempts: other bits", file=sys.stderr)
        with contextlib.suppress(AssertionError):
            self.hosts.wait_for(lambda: not self.hosts.executors(job), "no process", 20)
            return
        self.left.append(job)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--kinds", nargs="+", choices=["rank", "slipwayd", "agent"], default=["rank", "slipwayd", "agent"])
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    arguments = parser.parse_args()
    os.environ["SLIPWAY_BIN_DIR"] = str(pathlib.Path(arguments.bin).resolve())
    import slice_jobs
    from service import FINAL_STATES

    hosts = TwoHosts()
    begun = time.monotonic()
    try:
        slice_jobs.write_digits(hosts.service.data / "digits", 2000)
        hosts.start()
        hosts.service.dataset("digits", "idx")
        run = Run(hosts, spec_of(arguments.epochs))
        killer = Killer(hosts, random.Random(arguments.seed), FINAL_STATES)
        while sum(run.kills.values()) < arguments.kills:
            run.one_job(killer, arguments.kinds, arguments.kills)
            print(f"{dict(run.kills)}, {run.jobs} jobs, {len(run.other_bits)} with other bits", file=sys.stderr, flush=True)
        broken = hosts.service.verify()
        print(json.dumps({"seed": arguments.seed, "kills": sum(run.kills.values()), "by_kind": dict(sorted(run.kills.items())), "jobs": run.jobs,
                          "attempts": dict(sorted(run.endings.items())), "other_bits": len(run.other_bits), "left_processes": len(run.left),
                          "broken_promises": broken, "undisturbed_s": round(run.took_s, 1), "seconds": round(time.monotonic() - begun)}))
    finally:
        hosts.close()
    return 1 if run.other_bits or run.left or broken else 0


if __name__ == "__main__":
    sys.exit(main())
