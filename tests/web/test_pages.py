"""Goal: every page does what it is for, at any size and in any scheme, also below a path prefix.
Method: the real service; scripts drive Chromium and print what they found as JSON."""
import functools
import unittest

from prefix_proxy import serve_below
from service_for_browsers import ENDLESS_EPOCHS, Dashboard, NoComplaints, points_job, ruined_job, wait_for, without_name

LONG_NAME = "a-name-as-scripts-make-them-with-lr-0.00010-and-width-512-and-depth-4-and-dropout-0.1-and-seed-17-try-3"
HELD = {"limits": {"start_after": "2100-01-01T00:00:00Z"}}
MANY = 60
FIRST_VIEW_BYTES_MAX = 120_000


class JobLists(NoComplaints, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        board = Dashboard(cls)
        for number, (rate, team) in enumerate([(1e-5, "red"), (1e-2, "blue"), (1e-3, "red")]):
            board.submit_ended(f"rate_{number}", points_job(
                name=f"rate-{number}", labels={"team": team}, train={"epochs": 3, "optimizer": {"name": "adam", "lr": rate}}))
        board.submit_ended("ruined", ruined_job(name="ruined"))
        for number in range(MANY):
            board.service.submit(points_job(name=f"many-{number}", **HELD))
        board.submit("long", points_job(name=LONG_NAME, **HELD))
        jobs = board.service.get("/v1/jobs?name=rate-&order_by=best&metric=val_loss")["items"]
        many_1 = sum(str(number).startswith("1") for number in range(MANY))
        cls.found = board.run("job_lists", long_name=LONG_NAME, by_loss=[job["name"] for job in jobs], many=MANY, many_1=many_1)
        cls.many_1 = many_1

    def test_a_long_name_leaves_room_for_the_other_columns(self):
        self.assertTrue(self.found["columns_in_sight"])

    def test_the_address_holds_search_and_order(self):
        for part in ("name=rate-", "order_by=best", "metric=val_loss"):
            self.assertIn(part, self.found["address"])

    def test_an_empty_list_says_what_to_do(self):
        self.assertIn("Clear a filter", self.found["nothing"])

    def test_pages_do_not_overlap(self):
        self.assertEqual(self.found["pages_overlap"], [])

    def test_back_returns_to_the_place(self):
        self.assertEqual(self.found["top_of_new_page"], 0)
        self.assertAlmostEqual(self.found["scroll_after_back"], 700, delta=60)

    def test_nothing_happens_before_it_is_said(self):
        self.assertIn(f"cancel: {self.many_1} jobs would change", self.found["preview"])
        self.assertNotIn("cancelled", self.found["states_before"])

    def test_keys_lead_through_the_pages(self):
        self.assertIn("Name", self.found["focused"])
        self.assertIn("g q", self.found["keys"])


def board_with_everything(case):
    board = Dashboard(case)
    board.submit_ended("done", points_job(name="done", task={"metrics": ["loss", "accuracy", "confusion_matrix"]}))
    board.submit_ended("ruined", ruined_job(name="ruined"))
    board.data["fork"] = board.service.post(f"/v1/jobs/{board.data['done']}/fork", {"changes": {"name": "further", "train": {"epochs": 5}}})["id"]
    board.service.wait_end(board.data["fork"])
    for number, rate in enumerate([1e-3, 1e-2]):
        board.submit_ended(f"rate_{number}", points_job(name=f"rate-{number}", train={"optimizer": {"name": "adam", "lr": rate}}))
    board.add_folds()
    short = without_name(points_job(train={"epochs": 1}))
    board.add_sweep("sweep", objective={"metric": "val_loss", "mode": "min"}, job=short, limits={"max_trials": 6, "max_concurrent": 3})
    board.add_sweep("folds_sweep", objective={"metric": "cv.val_loss.mean", "mode": "min"}, limits={"max_trials": 2, "max_concurrent": 2},
                    cross_validation={"split": {"method": "kfold", "folds": 2}, "job": {**short, "data": {"dataset": "points"}}})
    saved = board.service.get(f"/v1/jobs/{board.data['done']}/checkpoints")["items"][0]["id"]
    for key, path, more in (("measured", "/v1/evaluations", {}), ("predicted", "/v1/predictions", {"data": {"dataset": "points"}})):
        board.data[key] = board.service.post(path, {"name": key, "from": {"checkpoint": saved}, **more})["id"]
        board.service.wait_end(board.data[key])
    board.data["dataset"] = board.service.get("/v1/datasets/points")["id"]
    board.submit("held", points_job(name="held", **HELD))
    return board


def add_cancelled(board):
    """An evaluation, a prediction and a cross-validation that end before they have a result."""
    service = board.service
    saved = service.get(f"/v1/jobs/{board.data['done']}/checkpoints")["items"][0]["id"]
    for key, path in (("unmeasured", "/v1/evaluations"), ("unpredicted", "/v1/predictions")):
        board.data[key] = service.post(path, {"name": key, "from": {"checkpoint": saved}, "data": {"dataset": "points"}, **HELD})["id"]
        board.end(key)
    path = "/v1/cross-validations"
    board.data["uncrossed"] = service.post(path, {
        "name": "uncrossed", "split": {"method": "kfold", "folds": 2},
        "job": {**without_name(points_job(train={"epochs": ENDLESS_EPOCHS})), "data": {"dataset": "points"}}})["id"]
    service.post(f"{path}/{board.data['uncrossed']}/cancel", {})
    wait_for(lambda: service.get(f"{path}/{board.data['uncrossed']}")["state"] == "cancelled", "the cross-validation to end")


def add_attempts(board, job, count):
    """As of a job that was paused and continued that often, which would take minutes."""
    board.service.sql(
        f"update job set attempts = {count} + 1 where id = '{job}';"
        "insert into attempt (job_id, attempt, fence, exit_kind, created_at, started_at, ended_at) "
        f"select '{job}', number, md5(number::text), 'paused', now(), now(), now() from generate_series(2, {count} + 1) number;"
        "insert into attempt_member (job_id, attempt, rank, host, cores) "
        f"select job_id, number, rank, host, cores from attempt_member, generate_series(2, {count} + 1) number where job_id = '{job}'")


class Module:
    """What the service of several classes ends with."""
    addClassCleanup = staticmethod(unittest.addModuleCleanup)


@functools.cache
def shared_board():
    return board_with_everything(Module())


class OtherPages(NoComplaints, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        board = shared_board()
        board.submit_ended("patient", points_job(name="patient"))
        add_attempts(board, board.data["patient"], MANY)
        board.add_sweep("population", objective={"metric": "val_loss", "mode": "min"}, job=without_name(points_job()), limits={"max_concurrent": 2},
                        space={"train.optimizer.lr": {"type": "log_uniform", "min": 1e-5, "max": 1e-1}},
                        algorithm={"name": "pbt", "population": 2, "interval": 1, "max_time": 2, "quantile": 0.5})
        trials = board.service.get(f"/v1/sweeps/{board.data['population']}/trials")["items"]
        cls.copied = next(one for one in trials if one["lineage"])
        wide = points_job(accelerator={"cores": 8}, train={"epochs": ENDLESS_EPOCHS})
        cls.found = board.run("other_pages", copied=cls.copied["job_id"], wide=wide)

    def test_compared_jobs_share_charts_and_a_table_of_differences(self):
        for job in ("rate-0", "rate-1"):
            self.assertIn(job, self.found["compared"])
            self.assertIn(job, self.found["differences"])
        self.assertRegex(self.found["differences"], r"train.optimizer.lr\s+0.001\s+0.01|train.optimizer.lr\s+0.01\s+0.001")
        self.assertNotIn("model.width", self.found["differences"])

    def test_a_sweep_shows_its_parameters_trials_and_decisions(self):
        for words in ("Parameters", "Importance", "Decisions", "drawn at random", "Best: trial"):
            self.assertIn(words, self.found["sweep"])
        self.assertEqual(self.found["trials"], 6)

    def test_a_brush_keeps_some_trials(self):
        self.assertGreater(self.found["trials_kept"], 0)
        self.assertLess(self.found["trials_kept"], 6)
        self.assertEqual(self.found["trials_after_all"], 6)

    def test_trials_of_folds_show_the_values_of_the_folds(self):
        self.assertRegex(self.found["fold_values"], r"0\.\d+, 0\.\d+")

    def test_a_promoted_trial_is_shown_first(self):
        self.assertIn('"optimizer"', self.found["promoted_preview"])

    def test_a_fork_names_what_it_went_on_from(self):
        self.assertRegex(self.found["lineage"], r"further\s+fork from checkpoint ckp_\w+ of\s+done")
        self.assertIn("ckp_", self.found["attempts"])

    def test_earlier_attempts_follow_when_they_are_asked_for(self):
        self.assertEqual(self.found["newest_attempts"]["rows"], list(range(MANY - 48, MANY + 2)))
        self.assertIn(f"The newest 50 of {MANY + 1}.", self.found["newest_attempts"]["words"])
        self.assertEqual(self.found["all_attempts"], {"rows": list(range(1, MANY + 2)), "words": ""})

    def test_the_weights_that_a_population_copied_are_named(self):
        source = self.copied["lineage"][0]["source"]
        self.assertRegex(self.found["population"], rf"trial {source} at 1")
        self.assertIn(f"of trial {source}, whose weights it took over,", self.found["copied"])

    def test_a_timeline_shows_what_took_the_time(self):
        for words in ("compile", "execute", "evaluate"):
            self.assertIn(words, self.found["timeline"])
        self.assertIn("trainer 0: ", self.found["pointed"])
        self.assertNotEqual(self.found["timeline_zoomed"], self.found["timeline_whole"])

    def test_a_checkpoint_is_pinned_and_let_go(self):
        self.assertIn("pinned", self.found["pinned"])

    def test_an_evaluation_says_how_each_class_was_found(self):
        self.assertRegex(self.found["measured_classes"], r"no\s+\d+\s+[\d.]+ %\s+[\d.]+ %")
        self.assertGreater(self.found["shaded"], 0)

    def test_cores_show_what_ran_when(self):
        self.assertGreater(self.found["spans"], 3)

    def test_a_core_is_drained_and_comes_back(self):
        self.assertIn("drained", self.found["drained"])

    def test_a_change_of_the_queue_is_simulated_beside_the_queue_as_it_is(self):
        found = self.found["what_if"]
        self.assertIn("more_hosts", found["nothing"])
        self.assertRegex(found["said"], r"^The job would start at once on .*, cores 1, 2, .* No other job is ready to start\.$")
        self.assertRegex(found["row"], r"wide-2\s+(not known|\d{4}-.*)\s+\d{4}-.*sooner")
        for words in ('/v1/queue/simulate', '"class":"urgent"', '"more_hosts":2', '"cores_per_host":8'):
            self.assertIn(words, found["curl"])

    def test_a_job_that_is_not_there_yet_is_simulated(self):
        found = self.found["what_if"]
        self.assertIn("/job/model/width", found["refused"])
        # Whether it delays the other by a second depends on how long jobs of the project took.
        self.assertRegex(found["new_said"], r"^The new job would start in .* Of 1 other job (1|none) would start later, none sooner\.$")
        self.assertRegex(found["new_job"], r"the new job\s+–\s+")

    def test_the_queue_says_why(self):
        self.assertIn("2100-01-01", self.found["queue"])
        self.assertIn("/v1/queue?limit=10", self.found["curl"])

    def test_the_overview_says_what_failed(self):
        self.assertIn("ruined failed: the validation loss is", self.found["overview"])

    def test_the_overview_has_sweeps_instead_of_their_trials(self):
        results = self.found["overview"].partition("Recent results")[2].partition("Cores")[0]
        self.assertRegex(results, r"population\s+val_loss \d")
        self.assertRegex(results, r"crossed\s+3 folds")
        self.assertNotRegex(results, r"(population|sweep|crossed)-(fold-)?\d+(-oof)?\s")

    def test_trials_and_folds_can_be_hidden(self):
        self.assertIn("crossed-fold-0", self.found["jobs_shown"])
        self.assertNotIn("crossed-fold-0", self.found["jobs_hidden"])
        self.assertIn("rate-0", self.found["jobs_hidden"])


class EveryPage(NoComplaints, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        board = shared_board()
        board.add_sweep("failing", objective={"metric": "val_loss", "mode": "min"}, job=without_name(ruined_job()), limits={"max_trials": 2, "max_concurrent": 2},
                        space={"train.optimizer.lr": {"type": "log_uniform", "min": 1e29, "max": 1e30}})
        board.add_live()
        cls.addClassCleanup(board.end, "live")    # the next class needs its core
        add_cancelled(board)
        cls.found = board.run("every_page")

    def test_each_tab_is_called_after_its_page(self):
        self.assertEqual(self.found["titles"]["done"], "done, succeeded – Slipway")
        self.assertEqual(self.found["titles"]["queue"], "Queue – Slipway")
        self.assertNotIn("Slipway", self.found["titles"].values())

    def test_what_has_ended_promises_nothing(self):
        self.assertEqual(self.found["promises"], [])
        for page, words in (("unmeasured", "It ended without metrics."), ("unpredicted", "It ended without a result."), ("uncrossed", "No fold has succeeded."),
                            ("failing", "No trial has a value, so there are no plots")):
            self.assertIn(words, self.found["without_result"][page])

    def test_every_first_view_is_small(self):
        sizes = {name: sum(size for size, _ in answers) for name, answers in self.found["first_views"].items()}
        print("bytes of the largest first view:", *max((size, name) for name, size in sizes.items()))
        self.assertEqual({f"{name}, {size} bytes": self.found["first_views"][name] for name, size in sizes.items() if size > FIRST_VIEW_BYTES_MAX}, {})

    def test_every_page_shows_its_requests_as_curl(self):
        self.assertEqual(self.found["without_curl"], ["compare_nothing", "keys", "unknown"])


class BehindProxy(NoComplaints, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        board = Dashboard(cls)
        board.submit_ended("done", points_job(name="done"))
        cls.url = serve_below(cls, board.service.port, "/team/slipway")
        cls.found = board.run("behind_proxy", url=cls.url, token=None, secret=board.service.token)

    def test_all_requests_stay_below_the_prefix(self):
        self.assertEqual(self.found["outside"], [])
        self.assertEqual(self.found["downloaded"], "model.safetensors")
        self.assertIn(self.url + "v1/jobs/", self.found["curl"])

    def test_a_wrong_token_is_refused_in_words(self):
        self.assertIn("unknown, expired or revoked", self.found["refused"])
        self.assertEqual(self.found["title"], "Sign in – Slipway")


if __name__ == "__main__":
    unittest.main()
