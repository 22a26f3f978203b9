"""Goal: Lighthouse gives the pages that everybody sees first full marks for accessibility and best practices.
Method: the real service and Chromium; all other pages are looked at by bench/dashboard/dashboard.py --only lighthouse."""
import unittest

from service_for_browsers import Dashboard, points_job


class Lighthouse(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        board = Dashboard(cls)
        board.submit_ended("done", points_job(name="done"))
        cls.marks = board.run("lighthouse_marks")["marks"]

    def test_marks_are_full(self):
        for page in ("overview", "job"):
            with self.subTest(page):
                self.assertEqual(self.marks[page], {"accessibility": 100, "best-practices": 100, "failed": []})

    def test_only_the_requests_that_say_that_nobody_is_signed_in_take_from_the_marks_of_the_sign_in(self):
        marks = self.marks["sign_in"]
        self.assertEqual(marks["accessibility"], 100)
        for failed in marks["failed"]:
            self.assertRegex(failed, "^errors-in-console: .*401")


if __name__ == "__main__":
    unittest.main()
