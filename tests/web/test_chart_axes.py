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
    # ---- log y: the least value after the margin is anywhere between 0.009 and 0.1 -------------
    **{f"log y from {at / 1e4}": chart([1, 2], [at / 1e4 * LOG_MARGIN, 20.0], log_y=True) for at in range(90, 1000, 7)},
    "log y, points come": chart([1, 2], [0.5, 20.0], log_y=True, then={"curves": [{"xs": [1, 2, 3], "ys": [0.5, 20.0, 0.097 * LOG_MARGIN]}]}),
    "log y over 40 decades": chart([1, 2], [1e-35, 1e5], log_y=True),
    "log y, nothing above 0": chart([1, 2], [0.0, -1.0], log_y=True),
    # ---- linear ------------------------------------------------------------------
    "one value": chart([1, 2, 3], [0.3, 0.3, 0.3]),
    "huge values": chart([1, 2], [-3e38, 3e38]),
    "tiny values": chart([1, 2], [1e-38, 3e-38]),
    "no finite value": chart([1, 2, 3], ["nan", "inf", "nan"]),
    "no points": chart([], []),
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

    def test_the_labels_of_a_logarithmic_axis_are_its_decades(self):
        labels = [float(one) for one in self.charts["log y over 40 decades"]["y_labels"]]
        self.assertGreaterEqual(len(labels), 3)
        self.assertTrue(all(re.fullmatch(r"1e[-+]\d\d", f"{one:.0e}") for one in labels), labels)
        for name, one in self.charts.items():
            if name.startswith("log y from"):
                self.assertLessEqual({0.1, 1.0, 10.0}, {float(label) for label in one["y_labels"]}, name)


if __name__ == "__main__":
    unittest.main()
