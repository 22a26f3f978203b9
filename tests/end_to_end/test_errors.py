"""Goal: bad input gets a clear error and nothing is stored half-way."""
import json
import unittest

from service import DATA, SOURCE, Service, points_job, ruined_job, write_points


class Errors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service()
        cls.addClassCleanup(cls.service.close)
        write_points(cls.service.data / "points")
        cls.service.start()
        cls.service.dataset("points", "csv", {"group_column": "family"})

    def refused(self, spec, pointer, words):
        before = len(self.service.get("/v1/jobs")["items"])
        answer = self.service.call("POST", "/v1/jobs", spec)
        self.assertEqual(answer.status, 422, answer.body)
        self.assertEqual(answer.headers["Content-Type"], "application/problem+json")
        problems = answer.json["errors"]
        hit = [one for one in problems if one["pointer"] == pointer]
        self.assertTrue(hit, problems)
        self.assertIn(words, json.dumps(hit))
        self.assertEqual(len(self.service.get("/v1/jobs")["items"]), before)

    def test_three_cores_are_refused_with_what_is_allowed(self):
        self.refused(points_job(accelerator={"cores": 3}), "/accelerator/cores", "8")

    def test_core_nine_is_refused(self):
        self.refused(points_job(accelerator={"core_ids": [9]}), "/accelerator/core_ids/0", "8")

    def test_a_misspelt_field_is_named_with_the_right_one(self):
        spec = points_job()
        spec["train"]["optimiser"] = spec["train"].pop("optimizer")
        self.refused(spec, "/train/optimiser", "optimizer")

    def test_a_missing_dataset_is_named(self):
        self.refused(points_job(data={"dataset": "pionts"}), "/data/dataset", "points")

    def test_what_does_not_exist_yet_is_refused_with_what_does(self):
        self.refused(points_job(model={"arch": "unet"}), "/model/arch", "lenet")

    def test_a_csv_with_a_bad_row_names_file_row_and_field(self):
        folder = self.service.data / "bad"
        write_points(folder)
        table = folder / "points.csv"
        lines = table.read_text().splitlines()
        lines[17] = lines[17].replace(lines[17].split(",")[2], "abc", 1)
        table.write_text("\n".join(lines) + "\n")
        dataset = self.service.dataset("bad", "csv", {"group_column": "family"})
        self.assertEqual(dataset["state"], "failed")
        words = json.dumps(dataset)
        for expected in ("points.csv", "18", "abc"):
            self.assertIn(expected, words)
        self.refused(points_job(data={"dataset": "bad"}), "/data/dataset", "points.csv")

    @unittest.skipUnless((DATA / "photos").exists(), "the photos are not here")
    def test_a_truncated_jpeg_is_named(self):
        for kind in ("ants", "bees"):
            folder = self.service.data / "photos" / kind
            folder.mkdir(parents=True)
            for photo in sorted((DATA / "photos" / "train" / kind).iterdir())[:3]:
                (folder / photo.name).write_bytes(photo.read_bytes())
        damaged = next((self.service.data / "photos" / "ants").iterdir())
        damaged.write_bytes(damaged.read_bytes()[:-2000])
        dataset = self.service.dataset("photos", "image_folder", {"image_size": 32})
        self.assertEqual(dataset["state"], "failed")
        self.assertIn(damaged.name, json.dumps(dataset))

    def test_a_set_changed_after_its_check_fails_the_job_with_the_file(self):
        folder = self.service.data / "changed"
        write_points(folder)
        self.service.dataset("changed", "csv", {"group_column": "family"})
        table = folder / "points.csv"
        table.write_text(table.read_text().replace("yes", "1,2,3", 1))
        job = self.service.wait_end(self.service.submit(points_job(data={"dataset": "changed"})))
        self.assertEqual(job["state"], "failed")
        self.assertIn("points.csv", job["reason"]["message"])
        self.assertEqual(job["attempts"], 1, "the user's errors are not retried")

    def test_a_path_outside_the_root_is_refused(self):
        for path in ("../../etc", "/etc", "points/../../.."):
            answer = self.service.call("POST", "/v1/datasets", {"name": "out", "format": "csv", "source": {"path": path}})
            self.assertEqual(answer.status, 422, (path, answer.body))

    def test_a_loss_that_is_not_a_number_fails_with_the_way_out(self):
        spec = points_job(train={"epochs": 50, "batch_size_per_core": 16, "optimizer": {"name": "sgd", "lr": 1e12}})
        job = self.service.wait_end(self.service.submit(spec))
        self.assertEqual((job["state"], job["reason"]["code"]), ("failed", "nan_loss"))
        self.assertIn("train.optimizer.lr", job["reason"]["message"])

    def test_a_validation_loss_that_is_not_a_number_is_told_everywhere(self):
        job = self.service.wait_end(self.service.submit(ruined_job()))
        self.assertEqual((job["state"], job["reason"]["code"]), ("failed", "nan_loss"))
        self.assertIn("validation loss", job["reason"]["message"])
        path = f"/v1/jobs/{job['id']}"
        for query in ("", "&resolution=10"):
            point = self.service.get(f"{path}/metrics?names=val_loss{query}")["series"][0]["points"][0]
            self.assertIsNone(point["value"])
            self.assertIn(point["nonfinite"], ("nan", "inf"))
        word = point["nonfinite"]
        self.assertIn(f"val_loss,1,1,{word},", self.service.call("GET", f"{path}/metrics.csv").body.decode())
        checkpoint = self.service.get(f"{path}/checkpoints")["items"][0]
        self.assertEqual(checkpoint["metric"], {"name": "val_loss", "value": None, "nonfinite": word})
        self.assertEqual(checkpoint["kinds"], ["last"])
        self.assertIsNone(job["best"])
        evaluation = self.service.get(f"{path}/evaluation")
        self.assertIsNone(evaluation["values"]["val_loss"])
        self.assertEqual(evaluation["nonfinite"]["val_loss"], word)
        epoch = self.service.get(f"{path}/report")["epochs"][-1]
        self.assertIsNone(epoch["values"]["val_loss"])
        self.assertEqual(epoch["nonfinite"]["val_loss"], word)
        events = self.service.get(f"{path}/events?limit=100")["items"]
        self.assertIn({"val_loss": word}, [one["body"].get("nonfinite") for one in events if one["type"] == "metric"])
        self.assertIn("nonfinite_metric", [one["body"].get("code") for one in events if one["type"] == "warning"])

    def test_the_examples_of_the_documentation_are_accepted(self):
        for example in sorted((SOURCE / "api" / "examples").glob("valid_*.json")):
            answer = self.service.call("POST", "/v1/jobs?dry_run=true", example.read_text())
            self.assertLess(answer.status, 500, example)
            self.assertNotEqual(answer.status, 400, example)


if __name__ == "__main__":
    unittest.main()
