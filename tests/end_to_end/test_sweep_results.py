"""Goal: of the trials of a sweep is kept what was asked for, and the best one continues as a job."""
import os
import pathlib
import time
import unittest

from service import serve_points, wait_for
from sweep_calls import RATES, SweepCalls, fold_sweep, quick_job, sweep_of


class PassedByTrials(SweepCalls, unittest.TestCase):
    """Method: what trials leave on disk is measured, with a network that is large for its checkpoint and a sweep that goes on."""

    @classmethod
    def setUpClass(cls):
        serve_points(cls, rows=200)

    def disk_kb(self, job_ids):
        """What jobs have in the home folder; files that go meanwhile are gone."""
        blocks = 0
        for folder, folders, files in os.walk(self.service.home):
            for path in (pathlib.Path(folder, name) for name in (*folders, *files)):
                if not any(job_id in path.parts for job_id in job_ids):
                    continue
                try:
                    blocks += path.lstat().st_blocks
                except FileNotFoundError:
                    pass
        return blocks * 512 / 1024

    def checkpoints(self, job_id):
        return self.service.get(f"/v1/checkpoints?job={job_id}")["items"]

    def job_ids(self, sweep_id):
        return [job["id"] for job in self.service.get(f"/v1/jobs?parent={sweep_id}&limit=200")["items"]]

    def test_a_trial_that_was_passed_by_leaves_little(self):
        job = quick_job(1, model={"arch": "mlp", "width": 512})
        sweep_id = self.create(sweep_of(RATES, {"name": "random"}, job, limits={"max_trials": 100, "max_concurrent": 2}, seed=4))

        def tidied():
            trials = self.trials(sweep_id)
            best = self.sweep(sweep_id)["best"]
            done = [one for one in trials if one["state"] == "completed" and best and one["number"] != best["trial"]]
            return len(done) >= 4 and [one for one in done[:4] if not self.checkpoints(one["job_id"])]
        first = wait_for(tidied, "checkpoints to be deleted while the sweep goes on", 120)
        self.assertEqual(self.sweep(sweep_id)["state"], "running")
        # What is pinned stays, and so does what a job begins with.
        best = self.service.get(f"/v1/sweeps/{sweep_id}/best")
        self.service.post(f"/v1/checkpoints/{best['checkpoint_id']}/pin", {})
        self.assertTrue(first)
        self.service.post(f"/v1/sweeps/{sweep_id}/extend", {"max_trials": 101})
        self.service.call("PATCH", f"/v1/sweeps/{sweep_id}", {"max_concurrent": 4})
        sweep = self.wait_end(sweep_id)
        self.assertEqual(sweep["state"], "finished", sweep["reason"])
        winner = sweep["best"]["trial"]
        passed = [one["job_id"] for one in self.trials(sweep_id) if one["number"] != winner and one["job_id"] != best["job_id"]]
        wait_for(lambda: not any(self.checkpoints(job_id) for job_id in passed), "the last checkpoints to go")
        self.assertTrue(self.checkpoints(self.service.get(f"/v1/sweeps/{sweep_id}/best")["job_id"]))
        self.assertIn(best["checkpoint_id"], [one["id"] for one in self.checkpoints(best["job_id"])])
        wait_for(lambda: self.disk_kb(passed) / len(passed) <= 50, "the disk to be freed", 60, 0.5)
        # Programs and timelines are gone, and it is said why; reports stay, and all of the best trial.
        winning = self.service.get(f"/v1/sweeps/{sweep_id}/best")["job_id"]
        for job_id, status in ((passed[0], 410), (winning, 200)):
            hashes = [one["hash"] for one in self.service.get(f"/v1/jobs/{job_id}/graphs")["items"]]
            self.assertTrue(hashes)
            self.assertEqual(self.service.get(f"/v1/jobs/{job_id}/report")["finished"], True)
            for part in (f"graphs/{hashes[0]}", f"graphs/{hashes[0]}?format=dot", "trace"):
                answer = self.service.call("GET", f"/v1/jobs/{job_id}/{part}")
                self.assertEqual(answer.status, status, (part, answer.body[:200]))
                if status == 410:
                    self.assertIn("keep_reports", answer.json["detail"])
        print(f"disk of a trial that was passed by: {self.disk_kb(passed) / len(passed):.1f} KB; "
              f"of the best one: {self.disk_kb([self.service.get(f'/v1/sweeps/{sweep_id}/best')['job_id']]):.1f} KB")

    def test_promotions_find_their_checkpoints_and_an_ended_sweep_goes_on_without(self):
        sweep_id = self.create(sweep_of(RATES, {"name": "asha", "mode": "promote", "max_time": 4, "reduction_factor": 2}, quick_job(),
                                        limits={"max_trials": 6, "max_concurrent": 2}, seed=6))
        sweep = self.wait_end(sweep_id)
        self.assertEqual((sweep["state"], sweep["trials"]["failed"]), ("finished", 0), sweep["reason"])
        self.assertGreaterEqual(len([one for one in self.trials(sweep_id) if one["last_time"] == 4]), 1)
        # Those of the best trial: the job of its best value, and its last one.
        best = {job["id"] for job in self.service.get(f"/v1/jobs?parent={sweep_id}&limit=200")["items"]
                if job["parent"]["key"].split("@")[0] == str(sweep["best"]["trial"])}
        wait_for(lambda: {job for job in self.job_ids(sweep_id) if self.checkpoints(job)} <= best, "the checkpoints of other trials to go")
        self.assertTrue(any(self.checkpoints(job) for job in best))
        self.service.post(f"/v1/sweeps/{sweep_id}/extend", {"max_trials": 12})
        sweep = self.wait_end(sweep_id)
        self.assertEqual((sweep["state"], sweep["trials"]["total"], sweep["trials"]["failed"]), ("finished", 12, 0), sweep["reason"])

    def test_everything_is_kept_on_request(self):
        sweep_id = self.create(sweep_of(RATES, {"name": "random"}, quick_job(), limits={"max_trials": 3}, keep_checkpoints="all", keep_reports="all"))
        self.wait_end(sweep_id)
        time.sleep(2)
        self.assertTrue(all(self.checkpoints(job_id) for job_id in self.job_ids(sweep_id)))
        body = sweep_of(RATES, {"name": "random"}, quick_job(), limits={"max_trials": 3}, keep_checkpoints="none")
        refused = self.service.call("POST", "/v1/sweeps", body)
        self.assertEqual((refused.status, refused.json["errors"][0]["pointer"]), (422, "/keep_checkpoints"))


class Promotion(SweepCalls, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        serve_points(cls, rows=200)

    def test_the_best_trial_goes_on_as_a_job(self):
        sweep_id = self.create(sweep_of(RATES, {"name": "random"}, quick_job(2), limits={"max_trials": 3, "max_concurrent": 3}, seed=7))
        self.wait_end(sweep_id)
        best = self.service.get(f"/v1/sweeps/{sweep_id}/best")
        path = f"/v1/sweeps/{sweep_id}/promote"
        refused = self.service.call("POST", path, {})
        self.assertEqual((refused.status, refused.json["errors"][0]["pointer"]), (422, "/changes/train/epochs"), refused.json)
        shown = self.service.call("POST", path + "?dry_run=true", {"changes": {"train": {"epochs": 4}}})
        self.assertEqual((shown.status, shown.json["spec"]["train"]["epochs"]), (200, 4))
        made = self.service.post(path, {"changes": {"train": {"epochs": 4}}})
        self.assertEqual(made["origin"]["job_id"], best["job_id"])
        self.assertEqual(made["spec"]["train"]["optimizer"]["lr"], best["trial"]["point"]["train.optimizer.lr"])
        self.assertIsNone(made["parent"])
        self.assertEqual(self.service.wait_end(made["id"])["state"], "succeeded")
        pinned = [one["id"] for one in self.service.get(f"/v1/checkpoints?job={best['job_id']}")["items"] if one["pinned"]]
        self.assertEqual(len(pinned), 1)
        # Trained in two pieces and at once: the same weights.
        whole = self.service.post(path, {"trial": best["trial"]["number"], "start": "scratch", "changes": {"train": {"epochs": 4}, "name": "whole"}})
        self.assertEqual((whole["name"], self.service.wait_end(whole["id"])["state"]), ("whole", "succeeded"))
        self.assertEqual(self.service.newest_weights(whole["id"]), self.service.newest_weights(made["id"]))
        for body, status, pointer in (({"trial": 9}, 422, "/trial"), ({"trial": -1}, 422, "/trial"), ({"start": "again"}, 422, "/start"),
                                      ({"change": {}}, 422, "/change"), ({"changes": {"train": {"epoch": 4}}}, 422, "/changes/train/epoch")):
            with self.subTest(body):
                answer = self.service.call("POST", path, body)
                self.assertEqual((answer.status, answer.json["errors"][0]["pointer"]), (status, pointer), answer.json)

    def test_a_trial_of_folds_is_trained_from_scratch(self):
        sweep_id = self.create(fold_sweep(folds=2, limits={"max_trials": 1}))
        self.wait_end(sweep_id)
        path = f"/v1/sweeps/{sweep_id}/promote"
        refused = self.service.call("POST", path, {"start": "continue"})
        self.assertEqual((refused.status, refused.json["errors"][0]["pointer"]), (422, "/start"))
        made = self.service.post(path, {"changes": {"data": {"split": {"val_fraction": 0}}}})
        self.assertEqual(self.service.wait_end(made["id"])["state"], "succeeded")
        outside = self.create({"objective": {"metric": "cost"}, "space": {"x": {"type": "uniform", "min": 0, "max": 1}},
                               "algorithm": {"name": "random"}, "limits": {"max_trials": 1}})
        self.assertEqual(self.service.call("POST", f"/v1/sweeps/{outside}/promote", {}).status, 409)


if __name__ == "__main__":
    unittest.main()
