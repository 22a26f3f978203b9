"""Goal: one service has hosts of its own and hosts of Slurm, and a job says where it runs by one field.
Method: the real service on a real cluster of two hosts on this machine, which deploy/slurm/up starts."""
import json
import subprocess
import unittest

from service import BIN, ENDLESS_EPOCHS, points_job, serve_points, wait_for
from slurm_cluster import start_cluster


def pooled(name, pool, **changes):
    return points_job(name=name, queue={"pool": pool}, **changes)


class Pools(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        start_cluster(cls)
        serve_points(cls, ("--host-name", "here", "--slurm-hosts", "2"), rows=1000)
        wait_for(lambda: len(cls.service.get("/v1/hosts")["items"]) == 3, "three hosts")

    def hosts_of(self, job_id):
        return {attempt["host"] for attempt in self.service.get(f"/v1/jobs/{job_id}/attempts")["items"]}

    def slipway(self, *words):
        return subprocess.run([BIN / "slipway", "--home", self.service.home, *words], capture_output=True, text=True, check=True).stdout

    def ended(self, job_id):
        job = self.service.wait_end(job_id)
        self.assertEqual(job["state"], "succeeded", job.get("reason"))
        return job

    def test_the_hosts_are_of_two_pools(self):
        self.assertEqual([(host["name"], host["pool"]) for host in self.service.get("/v1/hosts")["items"]],
                         [("here", "local"), ("here-slurm", "slurm"), ("here-slurm-2", "slurm")])
        stats = self.service.get("/v1/queue/stats")
        self.assertEqual([(pool["pool"], pool["hosts"]) for pool in stats["pools"]], [("local", 1), ("slurm", 2)])
        self.assertEqual(stats["default_pool"], "local")
        self.assertRegex(self.slipway("hosts"), r"here-slurm-2\s+slurm")
        self.assertRegex(self.slipway("queue", "stats"), r"slurm\s+2\s+16")

    def test_one_field_decides_and_the_bits_are_the_same(self):
        here, there = self.service.submit(points_job(name="here")), self.service.submit(pooled("there", "slurm"))
        self.ended(here), self.ended(there)
        self.assertEqual(self.hosts_of(here), {"here"})
        self.assertTrue(self.hosts_of(there) <= {"here-slurm", "here-slurm-2"})
        self.assertEqual(self.service.newest_weights(here), self.service.newest_weights(there))

    def test_a_sweep_goes_to_slurm_while_a_job_runs_here(self):
        sweep = self.service.post("/v1/sweeps", {
            "name": "elsewhere", "objective": {"metric": "val_loss", "mode": "min"},
            "space": {"train.optimizer.lr": {"type": "choice", "values": [0.01, 0.02, 0.05, 0.1]}},
            "algorithm": {"name": "grid"}, "limits": {"max_concurrent": 4}, "job": pooled("trial", "slurm")})["id"]
        seen = set()

        def done():
            seen.update(name.split("/")[0] for _, _, name in self.cluster.queue())
            return self.service.get(f"/v1/sweeps/{sweep}")["state"] not in ("running", "paused")
        beside = self.service.submit(points_job(name="beside"))
        wait_for(done, "the end of the sweep", 180)
        self.ended(beside)
        self.assertEqual(self.hosts_of(beside), {"here"})
        trials = [trial["job_id"] for trial in self.service.get(f"/v1/sweeps/{sweep}/trials")["items"]]
        self.assertEqual(len(trials), 4)
        for job_id in trials:
            self.ended(job_id)
            self.assertTrue(self.hosts_of(job_id) <= {"here-slurm", "here-slurm-2"}, self.hosts_of(job_id))
        self.assertTrue(seen & set(trials), "jobs of Slurm")
        self.assertNotIn(beside, seen)

    def test_an_unknown_pool_is_refused_and_a_drained_one_is_waited_for(self):
        refused = self.service.call("POST", "/v1/jobs", pooled("nowhere", "tpu"))
        self.assertEqual(refused.status, 422)
        answer = refused.json
        self.assertEqual((answer["errors"][0]["pointer"], answer["errors"][0]["allowed"]), ("/queue/pool", ["local", "slurm", "any"]))
        for host in ("here-slurm", "here-slurm-2"):
            self.service.post(f"/v1/hosts/{host}/drain", {"reason": "new nodes"})
        try:
            waits, runs = self.service.submit(pooled("waits", "slurm")), self.service.submit(points_job(name="runs"))
            self.ended(runs)
            why = wait_for(lambda: (found := self.service.get(f"/v1/jobs/{waits}/explain"))["code"] == "host_drained" and found, "why")
            self.assertIn("of pool slurm", why["message"])
        finally:
            for host in ("here-slurm", "here-slurm-2"):
                self.service.post(f"/v1/hosts/{host}/undrain", {})
        self.ended(waits)

    def patch(self, job_id, pool):
        return self.service.call("PATCH", f"/v1/jobs/{job_id}", {"queue": {"pool": pool}})

    def test_a_queued_job_moves_to_another_pool(self):
        for host in ("here-slurm", "here-slurm-2"):
            self.service.post(f"/v1/hosts/{host}/drain", {"reason": "new nodes"})
        try:
            moved, back = (self.service.submit(pooled(name, "slurm")) for name in ("moved", "moved by command"))
            refused = self.patch(moved, "tpu")
            self.assertEqual((refused.status, refused.json["errors"][0]["pointer"]), (422, "/queue/pool"))
            wait_for(lambda: "of pool slurm" in self.service.get(f"/v1/jobs/{moved}/explain")["message"], "why")
            answer = self.patch(moved, "local")
            self.assertEqual((answer.status, answer.json["spec"]["queue"]["pool"]), (200, "local"))
            self.assertEqual(self.slipway("pool", back, "any"), f"{back} any\n")
            for job_id in (moved, back):
                self.ended(job_id)
                self.assertEqual(self.hosts_of(job_id), {"here"})
            late = self.patch(moved, "slurm")
            self.assertEqual((late.status, late.json["code"]), (409, "conflict"))
            audited = [entry for entry in self.service.get("/v1/audit")["items"] if moved in json.dumps(entry)]
            self.assertTrue(any("patch" in json.dumps(entry).lower() for entry in audited), audited)
        finally:
            for host in ("here-slurm", "here-slurm-2"):
                self.service.post(f"/v1/hosts/{host}/undrain", {})
        there = self.service.submit(points_job(name="to slurm", limits={"start_after": "2099-01-01T00:00:00Z"}))
        self.assertEqual(self.patch(there, "slurm").json["spec"]["queue"]["pool"], "slurm")
        self.assertEqual(self.service.sql(f"select pool from queue where job_id = '{there}'"), [["slurm"]])
        self.service.post(f"/v1/jobs/{there}/cancel", {})

    def test_a_killed_service_takes_over_what_runs_in_both(self):
        changes = {"train": {"epochs": ENDLESS_EPOCHS}, "checkpoint": {"every_epochs": 1000, "keep_last": 2}, "monitor": {"log_every_steps": 100}}
        jobs = [self.service.submit(points_job(name="long here", **changes)), self.service.submit(pooled("long there", "slurm", **changes))]
        for job_id in jobs:
            self.service.wait_said(job_id, "metric")
        self.service.kill()
        self.service.start()
        for job_id in jobs:
            before = len(self.service.metric(job_id, "train_loss"))
            wait_for(lambda job_id=job_id: len(self.service.metric(job_id, "train_loss")) > before, f"{job_id} to report on")
            self.service.post(f"/v1/jobs/{job_id}/cancel", {})
            self.assertEqual(self.service.wait_end(job_id)["state"], "cancelled")
            self.assertEqual(len(self.service.get(f"/v1/jobs/{job_id}/attempts")["items"]), 1)
