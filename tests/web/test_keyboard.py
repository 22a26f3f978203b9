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
        board.submit("held", points_job(name="held", limits={"start_after": "2100-01-01T00:00:00Z"}))
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

    def test_the_cursor_of_a_chart_says_its_values(self):
        self.assertRegex(self.found["chart_said"], r"train_loss [\d.e-]+( at step [\d,]+)?, val_loss [\d.e-]+")

    def test_arrows_go_from_span_to_span(self):
        said = self.found["spans_said"]
        for words in said:
            self.assertRegex(words, r"^.+: .+, [\d.]+ m?s from [\d.]+ m?s")
        self.assertNotEqual(said[0], said[1])
        threads = [words.partition(":")[0] for words in said]
        self.assertEqual(threads[0], threads[1])
        self.assertNotEqual(threads[1], threads[2])
        self.assertEqual(threads[1], threads[3])

    def test_arrows_go_from_dot_to_dot_and_tab_past_them(self):
        self.assertEqual(len(set(self.found["dots"])), TRIALS)
        self.assertFalse(self.found["dot_after_tab"])

    def test_arrows_go_from_bar_to_bar(self):
        self.assertEqual(len(set(self.found["bars"])), 3)
        self.assertRegex(self.found["bars"][0], r"^core \d: job_\w+, attempt 1: ")

    def test_a_change_of_the_queue_is_tried_out(self):
        self.assertRegex(self.found["what_if"], r"^The job would (not )?start .*No other job is ready to start\.$")

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
