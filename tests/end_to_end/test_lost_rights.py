"""Goal: what a sweep and a cross-validation do when who created them may no longer submit jobs: no more jobs start, those that
wait or run end, both say why, and the work of others goes on. Method: a real service, and a member who is removed, is made a
viewer, or whose token is revoked, while jobs of theirs run."""
import unittest

from service import ENDLESS_EPOCHS, points_job, serve_points, wait_for

ENDED = {"succeeded", "failed", "cancelled", "stopped", "timed_out", "expired"}


def long_job():
    job = points_job(train={"epochs": ENDLESS_EPOCHS, "batch_size_per_core": 64, "optimizer": {"name": "adam", "lr": 0.01}})
    job.pop("name")
    return job


class LostRightsTestCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        serve_points(cls)

    def member(self, name):
        """An editor of the default project, and their token."""
        answer = self.service.call("PUT", f"/v1/projects/default/members/{name}", {"role": "editor"})
        self.assertIn(answer.status, (200, 201), answer.body)
        return self.service.post("/v1/tokens", {"name": name, "role": "editor", "member": name})

    def remove(self, name, token):
        self.assertEqual(self.service.call("DELETE", f"/v1/projects/default/members/{name}").status, 204)

    def make_viewer(self, name, token):
        self.assertEqual(self.service.call("PUT", f"/v1/projects/default/members/{name}", {"role": "viewer"}).status, 200)

    def revoke(self, name, token):
        self.assertEqual(self.service.call("DELETE", f"/v1/tokens/{token['id']}").status, 204)

    def create(self, path, body, token):
        answer = self.service.call("POST", path, body, token=token["token"])
        self.assertEqual(answer.status, 201, answer.body)
        return answer.json["id"]

    def sweep(self, token, concurrent=2):
        return self.create("/v1/sweeps", {
            "space": {"train.optimizer.lr": {"type": "log_uniform", "min": 0.001, "max": 0.1}}, "algorithm": {"name": "random"},
            "limits": {"max_trials": 6, "max_concurrent": concurrent}, "job": long_job()}, token)

    def cross_validation(self, token, parallel):
        job = long_job()
        job["data"].pop("split", None)
        return self.create("/v1/cross-validations", {"split": {"method": "kfold", "folds": 4}, "parallel": {"folds": parallel}, "job": job}, token)

    def jobs(self, parent):
        return self.service.get(f"/v1/jobs?parent={parent}&limit=200")["items"]

    def wait_running(self, parent, count):
        wait_for(lambda: len([one for one in self.jobs(parent) if one["state"] == "running"]) == count, f"{count} jobs of {parent}", 120)

    def wait_jobs_ended(self, parent):
        return wait_for(lambda: (jobs := self.jobs(parent)) and all(one["state"] in ENDED for one in jobs) and jobs, f"the jobs of {parent} to end", 60)

    def test_a_sweep_fails_and_its_trials_end(self):
        others = self.sweep(self.member("stays"), concurrent=1)
        self.wait_running(others, 1)
        for name, lose in (("leaver", self.remove), ("reader", self.make_viewer), ("loser", self.revoke)):
            with self.subTest(name):
                token = self.member(name)
                sweep = self.sweep(token)
                self.wait_running(sweep, 2)
                lose(name, token)
                ended = wait_for(lambda: (one := self.service.get(f"/v1/sweeps/{sweep}"))["finished_at"] and one, f"{sweep} to end", 60)
                self.assertEqual((ended["state"], ended["reason"]["code"]), ("failed", "owner_lost"))
                self.assertIn("may no longer submit jobs to project default", ended["reason"]["message"])
                jobs = self.wait_jobs_ended(sweep)
                self.assertEqual([(one["state"], one["reason"]["code"]) for one in jobs], [("cancelled", "stopped_by_sweep")] * 2)
                again = self.service.call("POST", f"/v1/sweeps/{sweep}/retry", {})
                self.assertEqual(again.status, 409, again.body)
        self.assertEqual(self.service.get(f"/v1/sweeps/{others}")["state"], "running")
        self.service.post(f"/v1/sweeps/{others}/stop", {})
        self.wait_jobs_ended(others)

    def test_a_cross_validation_is_cancelled_and_its_folds_end(self):
        for name, lose in (("left", self.remove), ("lowered", self.make_viewer), ("expired", self.revoke)):
            with self.subTest(name):
                token = self.member(name)
                cross = self.cross_validation(token, parallel=2)
                self.wait_running(cross, 2)
                lose(name, token)
                ended = wait_for(lambda: (one := self.service.get(f"/v1/cross-validations/{cross}"))["finished_at"] and one, f"{cross} to end", 60)
                self.assertEqual((ended["state"], ended["reason"]["code"]), ("cancelled", "owner_lost"))
                self.assertEqual(len(self.wait_jobs_ended(cross)), 2, "no fold has started since")
                again = self.service.call("POST", f"/v1/cross-validations/{cross}/retry", {})
                self.assertEqual(again.status, 409, again.body)


if __name__ == "__main__":
    unittest.main()
