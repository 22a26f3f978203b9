"""Goal: datasets are seen, added from files of one's own and deleted in a browser, also over a connection that breaks.
Method: the real service; a script drives Chromium and prints what it found as JSON."""
import pathlib
import tempfile
import unittest

from service_for_browsers import Dashboard, NoComplaints, points_job
from service import png, write_points

PICTURES = 12
LARGE_ROWS = 300_000


def write_pictures(folder, long_name=False):
    for number in range(PICTURES):
        home = folder / ("round" if number % 2 else "square")
        home.mkdir(parents=True, exist_ok=True)
        name = f"{'a-long-name-' * 12 if long_name else 'p'}{number}-é.png"
        (home / name).write_bytes(png(bytes(range(number, number + 64)), 8))


class Datasets(NoComplaints, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        board = Dashboard(cls)
        service = board.service
        board.submit_ended("done", points_job(name="done"))
        write_pictures(service.data / "pictures")
        board.data["pictures"] = service.dataset("pictures", "image_folder")["id"]
        (service.data / "broken").mkdir()
        (service.data / "broken" / "broken.csv").write_text("a,label\n1,x\nno number,y\n")
        service.dataset("broken", "csv")
        folder = pathlib.Path(tempfile.mkdtemp())
        write_points(folder, rows=LARGE_ROWS)
        write_pictures(folder / "shapes", long_name=True)
        viewer = service.post("/v1/tokens", {"name": "reader", "role": "viewer"})["token"]
        cls.size = (folder / "points.csv").stat().st_size
        cls.found = board.run("datasets", large=str(folder / "points.csv"), folder=str(folder / "shapes"), viewer=viewer)

    def test_the_list_says_what_each_holds(self):
        self.assertRegex(self.found["list"], r"points\s+ready\s+csv\s+600\s+2")
        self.assertRegex(self.found["list"], r"broken\s+failed")

    def test_problems_have_their_place(self):
        self.assertRegex(self.found["problems"], r"broken.csv\s+3\s+a\s+\"no number\" is not a finite number")

    def test_samples_are_pictures_or_rows(self):
        self.assertEqual(self.found["pictures"], [8] * PICTURES)
        self.assertRegex(self.found["classes"], r"round\s+6\s+50.0 %")
        self.assertRegex(self.found["rows"], r"sample\s+label\s+a\s+b\s+c\s+d")
        self.assertIn("done", self.found["users"])

    def test_a_split_is_made_or_refused_in_words(self):
        self.assertIn("2", self.found["split_refused"])
        self.assertRegex(self.found["splits"], r"ready\s+stratified_kfold")

    def test_a_cut_upload_goes_on_where_it_was(self):
        self.assertGreater(self.found["offset_after_cut"], 0)
        self.assertIn("from where it stopped", self.found["while_cut"])

    def test_an_upload_goes_on_after_the_page_was_closed(self):
        self.assertGreaterEqual(self.found["offset_of_new_page"], self.found["offset_after_cut"])
        self.assertLess(self.found["offset_of_new_page"], self.size)
        self.assertIn("300,000", self.found["sent"])

    def test_a_wrong_name_is_marked_at_its_field(self):
        self.assertIn("letters", self.found["name_refused"])

    def test_a_folder_is_sent_as_one_archive(self):
        self.assertEqual(self.found["guessed"], ["shapes", "image_folder"])
        self.assertRegex(self.found["sent_folder"], r"round\s+6\s")

    def test_a_viewer_is_offered_nothing_that_changes(self):
        self.assertEqual(self.found["buttons_of_viewer"], [])


if __name__ == "__main__":
    unittest.main()
