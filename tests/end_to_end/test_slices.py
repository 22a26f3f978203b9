"""Goal: a job on a slice trains like one process, whatever happens to one of its hosts.
Method: the real service as several virtual hosts; a lenet on two of them, executors that are killed."""
import contextlib
import os
import signal
import subprocess
import unittest

from service import BIN, ENDLESS_EPOCHS, Service, points_job, wait_for, write_points

HOST = "pod"


def lenet_job(**changes):
    spec = {
        "name": "slice", "model": {"arch": "lenet"}, "task": {"type": "classification"},
        "data": {"dataset": "glyphs", "split": {"val_fraction": 0.2, "seed": 0}},
        "train": {"epochs": 2, "batch_size_per_core": 4, "optimizer": {"name": "adam", "lr": 0.001}},
        "accelerator": {"slice": {"cores": 16}}, "monitor": {"log_every_steps": 1}, "checkpoint": {"every_steps": 5}}
    return {**spec, **changes}


def long_job():
    return lenet_job(train={"epochs": ENDLESS_EPOCHS, "batch_size_per_core": 4, "optimizer": {"name": "adam", "lr": 0.001}})


class SlicesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service("--virtual-hosts", "3", "--host-name", HOST)
        cls.addClassCleanup(cls.service.close)
        write_points(cls.service.data / "points")
        subprocess.run([BIN / "slipway-glyphs", "--out", cls.service.data / "glyphs", "--samples", "2000"], check=True,
                       stdout=subprocess.DEVNULL)
        cls.service.start()
        cls.service.dataset("points", "csv", {"group_column": "family"})
        cls.service.dataset("glyphs", "image_csv")

    def members(self, job_id):
        return self.service.get(f"/v1/jobs/{job_id}/attempts")["items"][-1]["members"]

    def trains(self, job_id, steps=3):
        def has_points():
            job = self.service.job(job_id)
            self.assertNotIn(job["state"], {"failed", "cancelled"}, job.get("reason"))
            return len(self.service.metric(job_id, "train_loss")) >= steps
        wait_for(has_points, f"{job_id} to train", 120)

    def nothing_is_left(self, job_id):
        wait_for(lambda: not self.service.executors(job_id), f"the executors of {job_id} to be gone", 30)
        self.assertEqual(self.service.sql(f"select count(*) from lease where job_id = '{job_id}'"), [["0"]])

    def test_hosts_are_those_of_the_machine(self):
        hosts = {host["name"]: host["cores"] for host in self.service.get("/v1/hosts")["items"]}
        self.assertEqual(hosts, {HOST: 8, f"{HOST}-2": 8, f"{HOST}-3": 8})

    def test_more_hosts_than_there_are_are_refused(self):
        answer = self.service.call("POST", "/v1/jobs", lenet_job(accelerator={"slice": {"cores": 32}}))
        self.assertEqual(answer.status, 422)
        problem = answer.json["errors"][0]
        self.assertEqual((problem["pointer"], problem["code"]), ("/accelerator/slice/cores", "slice_unavailable"))
        self.assertIn("at most 24", problem["message"])

    def test_a_slice_trains_and_ends(self):
        job_id = self.service.submit(lenet_job())
        self.assertEqual(self.service.job(job_id)["effective"]["world_size"], 16)
        job = self.service.wait_end(job_id)
        self.assertEqual(job["state"], "succeeded", job.get("reason"))
        members = self.members(job_id)
        self.assertEqual([member["rank"] for member in members], [0, 1])
        self.assertEqual({member["exit_kind"] for member in members}, {"succeeded"})
        lines = [line["message"] for line in self.service.get(f"/v1/jobs/{job_id}/logs?limit=5000")["items"]]
        said = [line for line in lines if line.endswith("the members run on one machine and sum in shared memory")]
        self.assertEqual(len(said), 2, lines)
        self.nothing_is_left(job_id)

    def test_a_running_slice_is_listed_with_its_hosts(self):
        job_id = self.service.submit(long_job())
        self.trains(job_id)
        slices = self.service.get("/v1/slices")["items"]
        found = next(one for one in slices if one["job_id"] == job_id)
        self.assertEqual((found["cores"], found["state"]), (16, "running"))
        self.assertEqual(len({member["host"] for member in found["members"]}), 2)
        self.service.post(f"/v1/jobs/{job_id}/cancel", {})
        self.assertEqual(self.service.wait_end(job_id)["state"], "cancelled")
        self.nothing_is_left(job_id)

    def test_when_a_rank_is_killed_the_job_goes_on_from_its_last_checkpoint(self):
        for rank in (0, 1):
            job_id = self.service.submit(long_job())
            self.trains(job_id, 12)
            wait_for(lambda: self.service.get(f"/v1/jobs/{job_id}/checkpoints")["items"], "a checkpoint")
            attempt = self.service.job(job_id)["attempts"]
            os.kill(self.members(job_id)[rank]["pid"], signal.SIGKILL)
            wait_for(lambda: self.service.job(job_id)["attempts"] > attempt and self.service.job(job_id)["state"] == "running",
                     "the next attempt", 120)
            first = self.service.get(f"/v1/jobs/{job_id}/attempts")["items"][0]
            self.assertEqual(first["exit_kind"], "crashed", first)
            self.assertIn(f"rank {rank} on host", first["message"])
            self.assertTrue(self.service.get(f"/v1/jobs/{job_id}/attempts")["items"][-1]["resumed_from"])
            self.service.post(f"/v1/jobs/{job_id}/cancel", {})
            self.assertEqual(self.service.wait_end(job_id)["state"], "cancelled")
            self.nothing_is_left(job_id)

    def test_a_paused_slice_goes_on_where_it_was(self):
        job_id = self.service.submit(long_job())
        self.trains(job_id)
        self.service.post(f"/v1/jobs/{job_id}/pause", {})
        self.service.wait_state(job_id, "paused")
        self.nothing_is_left(job_id)
        steps = max(self.service.metric(job_id, "train_loss"))
        self.service.post(f"/v1/jobs/{job_id}/resume", {})
        wait_for(lambda: max(self.service.metric(job_id, "train_loss")) > steps, "further steps", 120)
        self.service.post(f"/v1/jobs/{job_id}/cancel", {})
        self.service.wait_end(job_id)

    def test_checkpoints_of_each_host_of_the_machine_are_verified(self):
        others = [f"/v1/hosts/{HOST}", f"/v1/hosts/{HOST}-3"]
        for host in others:
            self.service.post(f"{host}/drain", {"reason": "test"})
        try:
            job_id = self.service.submit(points_job())
            self.assertEqual(self.service.wait_end(job_id)["state"], "succeeded")
        finally:
            for host in others:
                self.service.post(f"{host}/undrain", {})
        self.assertEqual([member["host"] for member in self.members(job_id)], [f"{HOST}-2"])
        self.assertEqual(self.service.verify(), "")
        folder = self.service.home / "store" / "checkpoints" / job_id
        newest = folder / max(self.service.get(f"/v1/jobs/{job_id}/checkpoints")["items"], key=lambda one: one["step"])["name"]
        file = next(newest.glob("*.safetensors"))
        kept = file.read_bytes()
        file.write_bytes(kept[:-1] + bytes([kept[-1] ^ 1]))
        try:
            self.assertIn(file.name, self.service.verify())
        finally:
            file.write_bytes(kept)

    def test_a_slice_waits_for_whole_hosts_and_says_so(self):
        small = self.service.submit(points_job(train={"epochs": ENDLESS_EPOCHS}))
        self.service.wait_state(small, "running")
        drained = f"/v1/hosts/{HOST}-3"
        self.service.post(f"{drained}/drain", {"reason": "new disk"})
        with contextlib.ExitStack() as cleanup:
            cleanup.callback(lambda: self.service.post(f"{drained}/undrain", {}))
            cleanup.callback(lambda: self.service.post(f"/v1/jobs/{small}/cancel", {}))
            job_id = self.service.submit(long_job())
            waits = "the job needs 2 whole hosts of 8 cores and 1 is free"
            wait_for(lambda: self.service.get(f"/v1/jobs/{job_id}/explain")["message"] == waits, waits)
            self.service.post(f"/v1/jobs/{job_id}/cancel", {})

    def test_a_restart_of_the_service_takes_the_members_over(self):
        job_id = self.service.submit(long_job())
        self.trains(job_id)
        before = [member["pid"] for member in self.members(job_id)]
        self.service.stop()
        self.service.start()
        steps = len(self.service.metric(job_id, "train_loss"))
        self.trains(job_id, steps + 3)
        self.assertEqual([member["pid"] for member in self.members(job_id)], before)
        self.service.post(f"/v1/jobs/{job_id}/cancel", {})
        self.service.wait_end(job_id)


if __name__ == "__main__":
    unittest.main()
