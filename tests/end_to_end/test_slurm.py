"""Goal: attempts that run as jobs of Slurm end as those of this machine do, with the same bits, whatever is killed.
Method: the real service on a real cluster of two hosts on this machine, which deploy/slurm/up starts."""
import fcntl
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import unittest

from service import BIN, ENDLESS_EPOCHS, points_job, serve_points, wait_for
from slurm_cluster import start_cluster

LONG = {"train": {"epochs": 120}, "checkpoint": {"every_epochs": 4, "keep_last": 2}, "monitor": {"log_every_steps": 20}}


def long_job(name, **changes):
    return points_job(name=name, **{**LONG, **changes})


class SlurmService(unittest.TestCase):
    """One cluster and one service that uses it."""
    @classmethod
    def setUpClass(cls):
        start_cluster(cls)
        serve_points(cls, ("--launcher", "slurm"), rows=4000)
        cls.bits = {}

    def tearDown(self):
        self.cluster.wait_empty()

    def slurm_job(self, job_id):
        """Number of the job of Slurm in which it runs, once it does."""
        def running():
            return next((number for number, state, name in self.cluster.queue()
                         if name.startswith(f"{job_id}/") and state == "RUNNING"), None)
        return wait_for(running, f"{job_id} to run in Slurm")

    def executor_of(self, job_id):
        return wait_for(lambda: self.service.executors(job_id), f"an executor of {job_id}")[0]

    def mid_job(self, job_id):
        """Until a checkpoint is kept."""
        self.service.wait_said(job_id, "checkpoint")

    def undisturbed(self):
        """Weights of the long job, of a run that nothing has happened to."""
        if "long" not in self.bits:
            job_id = self.service.submit(long_job("undisturbed"))
            self.assertEqual(self.service.wait_end(job_id)["state"], "succeeded")
            self.bits["long"] = self.service.newest_weights(job_id)
        return self.bits["long"]

    def assert_ends_like_undisturbed(self, job_id, attempts):
        ended = self.service.wait_end(job_id)
        self.assertEqual(ended["state"], "succeeded", ended.get("reason"))
        self.assertEqual(len(self.service.get(f"/v1/jobs/{job_id}/attempts")["items"]), attempts)
        self.assertEqual(self.service.newest_weights(job_id), self.undisturbed())

    # ---- stopping ---------------------------------------------------------------
    def test_a_cancelled_job_ends_in_slurm(self):
        job_id = self.service.submit(long_job("cancelled", train={"epochs": ENDLESS_EPOCHS}))
        self.mid_job(job_id)
        self.service.post(f"/v1/jobs/{job_id}/cancel", {})
        self.assertEqual(self.service.wait_end(job_id)["state"], "cancelled")
        self.assertFalse(self.service.executors(job_id))

    # ---- faults -----------------------------------------------------------------
    def test_a_killed_executor_goes_on_from_its_checkpoint(self):
        job_id = self.service.submit(long_job("executor killed"))
        executor = self.executor_of(job_id)
        self.mid_job(job_id)
        os.kill(executor, signal.SIGKILL)
        self.assert_ends_like_undisturbed(job_id, attempts=2)

    def test_a_job_that_somebody_cancels_in_slurm_goes_on_from_its_checkpoint(self):
        job_id = self.service.submit(long_job("scancelled"))
        number = self.slurm_job(job_id)
        self.mid_job(job_id)
        self.cluster.run("scancel", number)
        self.assert_ends_like_undisturbed(job_id, attempts=2)

    def test_a_killed_service_takes_its_job_over(self):
        job_id = self.service.submit(long_job("service killed"))
        before = self.slurm_job(job_id)
        self.mid_job(job_id)
        self.service.kill()
        self.service.start()
        self.assert_ends_like_undisturbed(job_id, attempts=1)
        self.assertNotIn(before, [number for number, _, _ in self.cluster.queue()])


class SlurmSettings(unittest.TestCase):
    """Of slipwayd, without a service."""

    def slipwayd(self, *words, environment=None, check=0):
        done = subprocess.run([BIN / "slipwayd", *words], capture_output=True, text=True, timeout=60,
                              env=dict(os.environ, **(environment or {})))
        if check is not None:
            self.assertEqual(done.returncode, check, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_they_are_printed_as_they_are_read(self):
        said = self.slipwayd("serve", "--launcher", "slurm", "--slurm-partition", "main", "--slurm-options=--account=ml --qos=low",
                             "--print-config")
        for line in ('launcher="slurm"', 'slurm-partition="main"', 'slurm-options="--account=ml --qos=low"'):
            self.assertIn(line, said.replace(" = ", "="))

    def test_what_cannot_be_given_is_named(self):
        for words, said in ((("--launcher", "kubernetes"), "--launcher"),
                            (("--launcher", "slurm", "--slurm-options=--output=/etc/passwd"), "--output=/etc/passwd"),
                            (("--launcher", "slurm", "--slurm-options=script.sh"), "script.sh"),
                            (("--launcher", "slurm", "--slurm-partition", "a b"), "--slurm-partition"),
                            (("--slurm-partition", "main"), "--launcher slurm and --slurm-hosts only")):
            self.assertIn(said, self.slipwayd("serve", *words, "--print-config", check=2))

    def test_doctor_says_that_slurm_does_not_answer(self):
        said = self.slipwayd("doctor", "--launcher", "slurm", environment={"SLURM_CONF": "/nonexistent/slurm.conf"}, check=1)
        self.assertRegex(said, r"NO\s+slurm\s+\S")


# Of a cluster with one node, whose address is the first word.
SINFO = """#!/bin/sh
case "$*" in *--Node*) echo "node1 {address}" ;; *) echo "1 idle" ;; esac
"""


class SlurmAddress(unittest.TestCase):
    """What `slipwayd doctor` says of it. Method: programs on the PATH that stand for Slurm's."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        (self.folder / name).chmod(0o755)

    def said(self, *words, node="127.0.0.1", home="home"):
        """The line of the address."""
        self.write("sinfo", SINFO.format(address=node))
        self.write("scontrol", "#!/bin/sh\n")
        done = subprocess.run([BIN / "slipwayd", "doctor", "--home", self.folder / home, "--launcher", "slurm", *words], capture_output=True,
                              text=True, timeout=60, env=dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}"))
        lines = [line for line in done.stdout.splitlines() if " slurm address " in line]
        self.assertEqual(len(lines), 1, done.stdout + done.stderr)
        return lines[0]

    def test_it_is_not_needed_where_all_nodes_are_this_machine(self):
        self.assertRegex(self.said(), "^ok .*not needed")
        self.assertRegex(self.said("--slurm-address", "127.0.0.1"), "^ok .*127.0.0.1$")

    def test_it_is_needed_where_a_node_is_another_machine(self):
        self.assertRegex(self.said(node="192.0.2.7"), "^NO .*node1 is another machine: give --slurm-address")

    def test_it_must_be_reached_by_the_nodes(self):
        self.assertRegex(self.said("--slurm-address", "127.0.0.1", node="192.0.2.7"), "^NO .*127.0.0.1 is reached from this machine only")

    def test_it_must_be_of_this_machine(self):
        self.assertRegex(self.said("--slurm-address", "192.0.2.8"), "^NO .*cannot listen at 192.0.2.8")

    def test_the_port_must_be_free_unless_the_service_itself_has_it(self):
        home = self.folder / "home"
        home.mkdir()
        with socket.socket() as taken, open(home / "slipwayd.lock", "w") as lock:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            words = ("--slurm-address", "127.0.0.1", "--slurm-port", str(taken.getsockname()[1]))
            self.assertRegex(self.said(*words), "^NO .*cannot listen at 127.0.0.1 port")
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertRegex(self.said(*words), "^ok .*slipwayd is running")


if __name__ == "__main__":
    unittest.main()
