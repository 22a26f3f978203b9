"""A service with jobs, a sweep and folds on it, and scripts that use its dashboard in a real browser."""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "end_to_end"))
from service import BIN, ENDLESS_EPOCHS, SOURCE, points_job, ruined_job, serve_points, wait_for  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent


def without_name(job):
    return {key: value for key, value in job.items() if key != "name"}


class Dashboard:
    """What is on the service is in `data`, which the scripts read."""

    def __init__(self, case):
        serve_points(case)
        self.service = case.service
        shots = os.environ.get("SLIPWAY_SCREENSHOTS")    # none: no pictures are made
        self.data = {"url": f"http://127.0.0.1:{self.service.port}/", "token": self.service.token, "shots": shots}

    def submit(self, key, job):
        self.data[key] = self.service.submit(job)
        return self.data[key]

    def submit_ended(self, key, job):
        self.service.wait_end(self.submit(key, job))

    def add_live(self):
        self.submit("live", points_job(name="live", train={
            "epochs": ENDLESS_EPOCHS, "batch_size_per_core": 8, "optimizer": {"name": "adam", "lr": 0.001}}))
        self.service.wait_state(self.data["live"], "running")

    def end(self, key):
        self.service.post(f"/v1/jobs/{self.data[key]}/cancel", {})
        self.service.wait_end(self.data[key])

    def add_folds(self):
        fold = without_name(points_job(train={"epochs": 1}))
        path = "/v1/cross-validations"
        self.data["crossed"] = self.service.post(path, {
            "name": "crossed", "split": {"method": "group_kfold", "folds": 3, "group_by": "family"},
            "job": {**fold, "data": {"dataset": "points"}}})["id"]
        wait_for(lambda: self.service.get(f"{path}/{self.data['crossed']}")["state"] == "succeeded", "the cross-validation")

    def add_sweep(self, key, **parts):
        space = {"train.optimizer.lr": {"type": "log_uniform", "min": 1e-4, "max": 1e-1},
                 "model.width": {"type": "choice", "values": [16, 32]}}
        self.data[key] = self.service.post("/v1/sweeps", {
            "name": key, "space": space, "algorithm": {"name": "random"}, "seed": 1, **parts})["id"]
        wait_for(lambda: self.service.get(f"/v1/sweeps/{self.data[key]}")["state"] in ("finished", "failed"), key, 180)

    def run(self, script, **more):
        """What tests/web/`script`.mjs found."""
        done = subprocess.run(["node", HERE / f"{script}.mjs"], input=json.dumps({**self.data, **more}), capture_output=True,
                              text=True, timeout=700, cwd=SOURCE / "web")
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def login_link(self):
        return subprocess.run([BIN / "slipwayd", "login-link", "--home", self.service.home, "--port", str(self.service.port)],
                              capture_output=True, text=True, check=True).stdout.strip()


class NoComplaints:
    """For every case with `found`: the browser and axe had nothing to say."""

    def test_the_browser_had_nothing_to_complain_about(self):
        self.assertEqual(self.found["console"], [])
        self.assertEqual(self.found["other_origins"], [])

    def test_nothing_lies_beside_the_screen(self):
        self.assertEqual(self.found["too_wide"], [])

    def test_axe_finds_no_barrier(self):
        self.assertEqual(self.found["barriers"], [])
