"""Goal: `slipway data push` makes a dataset of what a user has, whatever happens to the connection or to the command.
Method: real files and a real service; a proxy cuts connections, and stops for good, in the middle of an upload."""
import contextlib
import pathlib
import random
import subprocess
import tempfile
import unittest

from client_commands import OBEYED, environment_of
from service import BIN, Service, png, wait_for, write_points
from test_python import CuttingProxy


class DataPush(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service()
        cls.addClassCleanup(cls.service.close)
        cls.service.start()

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.cache = self.folder / "cache"

    def push(self, *words, port=None, code=0):
        done = subprocess.run([BIN / "slipway", "--url", f"http://127.0.0.1:{port or self.service.port}", "data", "push", *map(str, words)],
                              capture_output=True, text=True, timeout=120, cwd=self.folder,
                              env=environment_of(SLIPWAY_TOKEN=self.service.token, XDG_CACHE_HOME=str(self.cache)))
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(OBEYED.findall(done.stdout + done.stderr), [])
        return done.stdout if code in (0, 1) else done.stderr

    def records(self):
        folder = self.cache / "slipway" / "uploads"
        return [file.read_text().strip() for file in folder.iterdir()] if folder.exists() else []

    def write_large(self, name, rows=200_000):
        """A table of some 20 MB: three pieces of an upload."""
        generator = random.Random(name)
        lines = [f"{generator.random():.17f},{generator.random():.17f},{generator.random():.17f},{generator.random():.17f},{'yes' if row % 2 else 'no'}"
                 for row in range(rows)]
        (self.folder / name).mkdir()
        (self.folder / name / "table.csv").write_text("a,b,c,d,label\n" + "\n".join(lines) + "\n")
        (self.folder / name / "more.csv").write_text("a,b,c,d,label\n1,2,3,4,yes\n")

    # ---- what becomes of files ----------------------------------------------
    def test_a_table_and_its_options(self):
        write_points(self.folder / "points", rows=100)
        self.assertRegex(self.push("points/points.csv", "--option", "group_column=family"),
                         r"^1 file, [\d.]+ KiB, format csv\npoints \(ds_\w+\) ready\n$")
        dataset = self.service.get("/v1/datasets/points")
        self.assertEqual((dataset["options"]["group_column"], dataset["report"]["samples"]), ("family", 100))
        self.assertEqual(self.records(), [])

    def test_a_folder_of_photos_in_folders_of_their_classes(self):
        for name, pixels in (("cat", bytes(64)), ("dog", bytes(range(64)))):
            for number in range(3):
                file = self.folder / "My photos" / name / f"{number} {'x' * 110 if number else ''} ä.png"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(png(pixels, 8))
        (self.folder / "My photos" / ".hidden").write_text("no photo")
        self.assertRegex(self.push("My photos"), r"^6 files, [\d.]+ KiB, format image_folder\nMy-photos \(ds_\w+\) ready\n$")
        report = self.service.get("/v1/datasets/My-photos")["report"]
        self.assertEqual((report["samples"], [row["name"] for row in report["classes"]]), (6, ["cat", "dog"]))

    def test_links_to_anything_but_files_are_refused(self):
        write_points(self.folder / "linked", rows=100)
        (self.folder / "linked" / "more").symlink_to(self.folder)
        self.assertRegex(self.push("linked", code=2), r"linked/more is a link to /\S+, which is a folder")
        (self.folder / "linked" / "more").unlink()
        (self.folder / "linked" / "lost.csv").symlink_to("gone.csv")
        self.assertRegex(self.push("linked", code=2), r"linked/lost.csv is a link to gone.csv, which is no file")

    def test_data_that_fails_its_check_is_told_with_its_problems(self):
        (self.folder / "bad.csv").write_text("a,label\n1,yes\nx,no\n")
        said = self.push("bad.csv", code=1)
        self.assertRegex(said, r'bad \(ds_\w+\) failed\n  bad\.csv:3: a: "x" is not a finite number; .*feature_columns\n$')
        (self.folder / "worse.csv").write_text("a,label\n" + "x,no\n" * 13)    # and that no rows are left
        said = self.push("worse.csv", code=1).splitlines()
        self.assertEqual(len(said), 13)
        self.assertRegex(said[-1], r"^  and 4 further problems; slipway dataset show ds_\w+ lists them$")

    def test_what_cannot_be_pushed_is_said_before_anything_is_sent(self):
        (self.folder / "empty").mkdir()
        (self.folder / "shards").mkdir()
        for name in ("one.tar", "two.tar"):
            (self.folder / "shards" / name).write_bytes(b"")
        (self.folder / "notes.xyz").write_text("?")
        for words, said in ((["none"], "there is no file or folder none"), (["empty"], "the folder empty has no file"),
                            (["notes.xyz"], "give it with --format"), (["shards"], "zip the shards")):
            self.assertIn(said, self.push(*words, code=2))
        self.assertEqual(self.records(), [])

    # ---- connections --------------------------------------------------------
    def test_connections_that_break_are_taken_up_again(self):
        self.write_large("cut")
        proxy = CuttingProxy(self.service.port)
        self.addCleanup(proxy.close)
        proxy.cuts = [("up", 5 << 20), ("up", 3 << 20), ("up", 1 << 20)]
        said = self.push("cut", port=proxy.port)
        self.assertEqual(proxy.was_cut, 3)
        self.assertIn("ready", said)
        self.assertEqual(self.service.get("/v1/datasets/cut")["report"]["samples"], 200_001)

    def test_a_command_that_was_killed_is_gone_on_with_by_the_next_one(self):
        self.write_large("killed")
        proxy = CuttingProxy(self.service.port)
        self.addCleanup(proxy.close)
        proxy.cuts = [("up", 5 << 20)] + [("up", 1000)] * 1000    # a part arrives, then next to nothing
        address = f"http://127.0.0.1:{proxy.port}"
        command = subprocess.Popen([BIN / "slipway", "--url", address, "data", "push", "killed"], cwd=self.folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env=environment_of(SLIPWAY_TOKEN=self.service.token, XDG_CACHE_HOME=str(self.cache)))
        self.addCleanup(command.wait)
        self.addCleanup(command.kill)

        def arrived():
            with contextlib.suppress(IndexError):
                return self.service.get(f"/v1/uploads/{self.records()[0]}")["received"]
            return 0
        wait_for(lambda: arrived() >= 4 << 20, "a part to arrive")
        command.kill()
        command.wait()
        (upload,) = self.records()
        proxy.cuts = []
        self.assertIn("ready", self.push("killed", port=proxy.port))
        dataset = self.service.get("/v1/datasets/killed")
        self.assertEqual((dataset["source"]["upload"], dataset["report"]["samples"]), (upload, 200_001))
        self.assertEqual(self.records(), [])


if __name__ == "__main__":
    unittest.main()
