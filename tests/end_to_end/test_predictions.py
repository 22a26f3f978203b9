"""Goal: a trained network predicts a dataset through the whole service: a row for each sample, what the job's own evaluation
said, and one whole result whatever is killed meanwhile."""
import csv
import gzip
import io
import os
import signal
import struct
import unittest

from service import Service, points_job, wait_for, write_points


def write_bars(folder, count):
    """Digits' format, easier: a bright row of pixels for each of four classes, and noise."""
    folder.mkdir(mode=0o755)
    pixels = bytearray()
    for index in range(count):
        for row in range(28):
            bright = row // 7 == index % 4
            pixels += bytes((index * 31 + row * 17 + column * 7) % 90 + (120 if bright else 0) for column in range(28))
    (folder / "bars-images-idx3-ubyte.gz").write_bytes(
        gzip.compress(struct.pack(">IIII", 2051, count, 28, 28) + bytes(pixels)))
    (folder / "bars-labels-idx1-ubyte.gz").write_bytes(
        gzip.compress(struct.pack(">II", 2049, count) + bytes(index % 4 for index in range(count))))


class Predictions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service("--executor-grace-s", "4")
        cls.addClassCleanup(cls.service.close)
        write_bars(cls.service.data / "bars", 300)
        write_points(cls.service.data / "points", 20000)
        cls.service.start()
        cls.service.dataset("bars", "idx")
        cls.service.dataset("points", "csv", {"group_column": "family"})

    def train(self, spec):
        job = self.service.wait_end(self.service.submit(spec))
        self.assertEqual(job["state"], "succeeded", job["reason"])
        return job

    def predict(self, **body):
        return self.service.post("/v1/predictions", body)["id"]

    def result(self, prediction):
        answer = self.service.call("GET", f"/v1/predictions/{prediction}/result.csv")
        self.assertEqual(answer.status, 200, answer.body)
        return answer.body

    def rows(self, prediction):
        return list(csv.DictReader(io.StringIO(self.result(prediction).decode())))

    def test_lenet_predicts_what_its_evaluation_counted(self):
        trained = self.train({
            "name": "bars", "model": {"arch": "lenet"}, "task": {"type": "classification"},
            "data": {"dataset": "bars", "split": {"val_fraction": 0.2, "seed": 0}},
            "train": {"epochs": 1, "batch_size_per_core": 8, "optimizer": {"name": "adam", "lr": 0.0005}}})
        source = {"job": trained["id"], "checkpoint": "last"}
        refused = self.service.call("GET", f"/v1/predictions/{trained['id']}")
        self.assertEqual(refused.status, 404)
        validation = self.predict(**{"from": source}, data={"dataset": "bars", "split": "val"}, accelerator={"cores": 8},
                                  batch_size_per_core=4)
        everything = self.predict(**{"from": source}, data={"dataset": "bars"})
        job = self.service.wait_end(validation)
        self.assertEqual((job["kind"], job["state"]), ("predict", "succeeded"), job["reason"])
        self.assertEqual(job["result"]["samples"], 60)
        self.assertEqual(job["progress"]["phase"], "predict")
        rows = self.rows(validation)
        accuracy = sum(row["label"] == row["predicted"] for row in rows) / len(rows)
        self.assertAlmostEqual(accuracy, list(self.service.metric(trained["id"], "val_accuracy").values())[-1], places=6)
        self.assertEqual(self.service.wait_end(everything)["state"], "succeeded")
        of_all = self.rows(everything)
        self.assertEqual([int(row["sample"]) for row in of_all], list(range(300)))
        for row in rows:
            other = of_all[int(row["sample"])]
            self.assertEqual((row["label"], row["predicted"]), (other["label"], other["predicted"]))
            self.assertAlmostEqual(float(row["p_0"]), float(other["p_0"]), places=5)

    def test_a_killed_executor_leaves_one_whole_result_with_the_same_bytes(self):
        trained = self.train(points_job())
        body = {"from": {"job": trained["id"]}, "data": {"dataset": "points"}, "batch_size_per_core": 1}
        undisturbed = self.predict(**body)
        self.assertEqual(self.service.wait_end(undisturbed)["state"], "succeeded")
        disturbed = self.predict(**body)
        results = self.service.home / "store" / "reports" / disturbed
        (executor,) = wait_for(lambda: self.service.executors(disturbed), "its executor", 60, 0.002)
        wait_for(lambda: (results / "predictions.csv.tmp").exists(), "the first rows", 60, 0.001)
        os.kill(executor, signal.SIGKILL)
        self.assertEqual(self.service.call("GET", f"/v1/predictions/{disturbed}/result.csv").status, 404)
        job = self.service.wait_end(disturbed)
        self.assertEqual((job["state"], job["attempts"]), ("succeeded", 2), job["reason"])
        self.assertEqual(self.result(disturbed), self.result(undisturbed))
        self.assertEqual(self.result(disturbed).count(b"\n"), 20001)
        self.assertEqual([one.name for one in results.iterdir() if one.name.startswith("predictions")], ["predictions.csv"])


if __name__ == "__main__":
    unittest.main()
