"""Goal: what people do most is done with the keyboard alone, and one always sees where one is.
Method: the real service; a script presses keys in Chromium, touches no pointer, and prints what it found as JSON."""
import pathlib
import tempfile
import unittest

from service_for_browsers import Dashboard, NoComplaints, points_job, without_name

TRIALS = 6


class Keyboard(NoComplaints, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        board = Dashboard(cls)
        for number, rate in enumerate([1e-3, 1e-2]):
            board.submit_ended(f"rate_{number}", points_job(name=f"rate-{number}", train={"optimizer": {"name": "adam", "lr": rate}}))
        board.add_sweep("sweep", objective={"metric": "val_loss", "mode": "min"}, job=without_name(points_job(train={"epochs": 1})),
                        limits={"max_trials": TRIALS, "max_concurrent": 3})
        file = pathlib.Path(tempfile.mkdtemp()) / "small.csv"
        file.write_text("a,b,label\n" + "".join(f"{row},{row % 3},{'even' if row % 2 == 0 else 'odd'}\n" for row in range(40)))
        cls.found = board.run("keyboard", trials=TRIALS, file=str(file))

    def test_one_sees_where_one_is(self):
        self.assertEqual(self.found["without_focus"], [])

    def test_the_head_of_a_page_can_be_skipped(self):
        self.assertEqual(self.found["after_skip"], "MAIN")

    def test_a_chart_is_zoomed_its_curves_hidden_and_its_file_saved(self):
        self.assertIn("zoom=", self.found["zoomed_address"])
        self.assertEqual(self.found["curve_shown"], "false")
        self.assertTrue(self.found["chart_file"].endswith(".csv"))

    def test_the_ends_of_an_axis_are_moved_and_say_their_value(self):
        place, value = self.found["half_of_axis"]
        self.assertEqual(place, "49")
        self.assertLess(float(value), float(self.found["whole_axis"]))
        self.assertGreater(self.found["kept"], 0)
        self.assertEqual(self.found["announced"], f"{self.found['kept']} of {TRIALS} trials are kept.")

    def test_every_action_of_the_machine_is_shown_as_curl(self):
        for words in ("Drain core 1", "Undrain core 1", "/drain", "/undrain", "/v1/slices"):
            self.assertIn(words, self.found["machine_curls"])

    def test_a_file_is_sent(self):
        self.assertEqual(self.found["sent"], "by-keys")

    def test_the_page_of_keys_says_all_this(self):
        for key in ("Tab", "Enter", "Space", "Esc", "g q"):
            self.assertIn(key, self.found["keys"])
        self.assertTrue(self.found["signed_in_again"])


if __name__ == "__main__":
    unittest.main()
