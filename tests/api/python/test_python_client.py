"""Goal: what the Python client does without a service: it reads files that lie, changes documents, splits streams into events and
finds its settings. The rest is in tests/end_to_end/test_python.py."""
import io
import json
import os
import pathlib
import struct
import sys
import tempfile
import unittest
import unittest.mock
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "api/python"))

from slipway import comparison, configuration, curves, errors, events, npz, progress, safetensors, specs, tables, transport  # noqa: E402


class InAFolder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))


class Safetensors(InAFolder):
    def read(self, header, data=b"", length=None):
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        file = self.folder / "file.safetensors"
        file.write_bytes(struct.pack("<Q", len(text) if length is None else length) + text + data)
        return safetensors.load(file, "python")

    def test_tensors_are_read(self):
        header = {"__metadata__": {"format": "pt"}, "a": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]},
                  "b": {"dtype": "I64", "shape": [], "data_offsets": [8, 16]}, "none": {"dtype": "F32", "shape": [0], "data_offsets": [16, 16]}}
        found = self.read(header, struct.pack("<ffq", 1.5, -2, 7))
        self.assertEqual((list(found["a"].values), found["a"].shape), ([1.5, -2], (1, 2)))
        self.assertEqual((list(found["b"].values), found["b"].shape), ([7], ()))
        self.assertEqual(list(found["none"].values), [])
        self.assertEqual(self.read({}), {})

    def test_a_file_that_contradicts_itself_is_rejected(self):
        one = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
        for header, data, length in (
                ({"a": one}, b"1234", None), ({"a": one, "b": one}, bytes(8), None), ({"a": {**one, "shape": [3]}}, bytes(8), None),
                ({"a": {**one, "shape": [-2]}}, bytes(8), None), ({"a": {**one, "shape": [2.0]}}, bytes(8), None),
                ({"a": {**one, "dtype": "F7"}}, bytes(8), None), ({"a": {**one, "data_offsets": [8, 0]}}, bytes(8), None),
                ({"a": {**one, "data_offsets": [-8, 0]}}, bytes(8), None), ({"a": {**one, "data_offsets": [0]}}, bytes(8), None),
                ({"a": {**one, "shape": [1 << 62, 4], "data_offsets": [0, 1 << 66]}}, bytes(8), None), ({"a": 1}, b"", None), ([], b"", None),
                (b"{", b"", None), (b"{}", b"", 1 << 60), (b"{}", b"", 3), (b"\xff\xfe", b"", None)):
            with self.subTest(header=header), self.assertRaises(errors.IntegrityError):
                self.read(header, data, length)

    def test_an_empty_file_is_rejected(self):
        (self.folder / "empty").write_bytes(b"")
        with self.assertRaises(errors.IntegrityError):
            safetensors.load(self.folder / "empty", "python")

    def test_an_unknown_framework_is_rejected(self):
        with self.assertRaisesRegex(ValueError, "numpy, torch, python"):
            safetensors.load(self.folder / "any", "caffe")


class Changes(InAFolder):
    def changed(self, document, changes):
        return specs.with_changes(specs.load(document), changes)

    def test_fields_are_set_added_and_removed(self):
        spec = {"train": {"epochs": 1, "seed": 3}, "layers": [{"n": 1}, {"n": 2}]}
        self.assertEqual(self.changed(spec, {"train.epochs": 5, "train.seed": None, "model.arch": "mlp", "layers.1.n": 9}),
                         {"train": {"epochs": 5}, "model": {"arch": "mlp"}, "layers": [{"n": 1}, {"n": 9}]})
        self.assertEqual(self.changed(spec, ["train.epochs=2", "name=a b", "x=[1, 2]", "y=a=b"])["x"], [1, 2])
        self.assertEqual(self.changed(spec, ["y=a=b"])["y"], "a=b")
        self.assertEqual(spec["train"], {"epochs": 1, "seed": 3}, "the document of the caller is left as it is")

    def test_a_change_that_fits_nowhere_says_why(self):
        for changes, said in (({"train.epochs.x": 1}, "train.epochs is 1, not an object"), ({"layers.2.n": 1}, "the list has 1 items"),
                              ({"layers.x": 1}, "no `x`"), (["train.epochs"], "must be field=value"), (["=1"], "must be field=value")):
            with self.subTest(changes=changes), self.assertRaisesRegex(ValueError, said):
                self.changed({"train": {"epochs": 1}, "layers": [{}]}, changes)

    def test_files_are_json_or_toml(self):
        (self.folder / "a.toml").write_text("[train]\nepochs = 3\n")
        self.assertEqual(specs.load(self.folder / "a.toml"), {"train": {"epochs": 3}})
        for name, text, said in (("b.toml", "x", "not valid TOML"), ("b.json", "{", "not valid JSON"), ("c.json", "[1]", "hold an object")):
            (self.folder / name).write_text(text)
            with self.subTest(name=name), self.assertRaisesRegex(ValueError, said):
                specs.load(self.folder / name)


class Npz(InAFolder):
    def header_and_data(self, values):
        file = self.folder / "arrays.npz"
        npz.write(file, {"x": values})
        with zipfile.ZipFile(file) as archive:
            content = archive.read("x.npy")
        length = int.from_bytes(content[8:10], "little")
        self.assertEqual((content[:8], (10 + length) % 64), (b"\x93NUMPY\x01\x00", 0))
        return eval(content[10:10 + length], {}), content[10 + length:]    # noqa: S307: written by the test's own call

    def test_nested_lists(self):
        for values, kind, shape, data in (([[1, 2], [3, 4]], "<i8", (2, 2), struct.pack("<4q", 1, 2, 3, 4)), ([0.5, 1], "<f8", (2,), struct.pack("<2d", 0.5, 1)),
                                          ([True, False], "|b1", (2,), b"\1\0"), (["a", "bc"], "<U2", (2,), "a\0bc".encode("utf-32-le"))):
            with self.subTest(values=values):
                self.assertEqual(self.header_and_data(values), ({"descr": kind, "fortran_order": False, "shape": shape}, data))

    def test_lists_that_are_no_arrays_are_rejected(self):
        for values, said in (([[1], [1, 2]], "differ in length"), ([[1], 2], "differ in length"), ([1, "a"], "numbers or texts"), ([None], "NoneType")):
            with self.subTest(values=values), self.assertRaisesRegex(ValueError, said):
                self.header_and_data(values)

    def test_the_same_arrays_are_the_same_bytes(self):
        for name in ("a.npz", "b.npz"):
            npz.write(self.folder / name, {"x": [1, 2], "y": ["a", "b"]})
        self.assertEqual((self.folder / "a.npz").read_bytes(), (self.folder / "b.npz").read_bytes())


class Events(unittest.TestCase):
    def test_a_stream_is_split_into_events(self):
        text = "retry: 2000\n\nid: 1\nevent: state\ndata: {\"state\":\ndata: \"queued\"}\n\n: alive\n\nid: 2\r\nevent: end\r\ndata: 3\r\n\r\nid: 3\ndata: {}"
        found = list(events.parse(io.BytesIO(text.encode())))
        self.assertEqual(found, [events.Event("1", "state", {"state": "queued"}), None, events.Event("2", "end", {"value": 3})],
                         "an event that was cut off is none")

    def test_bytes_that_are_no_text_do_not_end_the_stream(self):
        self.assertEqual(list(events.parse([b"data: \xff\n", b"\n"]))[0].type, "message")


class Configuration(InAFolder):
    def setUp(self):
        super().setUp()
        self.enterContext(unittest.mock.patch.dict(os.environ, {"HOME": str(self.folder), "SLIPWAY_CONFIG": str(self.folder / "config.json"),
                                                                "SLIPWAY_HOME": ""}, clear=True))
        self.home = self.folder / "home"
        self.home.mkdir()
        (self.home / "admin-token").write_text("slp_home\n")
        (self.home / "address").write_text("http://127.0.0.1:9000\n")
        (self.folder / "config.json").write_text(json.dumps({"current": "work", "contexts": {
            "work": {"url": "https://work.example/", "token": "slp_work"}, "other": {"url": "http://other:1", "token": "slp_other"}}}))

    def settings(self, url=None, token=None, context=None, home=None, **environment):
        with unittest.mock.patch.dict(os.environ, environment):
            found = configuration.settings_of(url, token, context, home, None)
            return found.url, found.token

    def test_the_first_that_is_given_decides(self):
        home = str(self.home)
        for given, expected in (
                ({}, ("https://work.example", "slp_work")), ({"context": "other"}, ("http://other:1", "slp_other")),
                ({"SLIPWAY_CONTEXT": "other"}, ("http://other:1", "slp_other")), ({"home": home}, ("http://127.0.0.1:9000", "slp_home")),
                ({"SLIPWAY_HOME": home}, ("http://127.0.0.1:9000", "slp_home")), ({"url": "http://h:2", "token": "slp_given"}, ("http://h:2", "slp_given")),
                ({"SLIPWAY_URL": "http://h:3", "SLIPWAY_TOKEN": "slp_set"}, ("http://h:3", "slp_set")),
                ({"SLIPWAY_TOKEN": "slp_set"}, ("https://work.example", "slp_set")),
                ({"home": home, "SLIPWAY_CONTEXT": "other"}, ("http://127.0.0.1:9000", "slp_home"))):
            with self.subTest(given=given):
                self.assertEqual(self.settings(**given), expected)

    def test_the_token_of_a_context_is_not_sent_elsewhere(self):
        for given in ({"url": "http://elsewhere:1"}, {"SLIPWAY_URL": "http://elsewhere:1"}):
            with self.subTest(given=given), unittest.mock.patch.object(configuration, "_home_folder", return_value=self.folder / "none"), \
                    self.assertRaisesRegex(errors.ConfigurationError, "there is no token"):
                self.settings(**given)

    def test_what_cannot_be_used_is_said(self):
        for given, said in (({"context": "gone"}, "there are: other, work"), ({"context": "work", "url": "http://x"}, "not both"),
                            ({"url": "ftp://x", "token": "t"}, "must be like"), ({"url": "http://x:99999", "token": "t"}, "port")):
            with self.subTest(given=given), self.assertRaisesRegex(errors.ConfigurationError, said):
                self.settings(**given)
        (self.folder / "config.json").write_text("[]")
        with self.assertRaisesRegex(errors.ConfigurationError, "not a file of contexts"):
            self.settings()


class SmallParts(unittest.TestCase):
    def test_queries(self):
        self.assertEqual(transport.query_text({"a": None, "b": ["x", "y z"], "c": True, "d": 0}), "?b=x%2Cy+z&c=true&d=0")
        self.assertEqual(transport.quoted("a/b?c"), "a%2Fb%3Fc")

    def test_columns(self):
        found = tables.columns_of('a,b,c\n1,0.5,"x,\ny"\n2,,z\n')
        self.assertEqual((list(found["a"]), found["b"][0], found["b"][1] != found["b"][1], found["c"]), ([1, 2], 0.5, True, ["x,\ny", "z"]))
        self.assertEqual(tables.columns_of(""), {})
        with self.assertRaisesRegex(ValueError, "differ in length"):
            tables.columns_of("a,b\n1\n")

    def test_values_that_are_no_numbers(self):
        points = [{"step": 1, "epoch": 1, "time": "2026-01-01T00:00:00Z", "value": None, "nonfinite": "-inf"},
                  {"step": 2, "epoch": 1, "time": "2026-01-01T00:00:00.5Z", "value": 2, "min": None, "max": 3.0, "mean": 2.5, "count": 4}]
        curve = curves.curve_of("loss", points)
        self.assertEqual((list(curve.value), list(curve.max), list(curve.count)), ([float("-inf"), 2], [float("-inf"), 3], [1, 4]))
        self.assertEqual(curve.time[1] - curve.time[0], 0.5)

    def test_a_comparison_finds_the_best_finite_value(self):
        jobs = [{"id": str(n), "name": f"j{n}", "state": "succeeded"} for n in range(3)]
        found = comparison.Comparison(jobs, {"train.epochs": [1, 2, None]}, {"loss": [float("nan"), 0.5, 0.25]})
        self.assertEqual((found.best("loss")["id"], found.best("loss", "max")["id"], found.best("none")), ("2", "1", None))
        self.assertIn("train.epochs  1          2          –", str(found))

    def test_an_error_of_the_service_without_fields(self):
        error = errors.service_error(418, {"detail": "no", "code": "teapot"})
        self.assertEqual((str(error), error.pointer, error.errors), ("no [418 teapot]", "", []))

    def test_a_line_in_a_pipe_is_its_end_and_harmless(self):
        written = io.StringIO()
        with progress.ProgressLine(written) as line:
            line.show("one")
            line.show("two\x1b[2J\r")
        self.assertEqual(written.getvalue(), "two\N{REPLACEMENT CHARACTER}[2J\N{REPLACEMENT CHARACTER}\n")

    def test_a_line_in_a_terminal_is_written_over(self):
        written = io.StringIO()
        written.isatty = lambda: True
        with progress.ProgressLine(written) as line:
            line.show("one")
            line.show("two")
        self.assertEqual(written.getvalue(), "\rone\x1b[K\rtwo\x1b[K\n")

    def test_a_notebook_has_one_output_that_changes(self):
        class Display:
            def __init__(self):
                self.shown = []

            def update(self, data, raw):
                self.shown.append(data["text/plain"])
        display = Display()
        with unittest.mock.patch.object(progress, "_notebook_display", return_value=display), progress.ProgressLine() as line:
            line.show("one")
            line.show("two")
        self.assertEqual(display.shown, ["one", "two"])


if __name__ == "__main__":
    unittest.main()
