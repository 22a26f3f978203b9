"""Goal: an evaluation measures a checkpoint through the whole service: what the training's last evaluation said, to the last
bit and on any number of cores; the samples of another dataset; one whole result whatever is killed meanwhile."""
import os
import shutil
import signal
import unittest

from service import Service, points_job, wait_for, write_points


class Evaluations(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service("--executor-grace-s", "4")
        cls.addClassCleanup(cls.service.close)
        write_points(cls.service.data / "points", 20000)
        shutil.copytree(cls.service.data / "points", cls.service.data / "copies")
        write_points(cls.service.data / "others", 500, seed=7)
        cls.service.start()
        for name in ("points", "copies", "others"):
            cls.service.dataset(name, "csv", {"group_column": "family"})
        spec = points_job(task={"type": "classification", "metrics": ["loss", "accuracy", "confusion_matrix"]})
        cls.trained = cls.service.wait_end(cls.service.submit(spec))
        assert cls.trained["state"] == "succeeded", cls.trained["reason"]
        cls.source = {"job": cls.trained["id"], "checkpoint": "last"}

    def evaluate(self, **body):
        return self.service.post("/v1/evaluations", {"from": self.source, **body})["id"]

    def report(self, job):
        return self.service.get(f"/v1/jobs/{job}/evaluation")

    def ended(self, job, state="succeeded"):
        job = self.service.wait_end(job)
        self.assertEqual((job["kind"], job["state"]), ("evaluate", state), job["reason"])
        return job

    def test_the_validation_samples_have_the_bits_of_the_training_on_any_number_of_cores(self):
        expected = self.report(self.trained["id"])
        self.assertIn("confusion_matrix", expected)
        for cores in (1, 8):
            job = self.ended(self.evaluate(accelerator={"cores": cores}))
            self.assertEqual(self.report(job["id"]), expected)
            self.assertEqual(job["result"]["val_loss"], self.trained["result"]["val_loss"])
            self.assertEqual(job["result"]["samples"], expected["samples"])
            self.assertEqual(job["effective"]["global_batch"], self.trained["effective"]["global_batch"])
            self.assertEqual(job["progress"]["phase"], "evaluate")
            self.assertEqual(self.service.get(f"/v1/jobs/{job['id']}/checkpoints")["items"], [])
            self.assertEqual(list(self.service.metric(job["id"], "val_loss").values()), [expected["values"]["val_loss"]])
        listed = self.service.get("/v1/jobs?kind=evaluate&order_by=best&metric=val_loss")["items"]
        self.assertEqual({job["kind"] for job in listed}, {"evaluate"})
        self.assertIn(job["id"], [one["id"] for one in listed])

    def test_another_dataset_of_the_same_classes_is_measured_by_their_names(self):
        copies = self.ended(self.evaluate(data={"dataset": "copies"}))
        whole = self.ended(self.evaluate(data={"split": "all"}))
        self.assertEqual(self.report(copies["id"]), self.report(whole["id"]))
        others = self.ended(self.evaluate(data={"dataset": "others"}))
        self.assertEqual(others["result"]["samples"], 500)
        self.assertNotEqual(others["result"]["val_loss"], whole["result"]["val_loss"])
        self.assertIn("evaluate-mlp", others["name"])
        self.assertIn("succeeded", self.service.get(f"/v1/jobs/{others['id']}/explain")["message"])

    def test_a_killed_executor_leaves_one_whole_result_and_a_cancelled_one_none(self):
        undisturbed = self.ended(self.evaluate(data={"split": "all"}))
        disturbed = self.evaluate(data={"split": "all"})
        executor = wait_for(lambda: self.service.executors(disturbed), "its executor", 60, 0.002)[0]
        os.kill(executor, signal.SIGKILL)
        job = self.ended(disturbed)
        self.assertEqual(job["attempts"], 2)
        self.assertEqual(self.report(disturbed), self.report(undisturbed["id"]))
        self.assertEqual(len(self.service.metric(disturbed, "val_loss")), 1)

        held = self.evaluate(limits={"start_after": "2099-01-01T00:00:00Z"})
        self.service.post(f"/v1/jobs/{held}/cancel", {})
        self.ended(held, "cancelled")
        self.assertEqual(self.service.call("GET", f"/v1/jobs/{held}/evaluation").status, 404)
        again = self.service.post(f"/v1/jobs/{held}/retry", {})
        self.assertEqual((again["kind"], again["evaluation"]["data"]["split"]), ("evaluate", "val"))
        self.service.post(f"/v1/jobs/{again['id']}/cancel", {})



if __name__ == "__main__":
    unittest.main()
