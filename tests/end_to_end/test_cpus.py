"""Goal: each worker thread of a job is kept on a CPU that no other job's worker is kept on, never outside of what its
process may use, and the report says where. Method: real executors, looked at through /proc."""
import contextlib
import json
import os
import pathlib
import socket
import subprocess
import tempfile
import unittest

from service import BIN, ENDLESS_EPOCHS, points_job, serve_points, wait_for

CPUS = sorted(os.sched_getaffinity(0))


def claims_are_free():
    """No executor of this machine holds a CPU: one that is not ours may."""
    with contextlib.ExitStack() as stack:
        for cpu in CPUS:
            claim = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
            try:
                claim.bind(f"\0slipway-cpu-{cpu}")
            except OSError:
                return False
    return True


def kept_now(process):
    """The CPUs that threads of the process are kept on at this moment."""
    kept = set()
    for task in pathlib.Path(f"/proc/{process}/task").iterdir():
        with contextlib.suppress(ProcessLookupError, FileNotFoundError):
            mask = os.sched_getaffinity(int(task.name))
            if len(mask) == 1:
                kept |= mask
    return kept


def kept_threads(processes, count):
    """The CPUs that threads of each process are kept on: `count` of them in all. The training thread, which is a worker
    too, is kept during its steps only, so it may take several looks."""
    seen = [set() for _ in processes]

    def look():
        for process, cpus in zip(processes, seen):
            cpus |= kept_now(process)
        return sum(map(len, seen)) >= count

    wait_for(look, f"{count} kept threads")
    return [sorted(cpus) for cpus in seen]


@unittest.skipIf(len(CPUS) < 2, "one CPU: a kept thread looks like any other")
class Cpus(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        serve_points(cls, rows=500)

    def setUp(self):
        if not claims_are_free():
            self.skipTest("another service's job runs on this machine")

    def long_job(self, cores):
        # Steps so long that as many threads pay as may run.
        job = self.service.submit(points_job(accelerator={"cores": cores}, model={"width": 1024, "depth": 4}, train={
            "epochs": ENDLESS_EPOCHS, "batch_size_per_core": 16, "optimizer": {"name": "sgd", "lr": 0.001}}))
        self.service.wait_state(job, "running")
        process = wait_for(lambda: self.service.executors(job), "its process")[0]
        return job, process

    def kept_in_report(self, job):
        report = wait_for(lambda: (answer := self.service.call("GET", f"/v1/jobs/{job}/report")).status == 200
                          and answer.json, "a report")
        return sorted(worker["cpu"] for worker in report["workers"] if worker["cpu"] is not None)

    def test_jobs_beside_each_other_are_kept_apart_and_what_is_too_many_runs_anywhere(self):
        jobs = [self.long_job(1) for _ in range(min(8, len(CPUS) + 1))]
        threads = len(jobs) * max(1, len(CPUS) // 8)
        kept = kept_threads([process for _, process in jobs], min(threads, len(CPUS)))
        pinned = [cpu for one in kept for cpu in one]
        self.assertEqual(len(pinned), len(set(pinned)), kept)
        self.assertTrue(set(pinned) <= set(CPUS))
        for job, process in jobs:
            self.service.post(f"/v1/jobs/{job}/kill", {})
        for (job, _), one in zip(jobs, kept):
            self.service.wait_end(job)
            self.assertEqual(self.kept_in_report(job), one)

    def test_a_job_of_all_cores_has_every_cpu_and_gives_them_back(self):
        for _ in range(2):
            job, process = self.long_job(8)
            kept_threads([process], min(8, len(CPUS)))
            self.service.post(f"/v1/jobs/{job}/kill", {})
            self.service.wait_end(job)
            wait_for(claims_are_free, "the CPUs to be free")

    def test_a_narrower_mask_is_kept_to(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            spec = points_job(accelerator={"cores": 8})
            (folder / "job.json").write_text(json.dumps(spec))
            done = subprocess.run(
                [BIN / "slipway-executor", "run", folder / "job.json", "--data", self.service.data / "points", "--format",
                 "csv", "--options", json.dumps({"group_column": "family"}), "--out", folder / "out"],
                capture_output=True, text=True, preexec_fn=lambda: os.sched_setaffinity(0, {CPUS[-1]}))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            report = json.loads((folder / "out" / "report.json").read_text())
            self.assertEqual([worker["cpu"] for worker in report["workers"]], [CPUS[-1]])


if __name__ == "__main__":
    unittest.main()
