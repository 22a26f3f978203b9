"""Goal: charts can be read, steered and taken away, and a page transfers what it shows, not what has happened.
Method: the real service; scripts drive Chromium and print what they found as JSON."""
import unittest

from service_for_browsers import Dashboard, NoComplaints, points_job

JOB_BYTES_MAX = 150_000
IDLE_BYTES_MAX = 1000    # in five seconds; a million in an hour are 1,389
LONG = {"epochs": 80, "batch_size_per_core": 4, "optimizer": {"name": "adam", "lr": 0.001}}    # 9,600 steps


class Charts(NoComplaints, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        board = Dashboard(cls)
        board.add_live()
        cls.found = board.run("charts")

    def test_zoom_stays_while_points_come(self):
        self.assertRegex(self.found["zoom"], r"^[\d.]+\.\.[\d.]+$")
        self.assertEqual(self.found["zoom_later"], self.found["zoom"])
        self.assertTrue(self.found["ticks_while_zoomed"])
        self.assertIsNone(self.found["zoom_after_all"])

    def test_the_cursor_names_every_curve_of_every_chart(self):
        self.assertRegex(self.found["hovered"], r"train_loss\s+[\d.e-]+")
        self.assertRegex(self.found["hovered"], r"val_loss\s+[\d.e-]+")
        self.assertRegex(self.found["hovered_other"], r"val_accuracy\s+[\d.]+")

    def test_the_address_holds_the_view(self):
        for part in ("x=time", "smoothing=0.9", "log=y"):
            self.assertIn(part, self.found["address"])
        self.assertEqual(self.found["reopened"], ["time", "0.9", True])

    def test_a_curve_can_be_hidden(self):
        self.assertEqual(self.found["hidden"], "false")

    def test_keys_zoom(self):
        self.assertRegex(self.found["zoom_by_key"], r"^[\d.-]+\.\.[\d.-]+$")
        self.assertIsNone(self.found["zoom_after_0"])

    def test_a_chart_can_be_taken_away(self):
        files = self.found["files"]
        self.assertEqual(files["loss.png"], "PNG")
        self.assertTrue(files["loss.svg"].startswith("<svg "))
        self.assertIn("<polyline", files["loss.svg"])
        lines = files["loss.csv"].splitlines()
        self.assertEqual(lines[0], "curve,step,epoch,time,value,min,max")
        self.assertRegex(lines[1], r"^train_loss,\d+,\d+,\d{4}-.*Z,[\d.e-]+,")


class Transfer(NoComplaints, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        board = Dashboard(cls)
        board.submit_ended("long", points_job(name="long", train=LONG))
        cls.found = board.run("job_transfer", job=points_job(name="told"))

    def test_a_page_of_many_steps_is_small(self):
        print("bytes of a job's page:", self.found["job_bytes"])
        self.assertLess(self.found["job_bytes"], JOB_BYTES_MAX)
        self.assertRegex(self.found["curve"], "step 9,600")

    def test_an_idle_list_asks_for_nothing(self):
        self.assertEqual(self.found["idle_paths"], [])
        self.assertLess(self.found["idle_bytes"], IDLE_BYTES_MAX)

    def test_tabs_share_one_stream(self):
        self.assertEqual(self.found["submitted"], 201)
        self.assertEqual(self.found["streams_of_second_tab"], 0)
        self.assertTrue(self.found["taken_over"])


if __name__ == "__main__":
    unittest.main()
