"""Goal: the life of a job can be followed and steered in a real browser, under the strict policy of the page.
Method: the real service; scripts drive Chromium and print what they found as JSON."""
import unittest

from service_for_browsers import Dashboard, NoComplaints, points_job, ruined_job


class JobLife(NoComplaints, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        board = Dashboard(cls)
        board.submit_ended("done", points_job(name="done"))
        board.add_live()
        cls.live = board.data["live"]
        cls.found = board.run("job_life", link=board.login_link(), token=None)

    def test_the_one_time_link_signs_in_once(self):
        self.assertTrue(self.found["signed_in"])
        self.assertTrue(self.found["second_use_refused"])

    def test_the_list_shows_both_jobs(self):
        self.assertIn("done", self.found["list"])
        self.assertIn("live", self.found["list"])

    def test_steps_go_on_while_the_job_trains(self):
        self.assertGreater(self.found["live_steps_after"], self.found["live_steps_before"])

    def test_the_tab_says_what_it_shows(self):
        self.assertEqual(self.found["live_title"], "live, running – Slipway")

    def test_a_job_is_paused_resumed_and_retried(self):
        self.assertEqual(self.found["buttons_while_paused"], ["Resume", "Cancel"])
        self.assertEqual(self.found["retry_of"], self.live)

    def test_cancel_ends_the_job(self):
        self.assertEqual(self.found["state_after_cancel"], "cancelled")
        self.assertEqual(self.service.executors(self.live), [])

    def test_what_does_not_run_has_no_time_left(self):
        self.assertNotIn("left", self.found["progress_while_paused"])
        self.assertNotIn("left", self.found["progress_after_cancel"])

    def test_the_log_has_times_and_states(self):
        self.assertRegex(self.found["log"], r"(?m)^\d\d:\d\d:\d\d running$")
        self.assertRegex(self.found["log"], r"(?m)^\d\d:\d\d:\d\d cancelled")


class JobResults(NoComplaints, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        board = Dashboard(cls)
        board.submit_ended("done", points_job(name="done"))
        board.submit_ended("ruined", ruined_job(name="ruined"))
        board.add_folds()
        cls.found = board.run("job_results")

    def test_each_metric_has_a_chart(self):
        self.assertEqual(self.found["charts"], ["Loss", "Accuracy", "Learning rate"])

    def test_a_value_that_is_no_number_is_shown(self):
        self.assertRegex(self.found["ruined"], "val_loss\n? ?NaN")

    def test_the_log_says_why_a_job_failed(self):
        self.assertRegex(self.found["ruined"], r"\d\d:\d\d:\d\d failed: the validation loss is")

    def test_a_cross_validation_shows_its_folds(self):
        self.assertIn("Metrics over 3 of 3 folds", self.found["crossed"])
        self.assertIn("val_accuracy", self.found["crossed"])
        self.assertIn("600 rows", self.found["crossed"])
        for fold in range(3):
            self.assertIn(f"crossed-fold-{fold}", self.found["folds"])

    def test_a_checkpoint_can_be_downloaded(self):
        self.assertEqual(self.found["downloaded"], "model.safetensors")

    def test_an_unknown_job_says_so(self):
        self.assertNotIn("Loading", self.found["unknown_job"])
        self.assertIn("deleted", self.found["unknown_job"])


if __name__ == "__main__":
    unittest.main()
