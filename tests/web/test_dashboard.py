"""Goal: the dashboard works in a real browser, under its strict policy, and can be used by everybody.
Method: the real service with a running job; dashboard.mjs drives Chromium and prints what it found as JSON."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "end_to_end"))
from service import BIN, SOURCE, points_job, ruined_job, serve_points, wait_for  # noqa: E402


class Dashboard(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        serve_points(cls)
        cls.done = cls.service.submit(points_job(name="done"))
        cls.service.wait_end(cls.done)
        cls.ruined = cls.service.submit(ruined_job(name="ruined"))
        cls.service.wait_end(cls.ruined)
        fold = {key: value for key, value in points_job(train={"epochs": 1}).items() if key != "name"}
        crossed = cls.service.post("/v1/cross-validations", {
            "name": "crossed", "split": {"method": "group_kfold", "folds": 3, "group_by": "family"},
            "job": {**fold, "data": {"dataset": "points"}}})["id"]
        wait_for(lambda: cls.service.get(f"/v1/cross-validations/{crossed}")["state"] == "succeeded", "the cross-validation")
        cls.live = cls.service.submit(points_job(name="live", train={
            "epochs": 100000, "batch_size_per_core": 8, "optimizer": {"name": "adam", "lr": 0.001}}))
        cls.service.wait_state(cls.live, "running")
        link = subprocess.run([BIN / "slipwayd", "login-link", "--home", cls.service.home, "--port", str(cls.service.port)],
                              capture_output=True, text=True, check=True).stdout.strip()
        cls.shots = pathlib.Path(os.environ.get("SLIPWAY_SCREENSHOTS") or tempfile.mkdtemp())
        done = subprocess.run(["node", pathlib.Path(__file__).with_name("dashboard.mjs"), link, cls.done, cls.live,
                               cls.ruined, crossed, cls.shots],
                              capture_output=True, text=True, timeout=240, cwd=SOURCE / "web")
        assert done.returncode == 0, done.stdout + done.stderr
        cls.found = json.loads(done.stdout)

    def test_the_one_time_link_signs_in_once(self):
        self.assertTrue(self.found["signed_in"])
        self.assertTrue(self.found["second_use_refused"])

    def test_the_list_shows_both_jobs(self):
        self.assertIn("done", self.found["list"])
        self.assertIn("live", self.found["list"])

    def test_curves_grow_while_the_job_trains(self):
        self.assertGreater(self.found["live_steps_after"], self.found["live_steps_before"])
        self.assertEqual(self.found["charts"], ["Loss", "Accuracy"])

    def test_a_value_that_is_no_number_is_shown(self):
        self.assertRegex(self.found["ruined"], "val_loss (NaN|Infinity)")

    def test_a_cross_validation_shows_its_folds(self):
        self.assertIn("Metrics over 3 of 3 folds", self.found["crossed"])
        self.assertIn("val_accuracy", self.found["crossed"])
        self.assertIn("600 rows", self.found["crossed"])

    def test_cancel_ends_the_job(self):
        self.assertEqual(self.found["state_after_cancel"], "cancelled")
        self.assertEqual(self.service.executors(self.live), [])

    def test_a_job_is_paused_resumed_and_retried(self):
        self.assertEqual(self.found["buttons_while_paused"], ["Resume", "Cancel"])
        self.assertEqual(self.found["retry_of"], self.live)

    def test_a_checkpoint_can_be_downloaded(self):
        self.assertEqual(self.found["downloaded"], "model.safetensors")

    def test_the_browser_had_nothing_to_complain_about(self):
        self.assertEqual(self.found["console"], [])
        self.assertEqual(self.found["other_origins"], [])

    def test_axe_finds_no_barrier(self):
        self.assertEqual(self.found["barriers"], [])


if __name__ == "__main__":
    unittest.main()
