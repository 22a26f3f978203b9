"""Goal: a cross-validation trains every fold once, whatever happens meanwhile, and what it says of the folds is what an
independent count of its files says."""
import collections
import csv
import io
import json
import math
import os
import signal
import statistics
import subprocess
import unittest

from service import BIN, ENDLESS_EPOCHS, Service, wait_for, write_points

CV_ENDS = {"succeeded", "failed", "cancelled"}


class CrossValidations:
    """What the cases of this file ask of their service."""

    @classmethod
    def make_service(cls):
        cls.service = Service()
        cls.addClassCleanup(cls.service.close)

    @classmethod
    def serve_points(cls):
        cls.make_service()
        write_points(cls.service.data / "points")
        cls.service.start()
        cls.service.dataset("points", "csv", {"group_column": "family"})

    @classmethod
    def path(cls, cross, part=""):
        return f"/v1/cross-validations/{cross}{part}"

    @classmethod
    def create(cls, split, job, **more):
        return cls.service.post("/v1/cross-validations", {"split": split, "job": job, **more})["id"]

    @classmethod
    def wait_end(cls, cross, limit_s=240):
        return wait_for(lambda: (found := cls.service.get(cls.path(cross)))["state"] in CV_ENDS and found,
                        f"{cross} to end", limit_s)

    @classmethod
    def folds(cls, cross):
        return cls.service.get(cls.path(cross, "/folds"))["items"]

    @classmethod
    def jobs(cls, cross):
        return cls.service.get(f"/v1/jobs?parent={cross}&limit=200")["items"]

    @classmethod
    def metric(cls, cross, name):
        (found,) = [one for one in cls.service.get(cls.path(cross, "/summary"))["metrics"] if one["name"] == name]
        return found


def small_job(dataset, **train):
    return {"model": {"arch": "mlp", "width": 8, "depth": 1}, "task": {"type": "classification"}, "data": {"dataset": dataset},
            "train": {"epochs": 2, "batch_size_per_core": 16, "optimizer": {"name": "adam", "lr": 0.01}, **train},
            "accelerator": {"cores": 1}}


class GlyphFamilies(CrossValidations, unittest.TestCase):
    """Group 5-fold by font family on the glyph set, in parallel and one after another."""

    @classmethod
    def setUpClass(cls):
        cls.make_service()
        made = subprocess.run([BIN / "slipway-glyphs", "--out", cls.service.data / "glyphs", "--samples", "3000",
                               "--families-min", "5"], capture_output=True, text=True)
        if made.returncode != 0:
            raise unittest.SkipTest(f"no glyph set: {made.stderr[-300:]}")
        cls.service.start()
        dataset = cls.service.dataset("glyphs", "image_csv", {"group_column": "family"})
        assert dataset["state"] == "ready", dataset["problems"]
        rows = list(csv.DictReader(io.StringIO((cls.service.data / "glyphs/labels.csv").read_text())))
        cls.families, cls.labels = [row["family"] for row in rows], [row["label"] for row in rows]
        split = {"method": "group_kfold", "folds": 5, "group_by": "family", "seed": 3}
        job = {"model": {"arch": "lenet"}, "task": {"type": "classification"}, "data": {"dataset": "glyphs"},
               "train": {"epochs": 1, "batch_size_per_core": 32, "optimizer": {"name": "adam", "lr": 0.002}},
               "accelerator": {"cores": 1}}
        cls.parallel = cls.create(split, job, name="at once", parallel={"folds": 5})
        cls.ended = cls.wait_end(cls.parallel)
        cls.serial = cls.create(split, job, name="one by one", parallel={"folds": 1},
                                outputs={"oof_predictions": False})
        cls.serial_ended = cls.wait_end(cls.serial)

    def test_folds_at_once_are_folds_one_after_another_to_the_bit(self):
        self.assertEqual((self.ended["state"], self.serial_ended["state"]), ("succeeded", "succeeded"),
                         (self.ended["reason"], self.serial_ended["reason"]))
        self.assertEqual(self.ended["split_id"], self.serial_ended["split_id"], "an equal split is used again")
        for first, second in zip(self.folds(self.parallel), self.folds(self.serial), strict=True):
            self.assertEqual(first["metrics"], second["metrics"])
            self.assertTrue(first["metrics"])
            self.assertEqual(self.service.newest_weights(first["job_id"]), self.service.newest_weights(second["job_id"]))
        spans = sorted((job["started_at"], job["finished_at"]) for job in self.jobs(self.serial))
        self.assertEqual(len(spans), 5)
        self.assertTrue(all(end <= begin for (_, end), (begin, _) in zip(spans, spans[1:])), "one after another")

    def test_no_family_is_on_both_sides(self):
        answer = self.service.call("GET", f"/v1/datasets/glyphs/splits/{self.ended['split_id']}/manifest")
        (validates_in,) = answer.json["validation"]
        self.assertEqual(len(validates_in), len(self.families))
        of_fold = collections.defaultdict(set)
        for family, fold in zip(self.families, validates_in):
            of_fold[fold].add(family)
        self.assertEqual(sorted(of_fold), list(range(5)))
        self.assertEqual(sum(map(len, of_fold.values())), len(set(self.families)), "each family validates in one fold")
        for fold in self.folds(self.parallel):
            self.assertEqual(fold["counts"]["shared_groups"], 0)
            self.assertEqual(fold["val_samples"], validates_in.count(fold["fold"]))
            self.assertEqual(fold["counts"]["val_groups"], len(of_fold[fold["fold"]]))

    def test_out_of_fold_predictions_have_every_sample_once_and_give_the_summary(self):
        answer = self.service.call("GET", self.path(self.parallel, "/oof"))
        self.assertEqual(answer.status, 200)
        rows = list(csv.DictReader(io.StringIO(answer.body.decode())))
        self.assertEqual([int(row["sample"]) for row in rows], list(range(len(self.labels))))
        self.assertEqual([row["label"] for row in rows], self.labels)
        manifest = self.service.call("GET", f"/v1/datasets/glyphs/splits/{self.ended['split_id']}/manifest").json
        self.assertEqual([int(row["fold"]) for row in rows], manifest["validation"][0])
        right, losses = collections.defaultdict(list), collections.defaultdict(list)
        for row in rows:
            right[row["fold"]].append(row["predicted"] == row["label"])
            losses[row["fold"]].append(-math.log(max(float(row["p_" + row["label"]]), 1e-30)))
        for name, values in (("val_accuracy", right), ("val_loss", losses)):
            means = [statistics.mean(map(float, values[str(fold)])) for fold in range(5)]
            told = self.metric(self.parallel, name)
            self.assertAlmostEqual(told["mean"], statistics.mean(means), places=4)
            self.assertAlmostEqual(told["std"], statistics.stdev(means), places=4)
            self.assertAlmostEqual(told["standard_error"], statistics.stdev(means) / math.sqrt(5), places=4)
            everything = [float(value) for fold in range(5) for value in values[str(fold)]]
            self.assertAlmostEqual(told["weighted_mean"], statistics.mean(everything), places=4)
        self.assertEqual(self.ended["oof"]["rows"], len(rows))
        self.assertEqual(self.service.call("GET", self.path(self.serial, "/oof")).status, 404)


class Points(CrossValidations, unittest.TestCase):
    """Small folds: how they end."""

    @classmethod
    def setUpClass(cls):
        cls.serve_points()

    def wait_jobs(self, cross, count):
        return wait_for(lambda: len(found := [job for job in self.jobs(cross) if job["state"] == "running"]) >= count and found,
                        f"{count} jobs of {cross} to run")

    def executor_of_fold(self, cross, fold):
        """(its job, process id of its executor), as soon as there are both."""
        (job,) = wait_for(lambda: [one for one in self.jobs(cross) if one["parent"]["key"] == str(fold)], f"the job of fold {fold}")
        return job, wait_for(lambda: self.service.executors(job["id"]), "its executor", pause_s=0.005)[0]

    def test_a_failed_fold_is_named_and_the_others_go_on(self):
        job = small_job("points", epochs=1000)
        job["limits"] = {"max_restarts": 0}
        cross = self.create({"method": "stratified_kfold", "folds": 3}, job, outputs={"oof_predictions": False})
        _, executor = self.executor_of_fold(cross, 1)
        os.kill(executor, signal.SIGKILL)
        ended = self.wait_end(cross)
        self.assertEqual((ended["state"], ended["reason"]["code"]), ("failed", "folds_failed"))
        self.assertIn("fold 1", ended["reason"]["message"])
        self.assertEqual([fold["state"] for fold in self.folds(cross)], ["succeeded", "failed", "succeeded"])
        self.assertIn("executor_lost", self.folds(cross)[1]["reason"])
        summary = self.service.get(self.path(cross, "/summary"))
        self.assertEqual((summary["complete"], summary["failed_folds"]), (False, [1]))
        self.assertEqual({one["folds"] for one in summary["metrics"]}, {2})

    def test_a_failed_fold_is_tried_again_and_the_others_keep_their_results(self):
        job = small_job("points", epochs=1000)
        job["limits"] = {"max_restarts": 0}
        cross = self.create({"method": "kfold", "folds": 3, "seed": 8}, job)
        lost, executor = self.executor_of_fold(cross, 1)
        self.service.wait_said(lost["id"], "checkpoint")
        os.kill(executor, signal.SIGKILL)
        self.assertEqual(self.wait_end(cross)["state"], "failed")
        before = self.folds(cross)
        path = self.path(cross, "/retry")
        self.assertEqual(self.service.post(path, {"codes": ["nan_loss"]})["retried"], 0)
        self.assertEqual(self.service.call("POST", path, {"codes": [1]}).status, 422)
        preview = self.service.post(path + "?dry_run=true", {})
        self.assertEqual((preview["state"], preview["codes"], preview["items"][0]["fold"]), ("running", {"executor_lost": 1}, 1))
        self.assertEqual(self.service.get(self.path(cross))["state"], "failed")
        done = self.service.post(path, {})
        self.assertEqual((done["state"], done["retried"], done["left"]), ("running", 1, 0))
        self.service.kill()
        self.service.start()
        ended = self.wait_end(cross)
        self.assertEqual((ended["state"], ended["reason"]), ("succeeded", None))
        after = self.folds(cross)
        self.assertEqual([fold["job_id"] for fold in after][::2], [fold["job_id"] for fold in before][::2])
        self.assertEqual(self.service.job(after[1]["job_id"])["origin"]["job_id"], lost["id"])
        self.assertEqual(ended["oof"]["rows"], 600)
        told = [(one["type"], one["body"]["state"]) for one in self.service.get(self.path(cross, "/events"))["items"]]
        self.assertIn(("progress", "waiting"), told)
        self.assertEqual([one for one in told if one[0] == "end"], [("end", "failed"), ("end", "succeeded")])
        self.assertEqual(self.service.post(path, {})["retried"], 0, "nothing is left to do")

    def test_folds_that_others_would_end_at_once_are_not_tried_again(self):
        job = small_job("points", epochs=ENDLESS_EPOCHS)
        cross = self.create({"method": "kfold", "folds": 3, "seed": 9}, job, parallel={"folds": 2, "on_fold_failure": "cancel"})
        running = self.wait_jobs(cross, 2)
        self.service.post(f"/v1/jobs/{running[0]['id']}/kill", {})
        self.assertEqual(self.wait_end(cross)["state"], "failed")
        codes = self.service.post(self.path(cross, "/retry?dry_run=true"), {})["codes"]
        self.assertEqual(sum(codes.values()), 3, codes)
        self.assertIn("not_made", codes)
        refused = self.service.call("POST", self.path(cross, "/retry"), {"codes": ["nan_loss"]})
        self.assertEqual(refused.status, 409)
        self.assertIn("on_fold_failure", refused.json["detail"])
        self.assertEqual(self.service.get(self.path(cross))["state"], "failed")

    def test_cancelling_ends_its_jobs_and_deleting_removes_them(self):
        cross = self.create({"method": "kfold", "folds": 4}, small_job("points", epochs=ENDLESS_EPOCHS), parallel={"folds": 2})
        self.wait_jobs(cross, 1)
        self.assertEqual(self.service.call("DELETE", self.path(cross)).status, 409)
        self.assertEqual(self.service.post(self.path(cross, "/cancel"), {})["state"], "cancelling")
        ended = self.wait_end(cross)
        self.assertEqual((ended["state"], ended["reason"]["code"]), ("cancelled", "cancelled"))
        self.assertEqual({fold["state"] for fold in self.folds(cross)}, {"cancelled"})
        self.assertEqual({job["state"] for job in self.jobs(cross)}, {"cancelled"})
        self.assertEqual(self.service.post(self.path(cross, "/cancel"), {})["state"], "cancelled", "again: as it is")
        self.assertEqual(self.service.call("DELETE", self.path(cross)).status, 204)
        self.assertEqual(self.jobs(cross), [])
        self.assertEqual(self.service.call("GET", self.path(cross)).status, 404)

    def test_the_refit_trains_on_all_samples(self):
        cross = self.create({"method": "kfold", "folds": 2}, small_job("points"), outputs={"refit_on_all": True})
        ended = self.wait_end(cross)
        self.assertEqual(ended["state"], "succeeded", ended["reason"])
        refit = self.service.job(ended["refit_job_id"])
        self.assertEqual(refit["spec"]["data"]["split"]["val_fraction"], 0)
        self.assertEqual(refit["progress"]["samples"], 2 * (600 - 600 % 16))
        self.assertNotIn("val_loss", refit["result"])

    def test_repeats_predict_every_sample_in_each(self):
        cross = self.create({"method": "repeated_kfold", "folds": 2, "repeats": 2}, small_job("points"))
        self.assertEqual(self.wait_end(cross)["state"], "succeeded")
        rows = list(csv.DictReader(io.StringIO(self.service.call("GET", self.path(cross, "/oof")).body.decode())))
        self.assertEqual([(int(row["sample"]), int(row["repeat"])) for row in rows],
                         [(sample, repeat) for sample in range(600) for repeat in range(2)])
        self.assertEqual([fold["repeat"] for fold in self.folds(cross)], [0, 0, 1, 1])

    def test_two_configurations_are_compared_on_the_same_folds(self):
        split = {"method": "stratified_kfold", "folds": 4, "seed": 9}
        more = {"outputs": {"oof_predictions": False}}
        first = self.create(split, small_job("points", epochs=1, optimizer={"name": "sgd", "lr": 0.0001}), **more)
        second = self.create(split, small_job("points", epochs=8), **more)
        for one in (first, second):
            self.assertEqual(self.wait_end(one)["state"], "succeeded")
        compared = self.service.get(self.path(first, f"/compare?with={second}"))
        (loss,) = [one for one in compared["metrics"] if one["name"] == "val_loss"]
        values = [[fold["metrics"]["val_loss"] for fold in self.folds(one)] for one in (first, second)]
        differences = [b - a for a, b in zip(*values)]
        self.assertEqual([one["difference"] for one in loss["values"]], differences)
        error = statistics.stdev(differences) * math.sqrt(1 / 4 + 600 / 1800)
        self.assertAlmostEqual(loss["mean_difference"], statistics.mean(differences), places=12)
        self.assertAlmostEqual(loss["standard_error"], error, places=12)
        self.assertAlmostEqual(loss["t"], statistics.mean(differences) / error, places=9)
        self.assertEqual((loss["second_better"], loss["folds"]), (4, 4))
        self.assertLess(loss["p_value"], 0.05)
        other = self.create({**split, "seed": 10}, small_job("points"), **more)
        self.wait_end(other)
        answer = self.service.call("GET", self.path(first, f"/compare?with={other}"))
        self.assertEqual((answer.status, answer.json["code"]), (409, "different_splits"))
        self.assertEqual(self.service.call("GET", self.path(first, "/compare?with=cv_none")).status, 404)

    def test_events_tell_what_happened_and_a_stream_ends_with_the_last(self):
        cross = self.create({"method": "kfold", "folds": 2, "seed": 3}, small_job("points"), parallel={"folds": 1})
        stream = self.service.call("GET", self.path(cross, "/events"), headers={"Accept": "text/event-stream"}, timeout_s=120)
        streamed = [json.loads(line[len("data: "):]) for line in stream.body.decode().splitlines() if line.startswith("data: ")]
        events = self.service.get(self.path(cross, "/events"))["items"]
        self.assertEqual(streamed, [event["body"] for event in events])
        self.assertEqual([event["seq"] for event in events], list(range(1, len(events) + 1)))
        told = [(event["type"], event["body"]["state"], event["body"].get("fold")) for event in events]
        self.assertEqual([one[:2] for one in told if one[0] != "progress"],
                         [("state", "preparing"), ("state", "running"), ("state", "succeeded"), ("end", "succeeded")])
        of_fold = [[state for _, state, number in told if number == fold] for fold in range(2)]
        self.assertEqual(of_fold, [["training", "predicting", "succeeded"]] * 2)
        after = self.service.get(self.path(cross, "/events?after=3&types=state"))["items"]
        self.assertEqual([event["body"]["state"] for event in after], ["succeeded"])
        again = self.service.call("GET", self.path(cross, "/events"), headers={
            "Accept": "text/event-stream", "Last-Event-ID": str(len(events))})
        self.assertEqual(again.status, 204)

    def test_data_that_cannot_be_divided_so_fail_with_the_reason(self):
        ended = self.wait_end(self.create({"method": "group_kfold", "group_by": "font"}, small_job("points")))
        self.assertEqual((ended["state"], ended["reason"]["code"]), ("failed", "split_failed"))
        self.assertIn("no such column", ended["reason"]["message"])
        self.assertEqual(self.jobs(ended["id"]), [])

    def test_a_request_by_its_key_and_a_dry_run(self):
        body = {"split": {"method": "kfold", "folds": 2}, "job": small_job("points")}
        preview = self.service.post("/v1/cross-validations?dry_run=true", body)
        self.assertEqual((preview["folds"], preview["effective"]["global_batch"]), (2, 16))
        sent = [self.service.call("POST", "/v1/cross-validations", body, {"Idempotency-Key": "once"}) for _ in range(2)]
        self.assertEqual([one.status for one in sent], [201, 201])
        self.assertEqual(sent[0].json["id"], sent[1].json["id"])
        self.wait_end(sent[0].json["id"])
        noted = self.service.get(f"/v1/audit?object={sent[0].json['id']}")["items"]
        self.assertEqual([one["action"] for one in noted], ["create_cross_validation"])


class KilledServer(CrossValidations, unittest.TestCase):
    """The service is killed at several moments of one cross-validation."""

    @classmethod
    def setUpClass(cls):
        cls.serve_points()

    def test_every_fold_trains_once_and_ends_the_same(self):
        split = {"method": "group_kfold", "folds": 4, "group_by": "family", "seed": 1}
        job = small_job("points", epochs=60)
        undisturbed = self.create(split, job)
        self.assertEqual(self.wait_end(undisturbed)["state"], "succeeded")
        cross = self.create(split, job, parallel={"folds": 2})
        for pause_jobs in (0, 1, 3, 5, 7):
            wait_for(lambda: self.service.get(self.path(cross))["state"] in CV_ENDS or
                     len(self.jobs(cross)) >= pause_jobs, "jobs")
            self.service.kill()
            self.service.start()
        ended = self.wait_end(cross)
        self.assertEqual(ended["state"], "succeeded", ended["reason"])
        keys = collections.Counter(job["parent"]["key"] for job in self.jobs(cross))
        self.assertEqual(keys, collections.Counter([*map(str, range(4)), *(f"{fold}-oof" for fold in range(4))]))
        for first, second in zip(self.folds(undisturbed), self.folds(cross), strict=True):
            self.assertEqual(first["metrics"], second["metrics"])
            self.assertEqual(self.service.newest_weights(first["job_id"]), self.service.newest_weights(second["job_id"]))
        self.assertEqual(*(self.service.call("GET", self.path(one, "/oof")).body for one in (undisturbed, cross)))


if __name__ == "__main__":
    unittest.main()
