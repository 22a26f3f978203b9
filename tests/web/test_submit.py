"""Goal: a job is submitted, cloned and forked in a browser, with the mistakes of its spec at their fields.
Method: the real service; a script drives Chromium and prints what it found as JSON."""
import unittest

from service_for_browsers import Dashboard, NoComplaints


class Submit(NoComplaints, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.board = Dashboard(cls)
        cls.found = cls.board.run("submit")

    def test_mistakes_are_marked_at_their_fields(self):
        problems = "\n".join(self.found["problems"])
        for words in ("model.width must be", "train.optimizer.lr must be a number", "has no dataset `nobody`"):
            self.assertIn(words, problems)
        self.assertEqual(set(self.found["marked"]), {"job/data/dataset", "job/model/width", "job/train/optimizer/lr"})

    def test_numbers_are_numbers(self):
        self.assertEqual(self.found["spec"]["train"]["optimizer"]["lr"], 0.01)
        self.assertEqual(self.found["spec"]["model"], {"arch": "mlp", "width": -3})

    def test_the_form_follows_the_json(self):
        self.assertEqual(self.found["name_in_form"], "by form")

    def test_the_check_says_what_the_job_would_be(self):
        self.assertIn("It would be accepted", self.found["preview"])
        self.assertIn("Learning rate", self.found["preview"])

    def test_the_job_is_what_the_form_said(self):
        job = self.board.service.job(self.found["job"])
        self.assertEqual((job["name"], job["spec"]["train"]["epochs"], job["spec"]["model"]["width"]), ("by form", 2, 8))
        self.assertIn("/v1/jobs'", self.found["curl"])
        self.assertEqual(self.found["saved"], "job.json")

    def test_a_clone_begins_with_what_was_chosen(self):
        cloned = self.found["cloned"]
        # The service fills in another schedule: all fields of this one were chosen.
        self.assertEqual(cloned["train"]["schedule"], {"name": "cosine", "warmup_steps": 20, "min_lr": 0})
        self.assertEqual((cloned["model"], cloned["train"]["epochs"]), ({"arch": "mlp", "width": 8}, 2))
        self.assertFalse({"limits", "queue", "monitor", "checkpoint", "accelerator"} & set(cloned), cloned)

    def test_a_clone_marks_what_is_changed(self):
        self.assertRegex(self.found["changes"], r"train.optimizer.lr\s+0.01\s+0.002")
        self.assertRegex(self.found["changes"], r"train.epochs\s+2\s+3")
        self.assertEqual(sorted(self.found["marks"]), ["was 0.01", "was 2"])

    def test_a_fork_sends_its_changes_alone(self):
        self.assertIn("batch_size_per_core", self.found["fork_refused"])
        self.assertIn('{"changes":{"train":{"epochs":3,"optimizer":{"lr":0.002}}},"start":"continue"}', self.found["fork"])


if __name__ == "__main__":
    unittest.main()
