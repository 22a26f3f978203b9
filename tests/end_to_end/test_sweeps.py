"""Goal: a sweep runs its trials as jobs, on real executors, to the end that its algorithm and its limits say, and its log says
why."""
import json
import unittest

from service import points_job, serve_points, wait_for
from sweep_calls import LONG_EPOCHS, RATES, SweepCalls, quick_job, sweep_of


class Sweeps(SweepCalls, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        serve_points(cls, rows=200)

    def test_a_grid_runs_every_point_and_names_the_best(self):
        space = {"model.width": {"type": "choice", "values": [4, 16]},
                 "train.optimizer.lr": {"type": "log_uniform", "min": 0.001, "max": 0.1, "count": 3}}
        sweep_id = self.create(sweep_of(space, {"name": "grid"}, quick_job(2)))
        sweep = self.wait_end(sweep_id)
        self.assertEqual((sweep["state"], sweep["reason"]["code"]), ("finished", "search_over"), sweep["reason"])
        self.assertEqual((sweep["max_trials"], sweep["trials"]["completed"]), (6, 6))
        self.assertGreater(sweep["core_s"], 0)
        trials = self.trials(sweep_id)
        self.assertEqual(len({json.dumps(one["point"], sort_keys=True) for one in trials}), 6)
        ordered = self.trials(sweep_id, "&order_by=best")
        self.assertEqual([one["value"] for one in ordered], sorted(one["value"] for one in trials))
        best = self.service.get(f"/v1/sweeps/{sweep_id}/best")
        self.assertEqual(best["trial"]["number"], sweep["best"]["trial"])
        self.assertEqual(best["trial"]["value"], ordered[0]["value"])
        self.assertTrue(best["checkpoint_id"].startswith("ckp_"))
        self.assertEqual(best["spec"]["model"]["width"], best["trial"]["point"]["model.width"])
        jobs = self.service.get(f"/v1/jobs?parent={sweep_id}")["items"]
        self.assertEqual({(job["parent"]["key"], job["name"]) for job in jobs}, {(str(n), f"points-{n}") for n in range(6)})
        for job, trial in zip(sorted(jobs, key=lambda one: int(one["parent"]["key"])), trials):
            self.assertEqual(job["spec"]["train"]["optimizer"]["lr"], trial["point"]["train.optimizer.lr"])
            self.assertEqual(min(self.service.metric(job["id"], "val_loss").values()), trial["value"])

    def test_the_same_seed_gives_the_same_trials(self):
        points = []
        for concurrent in (1, 4):
            sweep_id = self.create(sweep_of(RATES, {"name": "random"}, quick_job(), seed=7,
                                            limits={"max_trials": 4, "max_concurrent": concurrent}))
            self.wait_end(sweep_id)
            points.append([(one["point"], one["value"]) for one in self.trials(sweep_id)])
        self.assertEqual(*points)

    def test_asha_stops_trials_that_fall_behind(self):
        job = quick_job(9, monitor={"log_every_steps": 100})
        space = {"train.optimizer.lr": {"type": "choice", "values": [0.02, 1e-6, 0.03, 1e-7, 0.01, 1e-8]}}
        sweep_id = self.create(sweep_of(space, {"name": "asha", "mode": "stop", "max_time": 9, "sampler": {"name": "grid"}}, job,
                                        limits={"max_concurrent": 1}))
        sweep = self.wait_end(sweep_id)
        self.assertEqual(sweep["state"], "finished", sweep["reason"])
        trials = self.trials(sweep_id)
        states = {one["point"]["train.optimizer.lr"]: one["state"] for one in trials}
        self.assertEqual(states[0.02], "completed")
        self.assertEqual({states[rate] for rate in (1e-6, 1e-7, 1e-8)}, {"stopped"})
        for one in trials:
            job = self.service.job(one["job_id"])
            if one["state"] == "stopped" and job["state"] == "cancelled":
                self.assertEqual(job["reason"], {"code": "stopped_by_sweep", "message": one["reason"]})

    def test_asha_promotes_from_checkpoints(self):
        sweep_id = self.create(sweep_of(RATES, {"name": "asha", "mode": "promote", "max_time": 9}, quick_job(),
                                        limits={"max_trials": 9, "max_concurrent": 3}, seed=3,
                                        keep_checkpoints="all"))
        sweep = self.wait_end(sweep_id)
        self.assertEqual(sweep["state"], "finished", sweep["reason"])
        trials = self.trials(sweep_id)
        furthest = [one for one in trials if one["until"] == 9]
        self.assertTrue(furthest, [(one["until"], one["state"]) for one in trials])
        self.assertEqual((furthest[0]["state"], furthest[0]["jobs"], furthest[0]["last_time"]), ("completed", 3, 9))
        jobs = [job for job in self.service.get(f"/v1/jobs?parent={sweep_id}")["items"]
                if job["parent"]["key"].split("@")[0] == str(furthest[0]["number"])]
        self.assertEqual(sorted(job["parent"]["key"].split("@")[1] for job in jobs), ["1", "3", "9"])
        # What was trained in three pieces is what is trained at once.
        whole = self.service.submit(quick_job(9, **{}) | {"train": {
            "epochs": 9, "batch_size_per_core": 32,
            "optimizer": {"name": "adam", "lr": furthest[0]["point"]["train.optimizer.lr"]}}})
        self.service.wait_end(whole)
        last = next(job["id"] for job in jobs if job["parent"]["key"].endswith("@9"))
        self.assertEqual(self.service.newest_weights(last), self.service.newest_weights(whole))

    def test_a_promoted_trial_has_the_schedule_of_the_whole_training(self):
        for name in ("one_cycle", "cosine"):
            job = quick_job()
            job["train"]["schedule"] = {"name": name}
            sweep_id = self.create(sweep_of(RATES, {"name": "asha", "mode": "promote", "max_time": 4, "reduction_factor": 2}, job,
                                            limits={"max_trials": 4, "max_concurrent": 2}, seed=5))
            sweep = self.wait_end(sweep_id)
            self.assertEqual((sweep["state"], sweep["trials"]["failed"]), ("finished", 0), sweep["reason"])
            last = [one for one in self.trials(sweep_id) if one["last_time"] == 4][0]
            self.assertEqual(self.service.job(last["job_id"])["spec"]["train"]["schedule"]["length"], 4)
            at_once = quick_job(4)
            at_once["train"]["optimizer"]["lr"] = last["point"]["train.optimizer.lr"]
            at_once["train"]["schedule"] = {"name": name}
            whole = self.service.submit(at_once)
            self.assertEqual(self.service.wait_end(whole)["state"], "succeeded")
            by_step = self.service.metric(whole, "val_loss")
            self.assertEqual(by_step[max(by_step)], last["last_value"], name)
        job["train"]["schedule"] = {"name": "cosine", "length": 3}
        refused = self.service.call("POST", "/v1/sweeps", sweep_of(RATES, {"name": "hyperband", "max_time": 9}, job, limits={"max_trials": 3}))
        self.assertEqual((refused.status, refused.json["errors"][0]["pointer"]), (422, "/job/train/schedule/length"))

    def test_pbt_takes_over_weights_and_values(self):
        sweep_id = self.create(sweep_of(RATES, {"name": "pbt", "population": 4, "interval": 1, "max_time": 3}, quick_job(),
                                        seed=5))
        sweep = self.wait_end(sweep_id)
        self.assertEqual(sweep["state"], "finished", sweep["reason"])
        trials = self.trials(sweep_id)
        self.assertEqual([one["last_time"] for one in trials], [3] * 4)
        copied = [one for one in trials if one["lineage"]]
        self.assertTrue(copied)
        self.assertTrue(any(action == "exploit" for action, _, _ in self.decisions(sweep_id)))
        self.assertEqual(sum(one["jobs"] for one in trials), 12)

    def test_a_sweep_in_which_every_trial_diverges_ends_with_a_reason(self):
        job = points_job(train={"epochs": 1, "batch_size_per_core": 32, "optimizer": {"name": "sgd", "lr": 1}})
        space = {"train.optimizer.lr": {"type": "log_uniform", "min": 1e25, "max": 1e30}}
        sweep_id = self.create(sweep_of(space, {"name": "random"}, job, limits={"max_trials": 1000}))
        sweep = self.wait_end(sweep_id)
        self.assertEqual((sweep["state"], sweep["reason"]["code"]), ("failed", "too_many_failures"))
        self.assertLess(sweep["trials"]["total"], 40)
        self.assertIn("val_loss", sweep["reason"]["message"])

    def test_limits_end_a_sweep(self):
        for limits, code in (({"target": 10}, "target"), ({"stall": 2}, "stall"), ({"max_core_s": 0.001}, "max_core_s"),
                             ({"max_wall_s": 0.5}, "max_wall_s")):
            with self.subTest(limits):
                sweep_id = self.create(sweep_of(RATES, {"name": "random"}, quick_job(),
                                                limits={"max_trials": 500, "max_concurrent": 2, **limits}))
                sweep = self.wait_end(sweep_id)
                self.assertEqual((sweep["state"], sweep["reason"]["code"]), ("finished", code))
                self.assertLess(sweep["trials"]["total"], 100)

    def test_a_sweep_is_paused_resumed_extended_and_stopped(self):
        job = quick_job(LONG_EPOCHS)
        sweep_id = self.create(sweep_of(RATES, {"name": "random"}, job, limits={"max_trials": 2, "max_concurrent": 2}))
        wait_for(lambda: [one for one in self.trials(sweep_id) if one["reports"]], "a trial to report")
        ids = [one["job_id"] for one in self.trials(sweep_id)]
        self.service.post(f"/v1/sweeps/{sweep_id}/pause", {})
        for job_id in ids:
            self.service.wait_state(job_id, "paused")
        self.assertEqual(self.service.post(f"/v1/sweeps/{sweep_id}/resume", {})["state"], "running")
        for job_id in ids:
            self.service.wait_state(job_id, "running")
        self.assertEqual(self.service.post(f"/v1/sweeps/{sweep_id}/extend", {"max_trials": 3})["max_trials"], 3)
        self.assertEqual(self.service.call("POST", f"/v1/sweeps/{sweep_id}/extend", {"max_trials": 3}).status, 422)
        self.assertEqual(self.service.call("DELETE", f"/v1/sweeps/{sweep_id}").status, 409)
        self.service.post(f"/v1/sweeps/{sweep_id}/stop", {})
        sweep = self.wait_end(sweep_id)
        self.assertEqual((sweep["state"], sweep["trials"]["failed"]), ("stopped", sweep["trials"]["total"]))
        for job_id in ids:
            self.assertEqual(self.service.job(job_id)["state"], "cancelled")
        self.assertEqual(self.service.call("DELETE", f"/v1/sweeps/{sweep_id}").status, 204)
        self.assertEqual(self.service.get(f"/v1/jobs?parent={sweep_id}")["items"], [])
        self.assertEqual(self.service.call("GET", f"/v1/sweeps/{sweep_id}").status, 404)

    def test_a_finished_sweep_goes_on_and_a_failed_trial_is_tried_again(self):
        job = quick_job(LONG_EPOCHS)
        sweep_id = self.create(sweep_of(RATES, {"name": "random"}, job, limits={"max_trials": 1, "max_failures": 5}))
        first = wait_for(lambda: [one for one in self.trials(sweep_id) if one["reports"]], "a trial to report")[0]
        self.service.post(f"/v1/jobs/{first['job_id']}/cancel", {})
        sweep = self.wait_end(sweep_id)
        self.assertEqual(sweep["trials"]["failed"], 1)
        again = self.service.post(f"/v1/sweeps/{sweep_id}/trials/0/retry", {})
        self.assertEqual(again["state"], "running")
        second = wait_for(lambda: (one := self.trials(sweep_id)[0])["job_id"] != first["job_id"] and one, "a second job")
        self.assertEqual(second["jobs"], 2)
        self.assertEqual(self.service.job(second["job_id"])["origin"]["job_id"], first["job_id"])
        self.assertEqual(self.service.post(f"/v1/sweeps/{sweep_id}/extend", {"max_trials": 2})["max_trials"], 2)
        wait_for(lambda: len(self.trials(sweep_id)) == 2, "one more trial")
        self.service.post(f"/v1/sweeps/{sweep_id}/stop", {})
        self.wait_end(sweep_id)

    def streamed(self, sweep_id, query="", **headers):
        """The stream of a sweep to its end, as (id, type, data)."""
        answer = self.service.call("GET", f"/v1/sweeps/{sweep_id}/events{query}", headers={"Accept": "text/event-stream", **headers}, timeout_s=200)
        self.assertIn(answer.status, (200, 204), answer.body)
        events = []
        for block in answer.body.decode().split("\n\n"):
            fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
            if "data" in fields:
                events.append((int(fields["id"]), fields["event"], json.loads(fields["data"])))
        return events

    def test_a_stream_tells_the_log_and_the_states(self):
        sweep_id = self.create(sweep_of(RATES, {"name": "random"}, quick_job(), limits={"max_trials": 3, "max_concurrent": 2}))
        live = self.streamed(sweep_id)
        self.assertEqual([one[0] for one in live], list(range(1, len(live) + 1)))
        self.assertEqual((live[-1][1], live[-1][2]["state"], live[-1][2]["from"]), ("end", "finished", "running"))
        self.assertEqual(self.streamed(sweep_id), live, "the same afterwards")
        log = self.log(sweep_id)
        self.assertEqual([one["seq"] for one in log], [one[0] for one in live])
        self.assertEqual([{"event": one["event"], "decisions": one["decisions"]} for one in log if one["event"]["type"] != "state"],
                         [data for _, kind, data in live if kind == "entry"])
        self.assertEqual(self.streamed(sweep_id, **{"Last-Event-ID": str(live[2][0])}), live[3:])
        self.assertEqual([one[1] for one in self.streamed(sweep_id, "?types=state")], ["end"])
        self.assertEqual(self.streamed(sweep_id, f"?after={live[-1][0]}"), [], "204: nothing follows")
        self.assertEqual(self.service.call("GET", f"/v1/sweeps/{sweep_id}/events?types=metric").status, 422)
        # It goes on: the first end is told, and is not the end of the stream.
        self.service.post(f"/v1/sweeps/{sweep_id}/extend", {"max_trials": 4})
        again = self.streamed(sweep_id)
        self.assertEqual(again[:len(live)], live)
        self.assertEqual([one[2]["state"] for one in again if one[1] != "entry"], ["finished", "running", "finished"])

    def test_all_failed_trials_are_tried_again_by_one_call(self):
        job = quick_job(LONG_EPOCHS)
        sweep_id = self.create(sweep_of(RATES, {"name": "random"}, job, limits={"max_trials": 3, "max_concurrent": 3, "max_failures": 3}))
        first = wait_for(lambda: len(found := [one for one in self.trials(sweep_id) if one["reports"]]) == 3 and found, "trials to report")
        for one in first:
            self.service.post(f"/v1/jobs/{one['job_id']}/cancel", {})
        ended = self.wait_end(sweep_id)
        self.assertEqual((ended["state"], ended["trials"]["failed"], ended["reason"]["code"]), ("failed", 3, "too_many_failures"))
        code = self.service.job(first[0]["job_id"])["reason"]["code"]
        path = f"/v1/sweeps/{sweep_id}/retry"
        preview = self.service.post(path + "?dry_run=true", {})
        self.assertEqual((preview["retried"], preview["left"], preview["state"], preview["codes"]), (3, 0, "running", {code: 3}))
        self.assertEqual(self.sweep(sweep_id)["state"], "failed", "a dry run changes nothing")
        none = self.service.post(path, {"codes": ["data_error"]})
        self.assertEqual((none["retried"], none["left"], none["state"]), (0, 3, "failed"))
        self.assertEqual(self.service.call("POST", path, {"codes": "data_error"}).status, 422)
        self.assertEqual(self.service.call("POST", path, {"codes": []}).status, 422)
        done = self.service.post(path, {"codes": [code, "data_error"]})
        self.assertEqual((done["retried"], done["left"], done["state"]), (3, 0, "running"))
        self.service.kill()
        self.service.start()
        second = wait_for(lambda: len(found := [one for one in self.trials(sweep_id) if one["jobs"] == 2]) == 3 and found, "second jobs")
        self.assertEqual({self.service.job(one["job_id"])["origin"]["job_id"] for one in second}, {one["job_id"] for one in first})
        self.assertEqual([trial for action, trial, _ in self.decisions(sweep_id) if action == "retry"], [0, 1, 2])
        self.assertEqual(self.service.post(path, {})["retried"], 0, "again: nothing is left to do")
        self.service.post(f"/v1/sweeps/{sweep_id}/stop", {})
        self.wait_end(sweep_id)

    def test_a_retry_that_a_limit_would_end_at_once_is_refused(self):
        limits = {"max_trials": 4, "max_concurrent": 4, "max_failures": 1}
        sweep_id = self.create(sweep_of(RATES, {"name": "random"}, quick_job(LONG_EPOCHS), limits=limits))
        first = wait_for(lambda: len(found := [one for one in self.trials(sweep_id) if one["job_id"]]) == 4 and found, "four trials")
        self.service.post(f"/v1/jobs/{first[0]['job_id']}/cancel", {})
        ended = self.wait_end(sweep_id)
        self.assertEqual(ended["reason"]["code"], "too_many_failures")
        codes = self.service.post(f"/v1/sweeps/{sweep_id}/retry?dry_run=true", {})["codes"]
        self.assertGreater(sum(codes.values()), 1, codes)
        refused = self.service.call("POST", f"/v1/sweeps/{sweep_id}/trials/0/retry", {})
        self.assertEqual(refused.status, 409)
        self.assertIn("max_failures", refused.json["detail"])
        self.assertEqual(self.sweep(sweep_id)["state"], "failed")
        # The first round is long, so that the trial is cancelled while it runs.
        algorithm = {"name": "hyperband", "min_time": LONG_EPOCHS, "max_time": 3 * LONG_EPOCHS}
        rounds = self.create(sweep_of(RATES, algorithm, quick_job(), limits={"max_trials": 3}))
        trial = wait_for(lambda: [one for one in self.trials(rounds) if one["job_id"]], "a trial")[0]
        self.service.post(f"/v1/jobs/{trial['job_id']}/cancel", {})
        wait_for(lambda: self.trials(rounds)[0]["state"] != "running", "it to end")
        self.assertEqual(self.trials(rounds)[0]["state"], "failed")
        refused = self.service.call("POST", f"/v1/sweeps/{rounds}/retry", {})
        self.assertEqual(refused.status, 409)
        self.assertIn("continued without it", refused.json["detail"])
        self.service.post(f"/v1/sweeps/{rounds}/stop", {})
        self.wait_end(rounds)

    def test_a_dry_run_shows_the_first_trials_and_stores_nothing(self):
        before = len(self.service.get("/v1/sweeps")["items"])
        shown = self.service.post("/v1/sweeps?dry_run=true", sweep_of(
            {"model.width": {"type": "choice", "values": [4, 8, 16]}}, {"name": "grid"}, quick_job()))
        self.assertEqual((shown["max_trials"], shown["combinations"]), (3, 3))
        self.assertEqual([one["point"]["model.width"] for one in shown["trials"]], [4, 8, 16])
        self.assertEqual(len(self.service.get("/v1/sweeps")["items"]), before)


    def test_importance_and_another_algorithm_on_recorded_trials(self):
        space = {"train.optimizer.lr": {"type": "choice", "values": [1e-6, 1e-5, 1e-2, 2e-2]},
                 "train.seed": {"type": "choice", "values": [0, 1]}}
        sweep_id = self.create(sweep_of(space, {"name": "grid"}, quick_job(3)))
        self.wait_end(sweep_id)
        items = self.service.get(f"/v1/sweeps/{sweep_id}/importance")["items"]
        self.assertEqual([one["parameter"] for one in items], ["train.optimizer.lr", "train.seed"])
        self.assertGreater(items[0]["explained"], 0.5)
        shown = self.service.post(f"/v1/sweeps/{sweep_id}/simulate", {"algorithm": {"name": "asha", "mode": "stop", "max_time": 3}})
        self.assertEqual((shown["time_recorded"], shown["trials"]), (24, 8))
        self.assertLess(shown["time_used"], 24)
        self.assertGreater(shown["core_s_saved"], 0)
        self.assertGreaterEqual(shown["regret"], 0)
        self.assertEqual(self.service.call("POST", f"/v1/sweeps/{sweep_id}/simulate",
                                           {"algorithm": {"name": "pbt", "max_time": 3}}).status, 422)

    def test_trials_run_elsewhere(self):
        body = {"name": "elsewhere", "objective": {"metric": "cost", "mode": "min"},
                "space": {"x": {"type": "uniform", "min": -1, "max": 1}},
                "algorithm": {"name": "asha", "mode": "promote", "max_time": 9}, "limits": {"max_trials": 9, "max_concurrent": 3}}
        sweep_id = self.create(body)
        while True:
            asked = self.service.post(f"/v1/sweeps/{sweep_id}/suggest", {"count": 5})
            self.assertLessEqual(len(asked["trials"]), 3)
            if not asked["trials"]:
                break
            for trial in asked["trials"]:
                value = trial["point"]["x"] ** 2 + 1 / trial["until"]
                told = self.service.post(f"/v1/sweeps/{sweep_id}/trials/{trial['number']}/observe",
                                         {"time": trial["until"], "value": value})
                self.assertIn(told["state"], ("paused", "completed"))
        self.assertEqual(asked["state"], "finished")
        sweep = self.sweep(sweep_id)
        trials = self.trials(sweep_id)
        self.assertEqual(len(trials), 9)
        best = min(trials, key=lambda one: abs(one["point"]["x"]))
        self.assertEqual(sweep["best"]["trial"], best["number"])
        self.assertEqual(self.service.call("POST", f"/v1/sweeps/{sweep_id}/trials/0/observe", {"time": 9, "value": 1}).status, 409)
        own = self.create(sweep_of(RATES, {"name": "random"}, quick_job(), limits={"max_trials": 1}))
        self.assertEqual(self.service.call("POST", f"/v1/sweeps/{own}/suggest", {}).status, 409)
        self.wait_end(own)


if __name__ == "__main__":
    unittest.main()
