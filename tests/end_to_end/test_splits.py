"""Goal: jobs train on the folds of a stored split, each on exactly the samples that its manifest names."""
import json
import os
import random
import signal
import unittest

from service import Service, wait_for


def people(count, seed=4):
    """A table whose rows belong to eleven people of different numbers of rows."""
    generator = random.Random(seed)
    rows = [f"{generator.gauss(index % 2 * 3, 1):.4f},{generator.gauss(0, 1):.4f},{'yes' if index % 2 else 'no'},"
            f"{'abcdefghijk'[min(generator.randrange(11), generator.randrange(11))]}" for index in range(count)]
    return "x,y,kind,who\n" + "\n".join(rows) + "\n"


class Splits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service()
        cls.addClassCleanup(cls.service.close)
        cls.service.start()
        cls.write("people", people(203))
        cls.dataset = cls.service.dataset("people", "csv", {"label_column": "kind", "feature_columns": ["x", "y"]})

    @classmethod
    def write(cls, name, text):
        file = cls.service.data / name / "rows.csv"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)

    def split(self, dataset, request):
        made = self.service.post(f"/v1/datasets/{dataset}/splits", request)
        path = f"/v1/datasets/{dataset}/splits/{made['id']}"
        return wait_for(lambda: (found := self.service.get(path))["state"] != "making" and found, "the split")

    def submit_fold(self, dataset, split, fold, epochs=2):
        return self.service.submit({
            "name": f"fold-{fold}", "model": {"arch": "mlp", "width": 8, "depth": 1}, "task": {"type": "classification"},
            "data": {"dataset": dataset, "split": {"id": split, "fold": fold}},
            "train": {"epochs": epochs, "batch_size_per_core": 8, "optimizer": {"name": "adam", "lr": 0.01}},
            "checkpoint": {"every_epochs": max(1, epochs // 20)}, "accelerator": {"cores": 1}})

    def run_fold(self, dataset, split, fold, epochs=2):
        job = self.submit_fold(dataset, split, fold, epochs)
        return job, self.service.wait_end(job)

    def test_folds_validate_what_the_manifest_says(self):
        self.assertEqual(self.dataset["state"], "ready", self.dataset)
        split = self.split("people", {"method": "group_kfold", "folds": 3, "group_by": "who", "seed": 2})
        self.assertEqual(split["state"], "ready", split["problems"])
        certificate = split["report"]["certificate"]
        self.assertEqual((certificate["each_once"], certificate["shared_samples"], certificate["shared_groups"]),
                         (True, 0, 0))
        answer = self.service.call("GET", f"/v1/datasets/people/splits/{split['id']}/manifest")
        (validates_in,) = answer.json["validation"]
        who = [row.split(",")[3] for row in people(203).splitlines()[1:]]
        for fold in (0, 1):
            inside = {name for name, number in zip(who, validates_in) if number == fold}
            self.assertFalse(inside & {name for name, number in zip(who, validates_in) if number != fold})
            job, ended = self.run_fold("people", split["id"], fold)
            self.assertEqual(ended["state"], "succeeded", ended.get("reason"))
            evaluation = self.service.get(f"/v1/jobs/{job}/evaluation")
            self.assertEqual(evaluation["samples"], validates_in.count(fold))
            self.assertEqual(split["report"]["parts"][fold]["val"], validates_in.count(fold))
        preview = self.service.get("/v1/datasets/people/preview?n=3")
        self.assertEqual((preview["samples"], preview["columns"], len(preview["items"])), (203, ["x", "y"], 3))

    def test_a_killed_job_resumes_on_its_fold_with_the_same_bits(self):
        split = self.split("people", {"method": "stratified_group_kfold", "folds": 3, "group_by": "who", "stratify_by": "kind",
                                      "seed": 5})
        self.assertEqual(split["state"], "ready", split["problems"])
        job = self.submit_fold("people", split["id"], 1, epochs=600)
        self.service.wait_said(job, "checkpoint")
        (executor,) = self.service.executors(job)
        os.kill(executor, signal.SIGKILL)
        ended = self.service.wait_end(job)
        self.assertEqual((ended["state"], ended["attempts"]), ("succeeded", 2), ended.get("reason"))
        resumed = self.service.get(f"/v1/jobs/{job}/attempts")["items"]
        self.assertEqual(len([one for one in resumed if one["resumed_from"]]), 1, resumed)
        evaluation = self.service.get(f"/v1/jobs/{job}/evaluation")
        self.assertEqual(evaluation["samples"], split["report"]["parts"][1]["val"])

        reference, undisturbed = self.run_fold("people", split["id"], 1, epochs=600)
        self.assertEqual(undisturbed["attempts"], 1)
        self.assertEqual(self.service.newest_weights(job), self.service.newest_weights(reference))
        for name in ("train_loss", "val_loss", "val_accuracy"):
            self.assertTrue(self.service.metric(job, name), name)
            self.assertEqual(self.service.metric(job, name), self.service.metric(reference, name), name)
        other, _ = self.run_fold("people", split["id"], 0, epochs=600)
        self.assertNotEqual(self.service.newest_weights(job), self.service.newest_weights(other), "a fold makes a difference")

    def test_what_the_data_does_not_have_fails_with_its_reason(self):
        split = self.split("people", {"method": "group_kfold", "group_by": "family"})
        self.assertEqual(split["state"], "failed")
        self.assertIn("family", json.dumps(split["problems"]))

    def test_files_that_changed_are_refused(self):
        self.write("changing", people(50))
        self.service.dataset("changing", "csv", {"label_column": "kind", "feature_columns": ["x", "y"]})
        split = self.split("changing", {"method": "kfold", "folds": 2})
        self.assertEqual(split["state"], "ready", split["problems"])
        self.write("changing", people(60))
        _, ended = self.run_fold("changing", split["id"], 0)
        self.assertEqual((ended["state"], ended["reason"]["code"]), ("failed", "data_error"))
        self.assertIn("have changed", ended["reason"]["message"])
        again = self.split("changing", {"method": "kfold", "folds": 2})
        self.assertEqual(again["state"], "failed")
        self.assertIn("have changed", again["problems"][0]["message"])


if __name__ == "__main__":
    unittest.main()
