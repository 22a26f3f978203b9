"""Goal: a network that torch has exported is a network like any other: trained, evaluated, predicted with, paused, searched, exported.
Method: a file of tests/executor/import/reference on the points set; no torch is needed."""
import pathlib
import struct
import unittest
import json

from service import points_job, serve_points, wait_for

PROGRAMS = pathlib.Path(__file__).parent.parent / "executor" / "import" / "reference"
STATE_DICT = {"first.weight", "first.bias", "norm.weight", "norm.bias", "norm.running_mean", "norm.running_var",
              "norm.num_batches_tracked", "last.weight", "last.bias"}


def names_of(weights):
    (length,) = struct.unpack("<Q", weights[:8])
    return set(json.loads(weights[8:8 + length])) - {"__metadata__"}


class ImportedNetworks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        serve_points(cls)
        cls.network = cls.upload("points")
        cls.first = cls.service.submit(cls.job())
        cls.ended = cls.service.wait_end(cls.first)

    @classmethod
    def upload(cls, name):
        return cls.service.upload((PROGRAMS / f"{name}.pt2").read_bytes(), f"{name}.pt2")

    @classmethod
    def job(cls, network=None, **changes):
        spec = points_job(**changes)
        spec["model"] = {"arch": "imported", "from": network or cls.network, **changes.get("model", {})}
        return spec

    def test_learns(self):
        self.assertEqual(self.ended["state"], "succeeded", self.ended.get("reason"))
        self.assertGreater(self.ended["result"]["val_accuracy"], 0.9)

    def test_exports_the_state_dict_of_the_module(self):
        best = next(one for one in self.service.get(f"/v1/jobs/{self.first}/checkpoints")["items"] if "best" in one["kinds"])
        answer = self.service.call("GET", f"/v1/checkpoints/{best['id']}/weights.safetensors")
        self.assertEqual(answer.status, 200)
        self.assertEqual(names_of(answer.body), STATE_DICT)

    def test_is_evaluated_and_predicted_with_after_its_upload_is_gone(self):
        network = self.upload("points")
        trained = self.service.wait_end(self.service.submit(self.job(network)))
        self.assertEqual(trained["state"], "succeeded", trained.get("reason"))
        self.assertEqual(self.service.call("DELETE", f"/v1/uploads/{network}").status, 204)
        source = {"job": trained["id"], "checkpoint": "best"}
        measured = self.service.wait_end(self.service.post("/v1/evaluations", {"from": source})["id"])
        self.assertEqual(measured["state"], "succeeded", measured.get("reason"))
        self.assertAlmostEqual(measured["result"]["val_loss"], trained["best"]["value"], delta=1e-6)
        predicted = self.service.wait_end(self.service.post("/v1/predictions", {"from": source, "data": {"dataset": "points"}})["id"])
        self.assertEqual(predicted["state"], "succeeded", predicted.get("reason"))

    def test_continues_after_a_pause_with_the_same_bits(self):
        job = self.service.submit(self.job(train={"epochs": 60, "batch_size_per_core": 16, "optimizer": {"name": "adam", "lr": 0.01}}))
        whole = self.service.submit(self.job(train={"epochs": 60, "batch_size_per_core": 16, "optimizer": {"name": "adam", "lr": 0.01}}))
        self.service.wait_said(job, "metric", 50)
        if self.service.call("POST", f"/v1/jobs/{job}/pause", {}).status == 200:
            wait_for(lambda: self.service.job(job)["state"] in ("paused", "succeeded"), "a pause")
            self.service.call("POST", f"/v1/jobs/{job}/resume", {})
        for one in (job, whole):
            self.assertEqual(self.service.wait_end(one)["state"], "succeeded")
        self.assertEqual(self.service.newest_weights(job), self.service.newest_weights(whole))

    def test_trains_on_eight_cores(self):
        job = self.service.wait_end(self.service.submit(self.job(accelerator={"cores": 8}, train={"epochs": 2, "batch_size_per_core": 8})))
        self.assertEqual(job["state"], "succeeded", job.get("reason"))

    def test_begins_with_weights_of_another_job(self):
        best = next(one for one in self.service.get(f"/v1/jobs/{self.first}/checkpoints")["items"] if "best" in one["kinds"])
        job = self.service.wait_end(self.service.submit(self.job(model={"init": {"from": best["id"]}}, train={"epochs": 1})))
        self.assertEqual(job["state"], "succeeded", job.get("reason"))

    def test_is_searched(self):
        sweep = self.service.post("/v1/sweeps", {
            "name": "rates", "job": self.job(train={"epochs": 1}), "algorithm": {"name": "random"}, "limits": {"max_trials": 3},
            "space": {"train.optimizer.lr": {"type": "log_uniform", "min": 0.001, "max": 0.1}},
            "objective": {"metric": "val_loss", "mode": "min"}})["id"]
        ended = wait_for(lambda: (now := self.service.get(f"/v1/sweeps/{sweep}"))["state"] in ("finished", "failed") and now, "the sweep", 120)
        self.assertEqual(ended["state"], "finished", ended)

    def test_freezes_by_name(self):
        job = self.service.wait_end(self.service.submit(self.job(model={"freeze": ["first.*"]}, train={"epochs": 1})))
        self.assertEqual(job["state"], "succeeded", job.get("reason"))

    def refused(self, network, **changes):
        ended = self.service.wait_end(self.service.submit(self.job(network, **changes)))
        self.assertEqual((ended["state"], ended["reason"]["code"]), ("failed", "spec_error"))
        return ended["reason"]["message"]

    def test_that_does_not_fit_says_what_to_do(self):
        self.assertIn("dynamic_shapes", self.refused(self.upload("baked")))
        self.assertIn("samples of [3, 5, 6], and those of the dataset are [4]", self.refused(self.upload("convolutional")))
        text = self.service.upload(b"not a network", "network.pt2")
        self.assertIn("not a zip", self.refused(text))


if __name__ == "__main__":
    unittest.main()
