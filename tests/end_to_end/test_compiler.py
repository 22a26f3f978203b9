"""Goal: LLVM is in a process only when it compiles, and only the compiler that a program was built with is loaded.
Method: executors by hand whose compiler is another file, and what the executors of a service have mapped."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from service import BIN, points_job, serve_points, wait_for

LIBRARY = BIN / "slipway-compiler.so"


class CompilerByHand(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        rows = "".join(f"{i % 7},{i % 5},{(i % 7 + i % 5) % 3}\n" for i in range(200))
        (self.folder / "points.csv").write_text("x,y,label\n" + rows)
        (self.folder / "job.json").write_text(json.dumps(points_job(accelerator={"cores": 1})))

    def train(self, out, compiler=None):
        environment = {name: value for name, value in os.environ.items() if name != "SLIPWAY_COMPILER"}
        if compiler is not None:
            environment["SLIPWAY_COMPILER"] = str(compiler)
        return subprocess.run(
            [BIN / "slipway-executor", "run", self.folder / "job.json", "--out", self.folder / out, "--data",
             self.folder / "points.csv", "--format", "csv", "--options", '{"label_column": "label"}', "--cache", self.folder / "cache"],
            capture_output=True, text=True, env=environment)

    def assert_refused(self, done, *words):
        self.assertEqual(done.returncode, 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stdout + done.stderr)

    def test_who_finds_all_kernels_on_disk_needs_no_compiler(self):
        self.assert_refused(self.train("absent", "/absent.so"), "/absent.so", "cannot be loaded")
        first = self.train("first")
        self.assertEqual(first.returncode, 0, first.stderr)
        second = self.train("second", "/absent.so")
        self.assertEqual(second.returncode, 0, second.stderr)
        curves = [[line.split(",")[1:3] for line in (self.folder / out / "metrics.csv").read_text().splitlines() if "loss" in line]
                  for out in ("first", "second")]
        self.assertTrue(curves[0])
        self.assertEqual(curves[0], curves[1])

    def test_a_compiler_of_another_build_is_not_asked(self):
        other = self.folder / "other.so"
        shutil.copy(LIBRARY, other)
        notes = subprocess.run(["readelf", "-W", "-n", other], capture_output=True, text=True, check=True).stdout
        mark = bytes.fromhex(notes.split("Build ID: ")[1].split()[0])
        content = other.read_bytes()
        self.assertEqual(content.count(mark), 1)
        other.write_bytes(content.replace(mark, bytes(len(mark))))
        self.assert_refused(self.train("out", other), "another build")
        self.assert_refused(self.train("other", "/usr/lib/x86_64-linux-gnu/libz.so.1"), "another build")


class CompilerInService(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        serve_points(cls, ("--warm-executors-s", "60"), rows=500)

    def libraries_of_idle_executor(self):
        """Names of what the one executor has mapped once its job has ended."""
        job = self.service.submit(points_job(accelerator={"cores": 1}))
        self.assertEqual(self.service.wait_end(job)["state"], "succeeded")
        [executor] = wait_for(self.service.executors_that_wait, "an executor that waits")
        return {line.split()[-1].split("/")[-1] for line in pathlib.Path(f"/proc/{executor}/maps").read_text().splitlines()}

    def test_an_executor_has_llvm_when_it_compiled(self):
        def has_llvm(names):
            return any(name.startswith("libLLVM") for name in names)
        self.assertTrue(has_llvm(self.libraries_of_idle_executor()))
        self.service.stop()
        self.service.start()
        names = self.libraries_of_idle_executor()
        self.assertTrue(any(name.startswith("libdnnl") for name in names), names)
        self.assertFalse(has_llvm(names), names)
        self.assertNotIn(LIBRARY.name, names)


if __name__ == "__main__":
    unittest.main()
