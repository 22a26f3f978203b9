"""Goal: every chart has axes that end, and show what there is.
Method: the dashboard's own charts in a real browser, of curves and views that are written here; no service."""
import json
import pathlib
import re
import subprocess
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def chart(xs, ys=None, **view):
    return {"curves": [{"xs": xs, "ys": ys or [1.0] * len(xs)}], **view}


# The chart's own margin below the least value of a logarithmic axis.
LOG_MARGIN = 1.2
CHARTS = {
    # ---- log x -------------------------------------------------------------------
    "log x from 0": chart([0, 10, 100, 1000], log_x=True),
    "log x from 0, two points": chart([0, 1000], log_x=True),
    "log x, times out of order": chart([5, 2, 700], log_x=True, x_axis="time"),
    "log x, only 0": chart([0], log_x=True),
    "log x zoomed from 0": chart([0, 10, 100, 1000], log_x=True, zoom={"min": 0, "max": 500}),
    "log x zoomed from below 0": chart([0, 10, 100, 1000], log_x=True, zoom={"min": -50, "max": 500}),
    "log x zoomed from 0 to before the first point": chart([0, 10, 100], log_x=True, zoom={"min": 0, "max": 5}),
    "log x zoomed to below 0": chart([0, 10, 100], log_x=True, zoom={"min": -9, "max": -1}),
    "log x zoomed later": chart([0, 10, 100, 1000], log_x=True, then={"zoom": {"min": 0, "max": 500}}),
    "log x zoomed into a decade": chart([1, 10, 100, 1000], log_x=True, zoom={"min": 23, "max": 78}),
    "log x zoomed between two marks": chart([1, 10, 100, 1000], log_x=True, zoom={"min": 23.1, "max": 24.6}),
    # ---- log y: the least value after the margin is anywhere between 0.009 and 0.1 -------------
    **{f"log y from {at / 1e4}": chart([1, 2], [at / 1e4 * LOG_MARGIN, 20.0], log_y=True) for at in range(90, 1000, 7)},
    "log y, points come": chart([1, 2], [0.5, 20.0], log_y=True, then={"curves": [{"xs": [1, 2, 3], "ys": [0.5, 20.0, 0.097 * LOG_MARGIN]}]}),
    "log y over 40 decades": chart([1, 2], [1e-35, 1e5], log_y=True),
    "log y, the least double": chart([1, 2], [5e-324, 1.0], log_y=True),
    "log y, nothing above 0": chart([1, 2], [0.0, -1.0], log_y=True),
    # ---- linear ------------------------------------------------------------------
    "one value": chart([1, 2, 3], [0.3, 0.3, 0.3]),
    "values that differ by rounding": chart([1, 2], [0.3, 0.1 + 0.2]),
    "large values that differ by rounding": chart([1, 2], [1e15, 1e15 + 0.125]),
    "huge values": chart([1, 2], [-3e38, 3e38]),
    "the largest doubles": chart([1, 2], [-1.7e308, 1.7e308]),
    "tiny values": chart([1, 2], [1e-38, 3e-38]),
    "no finite value": chart([1, 2, 3], ["nan", "inf", "nan"]),
    "no points": chart([], []),
    "no start": {"curves": [{"xs": [1, 2], "ys": [1.0, 2.0], "start_ms": "nan"}], "x_axis": "time"},
    "zoomed to less than can be told apart": chart([0, 1000], zoom={"min": 500, "max": 500 + 1e-12}),
    "zoomed to beyond all doubles": chart([0, 1000], zoom={"min": -1.7e308, "max": 1.7e308}),
}


class ChartAxes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        given = {"url": "http://127.0.0.1:1/", "charts": CHARTS}
        done = subprocess.run(["node", HERE / "chart_axes.mjs"], input=json.dumps(given), capture_output=True, text=True, timeout=600,
                              cwd=HERE.parents[1] / "web")
        assert done.returncode == 0, done.stdout + done.stderr
        cls.found = json.loads(done.stdout)
        cls.charts = cls.found["charts"]

    def assert_axis(self, name, axis, least, greatest, places=6):
        self.assertAlmostEqual(self.charts[name][axis][0], least, places, name)
        self.assertAlmostEqual(self.charts[name][axis][1], greatest, places, name)

    def test_every_chart_is_drawn(self):
        self.assertEqual(self.found["console"], [])
        self.assertEqual({name: one["failed"] for name, one in self.charts.items() if "failed" in one}, {})
        for name, one in self.charts.items():
            for axis in ("x", "y"):
                self.assertNotIn(None, one[axis], f"{name}: an end is no number")
                self.assertLess(*one[axis], name)
                self.assertLessEqual(len(one[f"{axis}_labels"]), 20, name)

    def test_every_axis_has_labels(self):
        for name, one in self.charts.items():
            for axis in ("x", "y"):
                self.assertGreaterEqual(len(one[f"{axis}_labels"]), 1, f"{name}: {axis}")

    def test_every_file_is_finite(self):
        for name, one in self.charts.items():
            self.assertNotRegex(one["svg"], "NaN\"|Infinity|undefined", name)

    def test_a_logarithmic_x_axis_shows_all_points_after_0(self):
        self.assert_axis("log x from 0", "x", 10, 1000)
        self.assert_axis("log x, times out of order", "x", 2, 700)

    def test_a_logarithmic_x_axis_can_be_zoomed_from_0(self):
        for name in ("log x zoomed from 0", "log x zoomed from below 0", "log x zoomed later"):
            self.assert_axis(name, "x", 10, 500)
        self.assert_axis("log x zoomed from 0 to before the first point", "x", 0.5, 5)
        self.assert_axis("log x zoomed to below 0", "x", 10, 100)

    def test_a_narrow_part_of_a_logarithmic_axis_has_labels(self):
        self.assertEqual(self.charts["log x zoomed into a decade"]["x_labels"], ["30", "40", "50", "60", "70"])
        self.assertGreaterEqual(len(self.charts["log x zoomed between two marks"]["x_labels"]), 2)

    def test_values_that_differ_by_rounding_are_one_value(self):
        self.assert_axis("values that differ by rounding", "y", 0.285, 0.315)

    def test_the_labels_of_a_logarithmic_axis_are_its_decades(self):
        labels = [float(one) for one in self.charts["log y over 40 decades"]["y_labels"]]
        self.assertGreaterEqual(len(labels), 3)
        self.assertTrue(all(re.fullmatch(r"1e[-+]\d\d", f"{one:.0e}") for one in labels), labels)
        for name, one in self.charts.items():
            if name.startswith("log y from"):
                self.assertLessEqual({0.1, 1.0, 10.0}, {float(label) for label in one["y_labels"]}, name)


if __name__ == "__main__":
    unittest.main()
