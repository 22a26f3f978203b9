"""Goal: a slice is one job of Slurm: its members start together, end together, and train like one process.
Method: the real service as two virtual hosts on a real cluster of two hosts on this machine, and kills."""
import contextlib
import json
import os
import pathlib
import signal
import unittest

import slurm_service
from service import ENDLESS_EPOCHS, wait_for

LONG_EPOCHS = 3


class SlurmSlices(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        slurm_service.start(cls, settings=("--virtual-hosts", "2", "--host-name", "pod"))
        cls.bits = {}

    def tearDown(self):
        self.cluster.wait_empty()
        self.assertEqual(self.service.executors(), [])
        self.assertEqual(self.service.sql("select count(*) from lease"), [["0"]])

    def submit(self, name, epochs=LONG_EPOCHS):
        return self.service.submit(slurm_service.slice_job(name, 16, epochs))

    def attempts(self, job_id):
        return self.service.get(f"/v1/jobs/{job_id}/attempts")["items"]

    def one_process(self, epochs):
        """Weights of sixteen replicas in one process, without a service."""
        if epochs not in self.bits:
            self.bits[epochs] = slurm_service.one_process(self.service, 16, epochs)
        return self.bits[epochs]

    def assert_ends_like_one_process(self, job_id, epochs=LONG_EPOCHS):
        job = self.service.wait_end(job_id, 240)
        self.assertEqual(job["state"], "succeeded", job.get("reason"))
        self.assertEqual(self.service.newest_weights(job_id), self.one_process(epochs))

    def executor_of(self, job_id, rank):
        """Process id of the executor of this member."""
        attempt = max(1, len(self.attempts(job_id)))
        part = f"{attempt}.{rank}" if rank else f"{attempt}"
        folder = f"{self.service.home}/runs/{job_id}/{part}".encode()

        def found():
            for pid in self.service.executors(job_id):
                with contextlib.suppress(OSError):
                    if folder in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                        return pid
        return wait_for(found, f"rank {rank} of {job_id}")

    @contextlib.contextmanager
    def stopped(self, job_id):
        """Its executors compute nothing meanwhile."""
        executors = [self.executor_of(job_id, rank) for rank in (0, 1)]
        try:
            for process in executors:
                os.kill(process, signal.SIGSTOP)
            yield
        finally:
            for process in executors:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGCONT)

    # ---- one job of Slurm -------------------------------------------------------
    def test_it_is_one_job_and_gives_the_weights_of_one_process(self):
        job_id = self.submit("bits", epochs=2)
        number = slurm_service.slurm_number(self.cluster, job_id)
        shown = self.cluster.run("scontrol", "show", "job", number)
        for fact in ("NumNodes=2", "NumTasks=2", "CPUs/Task=8", "NodeList=node[1-2]", "Requeue=0"):
            self.assertIn(fact, shown)
        self.assertEqual(len([name for _, _, name in self.cluster.queue() if name.startswith(job_id)]), 1)
        self.assert_ends_like_one_process(job_id, epochs=2)
        members = self.attempts(job_id)[-1]["members"]
        self.assertEqual([(member["rank"], member["exit_kind"]) for member in members], [(0, "succeeded"), (1, "succeeded")])

    def test_nothing_secret_can_be_read_by_others(self):
        job_id = self.submit("secrets", ENDLESS_EPOCHS)
        number = slurm_service.slurm_number(self.cluster, job_id)
        slurm_service.mid_job(self.service, job_id)
        fence = self.service.sql(f"select fence from attempt where job_id = '{job_id}'")[0][0]
        order = json.loads((self.service.home / "runs" / job_id / "1" / "attempt.json").read_text())
        secrets = (fence, order["member"]["secret"])
        said = self.cluster.run("scontrol", "show", "job", "-d", number) + self.cluster.run("scontrol", "write", "batch_script", number, "-")
        for entry in pathlib.Path("/proc").iterdir():
            for name in ("cmdline", "environ"):
                with contextlib.suppress(OSError):
                    said += (entry / name).read_text(errors="replace") if entry.name.isdigit() else ""
        for secret in secrets:
            self.assertGreater(len(secret), 20)
            self.assertNotIn(secret, said)
        for file in (*(self.service.home / "slurm").rglob("*"), self.service.home / "runs" / job_id / "1" / "attempt.json"):
            self.assertEqual(file.stat().st_mode & 0o077, 0, file)
        self.service.post(f"/v1/jobs/{job_id}/cancel", {})
        self.assertEqual(self.service.wait_end(job_id)["state"], "cancelled")

    def test_a_slice_that_waits_in_slurm_says_so_and_can_be_cancelled(self):
        other = self.cluster.run("sbatch", "--parsable", "--nodes=1", "--exclusive", "--output=/dev/null", "--wrap", "sleep 600").strip()
        with contextlib.ExitStack() as cleanup:
            cleanup.callback(self.cluster.run, "scancel", other)
            # Behind one that waits itself the reason is another one, and Slurm looks again only after a minute.
            wait_for(lambda: (other, "RUNNING") in [(number, state) for number, state, _ in self.cluster.queue()], "the other job to run", 120)
            job_id = self.submit("waits")
            number = slurm_service.slurm_number(self.cluster, job_id, states=("PENDING",))
            waits = wait_for(lambda: (found := self.service.get(f"/v1/jobs/{job_id}/explain"))["message"].endswith(": Resources") and found,
                             "Slurm's reason", 120)
            self.assertEqual(waits["code"], "waiting_for_slurm", waits)
            self.assertEqual(waits["message"], f"job {number} of Slurm is PENDING: Resources")
            self.assertEqual(self.service.job(job_id)["state"], "starting")
            self.service.post(f"/v1/jobs/{job_id}/cancel", {})
            self.assertEqual(self.service.wait_end(job_id)["state"], "cancelled")
            wait_for(lambda: number not in [found for found, _, _ in self.cluster.queue()], "the job of Slurm to be gone")

    # ---- faults -----------------------------------------------------------------
    def test_a_killed_rank_ends_all_and_is_named(self):
        for rank in (0, 1):
            job_id = self.submit(f"rank {rank} killed")
            executor = self.executor_of(job_id, rank)
            slurm_service.mid_job(self.service, job_id)
            slurm_service.kill(executor)
            self.assert_ends_like_one_process(job_id)
            first = self.attempts(job_id)[0]
            self.assertEqual(first["exit_kind"], "crashed", first)
            self.assertRegex(first["message"], rf"rank {rank} on host pod\S*: .*signal 9.* task {rank} of job \d+ of Slurm on node node\d")
            self.assertEqual(len(self.attempts(job_id)), 2)

    def test_a_job_that_somebody_cancels_in_slurm_goes_on_from_its_checkpoint(self):
        job_id = self.submit("scancelled")
        number = slurm_service.slurm_number(self.cluster, job_id)
        slurm_service.mid_job(self.service, job_id)
        self.cluster.run("scancel", number)
        self.assert_ends_like_one_process(job_id)
        self.assertEqual(len(self.attempts(job_id)), 2)

    def test_a_killed_service_takes_its_members_over(self):
        job_id = self.submit("service killed")
        slurm_service.mid_job(self.service, job_id)
        self.service.kill()
        self.service.start()
        self.assert_ends_like_one_process(job_id)
        self.assertEqual(len(self.attempts(job_id)), 1)

    def test_killed_daemons_of_slurm_end_nothing(self):
        job_id = self.submit("daemons killed")
        slurm_service.mid_job(self.service, job_id)
        with self.stopped(job_id):
            # slurmctld writes its state up to 5 s late. Killed before, it takes the job for one that has not begun, and ends it.
            self.cluster.wait_saved(slurm_service.slurm_number(self.cluster, job_id))
            for daemon in ("slurmctld", "slurmd-node2"):
                self.cluster.kill(daemon)
        self.cluster.up()
        self.assert_ends_like_one_process(job_id)
        self.assertEqual(len(self.attempts(job_id)), 1)


class SlurmSlicesOnFourHosts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        slurm_service.start(cls, hosts=4, settings=("--virtual-hosts", "4", "--host-name", "pod", "--job-memory-mib", "8000"))

    def test_thirty_two_cores_give_the_weights_of_one_process(self):
        job_id = self.service.submit(slurm_service.slice_job("four hosts", 32))
        number = slurm_service.slurm_number(self.cluster, job_id)
        self.assertIn("NodeList=node[1-4]", self.cluster.run("scontrol", "show", "job", number))
        job = self.service.wait_end(job_id, 240)
        self.assertEqual(job["state"], "succeeded", job.get("reason"))
        self.assertEqual(self.service.newest_weights(job_id), slurm_service.one_process(self.service, 32, 1))
        self.cluster.wait_empty()


if __name__ == "__main__":
    unittest.main()
