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
        for page in ("overview", "job", "sign_in"):
            with self.subTest(page):
                self.assertEqual(self.marks[page], {"accessibility": 100, "best-practices": 100, "failed": []})


if __name__ == "__main__":
    unittest.main()
