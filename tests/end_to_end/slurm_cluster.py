"""A Slurm cluster on this machine for one test class, started and stopped by deploy/slurm/up and down."""
import contextlib
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from service import SOURCE, wait_for

UP, DOWN = SOURCE / "deploy/slurm/up", SOURCE / "deploy/slurm/down"
SBIN = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin"))


def missing():
    """Why there can be no cluster here; None when there can."""
    if os.getuid() != 0:
        return "Slurm's daemons run as root"
    absent = [name for name in ("munged", "slurmctld", "slurmd", "srun") if not shutil.which(name, path=SBIN)]
    return f"not installed: {', '.join(absent)} (deploy/slurm/packages.txt)" if absent else None


def free_ports(count):
    """The first of `count` ports in a row that nobody has, below those that the system gives out."""
    for _ in range(200):
        first = random.randrange(18000, 32000)
        with contextlib.ExitStack() as probes:
            try:
                for port in range(first, first + count):
                    probes.enter_context(socket.socket()).bind(("127.0.0.1", port))
                return first
            except OSError:
                continue
    raise AssertionError(f"no {count} free ports in a row")


class Cluster:
    def __init__(self, hosts=2, cpus=8):
        if reason := missing():
            raise unittest.SkipTest(reason)
        self.hosts, self.cpus = hosts, cpus
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="slipway-slurm-"))
        self.port = free_ports(hosts + 1)
        self.environment = dict(os.environ, SLURM_CONF=str(self.folder / "slurm.conf"), PATH=SBIN)

    def up(self, *options, check=0):
        words = [UP, "--folder", self.folder, "--port", str(self.port), "--hosts", str(self.hosts), "--cpus", str(self.cpus), *options]
        done = subprocess.run(words, capture_output=True, text=True, timeout=300)
        assert done.returncode == check, (done.returncode, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def down(self, *options, check=0):
        done = subprocess.run([DOWN, "--folder", self.folder, *options], capture_output=True, text=True, timeout=300)
        assert done.returncode == check, (done.returncode, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def close(self):
        for name in self.daemons():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid(name), signal.SIGCONT)
        # What a failed test has left must not keep the daemons alive.
        self.down("--jobs")
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, *words, check=0):
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=120, env=self.environment, cwd="/")
        assert done.returncode == check, (words, done.returncode, done.stdout + done.stderr)
        return done.stdout

    def queue(self):
        """(number, state, name) of what waits or runs."""
        return [tuple(line.split("|")) for line in self.run("squeue", "--noheader", "--all", "--format=%i|%T|%j").splitlines()]

    def wait_empty(self, limit_s=60):
        wait_for(lambda: not self.queue(), "an empty queue of Slurm", limit_s)

    def wait_saved(self, number, limit_s=30):
        """Until slurmctld has written what it knows of the jobs by now. It writes only after a change, so one is made."""
        now = time.time()
        self.run("scontrol", "update", f"JobId={number}", "AdminComment=saved")
        file = self.folder / "state" / "job_state"
        wait_for(lambda: file.exists() and file.stat().st_mtime >= now, "slurmctld to save its state", limit_s)

    # ---- daemons --------------------------------------------------------------
    def daemons(self):
        return [file.stem for file in sorted((self.folder / "run").glob("*.pid"))]

    def pid(self, name):
        return int((self.folder / "run" / f"{name}.pid").read_text())

    def kill(self, name, number=signal.SIGKILL):
        pid = self.pid(name)
        os.kill(pid, number)
        if number == signal.SIGKILL:
            wait_for(lambda: not is_alive(pid), f"{name} to be gone", 30)


def start_cluster(case, hosts=2):
    """`case.cluster`, whose Slurm the programs of this test class use; it ends with the class."""
    case.cluster = Cluster(hosts=hosts, cpus=8)
    case.addClassCleanup(case.cluster.close)
    case.cluster.up()
    os.environ["SLURM_CONF"] = case.cluster.environment["SLURM_CONF"]
    case.addClassCleanup(os.environ.pop, "SLURM_CONF")


def is_alive(pid):
    """A zombie, which only waits to be reaped, is not."""
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    return False
