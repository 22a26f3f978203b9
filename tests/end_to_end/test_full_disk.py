"""Goal: on a full disk the service says so, and its jobs lose nothing: they go on when there is space.
Method: the home is on a small file system in memory, which a file fills. Only root may mount one."""
import os
import pathlib
import subprocess
import tempfile
import unittest
from unittest import mock

import service as services
from service import ENDLESS_EPOCHS, Service, points_job, wait_for, write_points


@unittest.skipIf(os.getuid() != 0, "needs root to mount a file system")
class FullDisk(unittest.TestCase):
    def setUp(self):
        self.disk = pathlib.Path(tempfile.mkdtemp(prefix="slipway-full-", dir=services.home_parent()))
        self.addCleanup(self.disk.rmdir)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400m,mode=755", "tmpfs", self.disk], capture_output=True).returncode:
            self.skipTest("file systems cannot be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", self.disk], check=True)
        with mock.patch.object(services, "home_parent", lambda: str(self.disk)):
            self.service = Service("--cores", "2")
        self.addCleanup(self.service.close)
        write_points(self.service.data / "points")
        self.service.start()
        self.service.dataset("points", "csv", {"group_column": "family"})

    def fill(self):
        filler = self.disk / "filler"
        with open(filler, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1 << 16))
            except OSError:
                pass
        return filler

    def test_requests_say_it_and_jobs_go_on_later(self):
        jobs = [self.service.submit(points_job(train={"epochs": ENDLESS_EPOCHS}, checkpoint={"every_steps": 500, "keep_last": 1}))
                for _ in range(2)]
        for job in jobs:
            self.service.wait_state(job, "running")
            wait_for(lambda: self.service.get(f"/v1/jobs/{job}/checkpoints")["items"], "a checkpoint")
        self.assertIn("slipway_disk_free_bytes ", self.service.call("GET", "/metrics").body.decode())
        filler = self.fill()
        answer = wait_for(lambda: (answer := self.service.call("GET", "/readyz", token=None)).status == 503 and answer, "503")
        self.assertEqual(answer.json["code"], "disk_full")
        # The database has some room in its files, for a while.
        refused = wait_for(lambda: (answer := self.service.call("POST", "/v1/jobs", points_job())).status != 201 and answer,
                           "a submission that is refused", pause_s=0)
        self.assertEqual((refused.status, refused.json["code"]), (507, "disk_full"), refused.body)
        self.assertNotIn("base/", refused.body.decode())
        wait_for(lambda: not self.service.executors(jobs[0]) and not self.service.executors(jobs[1]), "both executors to end")
        filler.unlink()
        wait_for(lambda: self.service.is_ready(), "readiness")
        for job in jobs:
            ended = wait_for(lambda: self.service.job(job)["state"] != "running" and self.service.get(f"/v1/jobs/{job}/attempts")["items"],
                             "the end of the attempt")[0]
            self.assertNotEqual(ended["exit_kind"], "crashed", ended)
            self.assertRegex(ended["message"], "disk .*is full")
        for job in jobs:
            found = self.service.wait_state(job, "running", limit_s=200)
            self.assertEqual(found["restarts"], 0)
            self.assertEqual(self.service.call("POST", f"/v1/jobs/{job}/cancel").status, 200)
            self.service.wait_end(job)


if __name__ == "__main__":
    unittest.main()
