"""Goal: the Python client does what docs/python.md says, on a real service and when things break.
Method: the examples of the page run as they are written; a proxy cuts connections in the middle of uploads, downloads and
streams; the service is killed while a job is watched."""
import json
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

from service import ENDLESS_EPOCHS, SOURCE, points_job, serve_points

CLIENT = SOURCE / "api/python"
sys.path.insert(0, str(CLIENT))

import slipway  # noqa: E402

DEBIAN_PYTHON = "/usr/bin/python3"    # has setuptools, wheel and NumPy


class CuttingProxy:
    """Passes bytes between clients and a service; the next `cuts` connections end after so many bytes of one direction."""

    def __init__(self, port):
        self.target, self.cuts = port, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.was_cut = 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.target))
            for source, sink, direction in ((client, server, "up"), (server, client, "down")):
                threading.Thread(target=self.pass_on, args=(source, sink, direction), daemon=True).start()

    def pass_on(self, source, sink, direction):
        passed = 0
        try:
            while piece := source.recv(1 << 14):
                if self.cuts and self.cuts[0][0] == direction and passed + len(piece) > self.cuts[0][1]:
                    sink.sendall(piece[:self.cuts.pop(0)[1] - passed])
                    self.was_cut += 1
                    break
                sink.sendall(piece)
                passed += len(piece)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()

    def close(self):
        self.listener.close()


def long_job(**changes):
    return points_job(train={"epochs": ENDLESS_EPOCHS, "batch_size_per_core": 16, "optimizer": {"name": "sgd", "lr": 1e-6}},
                      checkpoint={"every_epochs": ENDLESS_EPOCHS}, monitor={"log_every_steps": 500}, **changes)


class PythonClient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        serve_points(cls)
        cls.url = f"http://127.0.0.1:{cls.service.port}"
        cls.client = slipway.Client(cls.url, cls.service.token)
        cls.job = cls.client.wait(cls.client.submit(points_job()))
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))

    def proxied(self, **options):
        proxy = CuttingProxy(self.service.port)
        self.addCleanup(proxy.close)
        return proxy, slipway.Client(f"http://127.0.0.1:{proxy.port}", self.service.token, **options)

    def test_the_generated_files_are_current(self):
        command = [sys.executable, CLIENT / "generate.py", self.url]
        if os.environ.get("SLIPWAY_UPDATE"):
            subprocess.run(command, check=True)
        done = subprocess.run([*command, "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_generator_says_what_is_not_current(self):
        api = json.loads(self.client.call_text("GET", "/openapi.json"))
        api["components"]["schemas"]["Job"]["properties"]["colour"] = {"type": "string"}
        changed = self.folder / "openapi.json"
        changed.write_text(json.dumps(api))
        done = subprocess.run([sys.executable, CLIENT / "generate.py", changed, "--check"], capture_output=True, text=True)
        self.assertEqual((done.returncode, "api_types.py" in done.stderr, "endpoints.py" in done.stderr), (1, True, False))

    def test_every_example_of_the_page(self):
        """With Debian's Python, which has NumPy."""
        page = (SOURCE / "docs/python.md").read_text()
        script = "\n".join(re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S))
        rows = (self.service.data / "points" / "points.csv").read_text().splitlines()
        (self.folder / "flowers.csv").write_text("".join(row.rpartition(",")[0] + "\n" for row in rows))
        done = subprocess.run([DEBIAN_PYTHON, "-c", script], cwd=self.folder, capture_output=True, text=True, timeout=400, env={
            **os.environ, "PYTHONPATH": str(CLIENT), "SLIPWAY_URL": self.url, "SLIPWAY_TOKEN": self.service.token})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for said in ("succeeded 0.", "train.optimizer.lr  0.001", "ready 120", "4 trials", "invalid_spec /model/arch",
                     "this token is unknown", "broken failed its check"):
            self.assertIn(said, done.stdout)

    def test_it_installs_without_a_network(self):
        source = self.folder / "source"
        shutil.copytree(CLIENT, source, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
        subprocess.run([DEBIAN_PYTHON, "-m", "venv", "--system-site-packages", self.folder / "venv"], check=True)
        python = self.folder / "venv/bin/python"
        done = subprocess.run([python, "-m", "pip", "install", "--no-index", "--no-build-isolation", source], capture_output=True,
                              text=True, env={**os.environ, "PIP_CONFIG_FILE": os.devnull})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = subprocess.run([python, "-c", "import slipway; print(slipway.__file__, slipway.Client().get_me()['role'])"], cwd=self.folder,
                              capture_output=True, text=True, env={"SLIPWAY_URL": self.url, "SLIPWAY_TOKEN": self.service.token})
        self.assertEqual(done.stderr, "")
        self.assertRegex(done.stdout, r"^/.*/venv/.*/slipway/__init__.py admin\n$")

    # ---- watching -----------------------------------------------------------
    def test_a_watched_job_is_told_once_and_in_order_over_cut_connections(self):
        proxy, client = self.proxied()
        whole = [(event.id, event.type) for event in self.client.watch(self.job)]
        proxy.cuts = [("down", size) for size in (700, 1500, 3000, 300)]
        self.assertEqual([(event.id, event.type) for event in client.watch(self.job)], whole)
        self.assertEqual(proxy.was_cut, 4)
        self.assertEqual([int(number) for number, _ in whole], list(range(1, len(whole) + 1)))
        self.assertEqual(whole[-1][1], "end")

    def test_watching_goes_on_behind_an_event_and_keeps_to_the_types(self):
        states = list(self.client.watch(self.job, types=["state"]))
        self.assertEqual({event.type for event in states}, {"state"})
        self.assertEqual(states[-1].body["state"], "succeeded")
        behind = list(self.client.watch(self.job, types=["state"], after=states[1].id))
        self.assertEqual([event.id for event in behind], [event.id for event in states[2:]])

    def test_a_wait_that_takes_too_long_and_a_job_that_did_not_succeed(self):
        job = self.client.submit(long_job())
        with self.assertRaises(TimeoutError):
            self.client.wait(job, timeout_s=1)
        self.client.kill_job(job["id"])
        with self.assertRaises(slipway.JobFailed) as caught:
            self.client.wait(job)
        self.assertEqual(caught.exception.document["state"], "cancelled")
        self.assertEqual(self.client.wait(job, check=False)["state"], "cancelled")

    # ---- uploads and downloads ---------------------------------------------
    def test_a_cut_upload_continues_and_a_second_one_sends_nothing(self):
        content = random.Random(1).randbytes(20 << 20)
        file = self.folder / "large.bin"
        file.write_bytes(content)
        proxy, client = self.proxied()
        proxy.cuts = [("up", 5 << 20), ("up", 3 << 20), ("up", 1 << 20)]
        upload = client.upload(file)
        self.assertEqual(proxy.was_cut, 3)
        found = self.client.get_upload(upload)
        self.assertEqual((found["received"], found["complete"]), (len(content), True))
        self.assertEqual(self.client.upload(file), upload)
        self.client.delete_upload(upload)
        self.assertNotEqual(self.client.upload(file), upload)

    def test_an_upload_that_another_process_began_is_gone_on_with(self):
        file = self.folder / "began.bin"
        file.write_bytes(random.Random(2).randbytes(20 << 20))
        proxy, client = self.proxied(retry_s=0)
        proxy.cuts = [("up", 5 << 20), *[("up", 0)] * 1000]
        with self.assertRaises(slipway.Unreachable):
            client.upload(file, patience_s=1)
        (begun,) = [one for one in [self.client.get_upload(row[0]) for row in self.service.sql("select id from upload")]
                    if one["filename"] == "began.bin"]
        self.assertFalse(begun["complete"])
        self.assertEqual(self.client.upload(file), begun["id"])

    def test_a_folder_becomes_a_dataset(self):
        folder = self.folder / "flowers"
        folder.mkdir()
        shutil.copy(self.service.data / "points" / "points.csv", folder / "flowers.csv")
        (folder / ".hidden").write_text("not data")
        dataset = self.client.dataset_from_path("folder", folder, "csv", options={"group_column": "family"})
        self.assertEqual((dataset["state"], dataset["report"]["samples"]), ("ready", 600))
        (self.folder / "nothing").mkdir()
        with self.assertRaisesRegex(ValueError, "has no files"):
            self.client.dataset_from_path("nothing", self.folder / "nothing", "csv")

    def test_a_cut_download_continues_and_leaves_no_part(self):
        spec = points_job(model={"arch": "mlp", "width": 512, "depth": 4}, train={"epochs": 1})
        checkpoint = self.client.checkpoint_of(self.client.wait(self.client.submit(spec)), "last")
        proxy, client = self.proxied()
        proxy.cuts = [("down", 1 << 20), ("down", 1 << 18)]
        (path,) = client.download_checkpoint(checkpoint, self.folder / "cut", files=["model.safetensors"])
        self.assertEqual(proxy.was_cut, 2)
        self.assertEqual([one.name for one in path.parent.iterdir()], ["model.safetensors"])
        self.assertEqual(path.read_bytes(), self.service.newest_weights(checkpoint["job_id"]))

    def test_a_part_is_continued_and_a_wrong_one_never_gets_the_name(self):
        checkpoint = self.client.checkpoint_of(self.job)
        whole = self.client.download_checkpoint(checkpoint, self.folder / "whole", files=["model.safetensors"])[0].read_bytes()
        target = self.folder / "parts"
        target.mkdir()
        part = target / "model.safetensors.part"
        part.write_bytes(whole[:100])
        self.client.download_checkpoint(checkpoint, target, files=["model.safetensors"])
        self.assertEqual((target / "model.safetensors").read_bytes(), whole)
        (target / "model.safetensors").unlink()
        part.write_bytes(b"x" * 100)
        with self.assertRaisesRegex(slipway.IntegrityError, "checksums differ"):
            self.client.download_checkpoint(checkpoint, target, files=["model.safetensors"])
        self.assertEqual(list(target.iterdir()), [])
        with self.assertRaisesRegex(FileNotFoundError, "it has model.safetensors"):
            self.client.download_checkpoint(checkpoint, target, files=["nothing.bin"])

    def test_exported_weights_are_those_of_the_checkpoint(self):
        weights = self.client.load_weights(self.client.checkpoint_of(self.job), "python")
        self.assertEqual(weights["layers.0.weight"].shape, (32, 4))
        self.assertEqual(len(weights["layers.0.weight"].values), 128)
        path = self.client.export_weights(self.client.checkpoint_of(self.job), self.folder / "half.safetensors", dtype="bf16")
        self.assertEqual(slipway.safetensors.load(path, "python")["layers.0.weight"].dtype, "BF16")
        with self.assertRaises(slipway.NotFound):
            self.client.export_weights("ckp_01jd0000000000000000000000", self.folder / "none.safetensors")
        self.assertFalse(list(self.folder.glob("none*")))

    # ---- curves -------------------------------------------------------------
    def test_curves_are_those_of_the_service(self):
        steps = self.service.metric(self.job["id"], "train_loss")
        curve = self.client.curves(self.job, "train_loss", resolution=None)[self.job["id"]]["train_loss"]
        self.assertEqual(dict(zip(map(int, curve.step), map(float, curve.value))), steps)
        short = self.client.curves([self.job], ["train_loss"], resolution=10)[self.job["id"]]["train_loss"]
        self.assertLessEqual(len(short), 10)
        self.assertEqual((min(short.min), max(short.max), sum(short.count)), (min(curve.value), max(curve.value), len(curve)))

    # ---- errors and repetition ---------------------------------------------
    def test_errors_say_which_field(self):
        with self.assertRaises(slipway.InvalidRequest) as caught:
            self.client.submit(points_job(), set={"model.arch": "lenot", "train.epochs": -1})
        error = caught.exception
        self.assertEqual((error.status, error.code, {item["pointer"] for item in error.errors}),
                         (422, "invalid_spec", {"/model/arch", "/train/epochs"}))
        self.assertIn('did you mean "lenet"?', str(error))
        with self.assertRaises(slipway.NotFound):
            self.client.get_job("job_01jd0000000000000000000000")
        with self.assertRaises(slipway.Conflict):
            self.client.pause_job(self.job["id"])

    def test_a_viewer_may_look_and_a_wrong_or_revoked_token_may_not(self):
        issued = self.client.create_token({"name": "viewer", "role": "viewer"})
        viewer = slipway.Client(self.url, issued["token"])
        self.assertEqual(viewer.get_job(self.job["id"])["id"], self.job["id"])
        with self.assertRaises(slipway.PermissionDenied):
            viewer.submit(points_job())
        self.client.revoke_token(issued["id"])
        for act in (viewer.list_jobs, lambda: list(viewer.watch(self.job)), lambda: viewer.upload(self.folder)):
            with self.assertRaises(slipway.Unauthenticated):
                act()

    def test_a_submission_whose_answer_was_lost_happens_once(self):
        proxy, client = self.proxied()
        proxy.cuts = [("down", 0)]
        before = {job["id"] for job in self.client.all_jobs(name="lost answer")}
        client.submit(points_job(name="lost answer"))
        self.assertEqual((proxy.was_cut, before), (1, set()))
        self.assertEqual(len(list(self.client.all_jobs(name="lost answer"))), 1)

    def test_what_must_not_be_repeated_is_not(self):
        proxy, client = self.proxied()
        proxy.cuts = [("down", 0)]
        with self.assertRaises(slipway.Unreachable):
            client.create_token({"name": "made once", "role": "viewer"})
        names = [token["name"] for token in self.client.pages(self.client.list_tokens)]
        self.assertEqual(names.count("made once"), 1)

    def test_what_is_no_slipway_is_said(self):
        other = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(other.close)

        def answer():
            connection, _ = other.accept()
            connection.recv(4096)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>")
            connection.close()
        threading.Thread(target=answer, daemon=True).start()
        with self.assertRaisesRegex(slipway.Unreachable, "is the address right"):
            slipway.Client(f"http://127.0.0.1:{other.getsockname()[1]}", "slp_x").list_jobs()


class PythonClientOfARestartedService(unittest.TestCase):
    def test_a_watch_goes_on_over_a_killed_service(self):
        serve_points(self)
        client = slipway.Client(f"http://127.0.0.1:{self.service.port}", self.service.token, retry_s=60)
        job = client.submit(points_job(train={"epochs": 30, "batch_size_per_core": 16, "optimizer": {"name": "sgd", "lr": 1e-3}}))
        seen = []
        for event in client.watch(job, patience_s=120):
            seen.append(int(event.id))
            if len(seen) == 40:
                self.service.kill()
                self.service.start()
        self.assertEqual(seen, list(range(1, len(seen) + 1)))
        self.assertEqual(client.wait(job)["state"], "succeeded")

    def test_a_service_that_stays_away_is_given_up(self):
        serve_points(self)
        client = slipway.Client(f"http://127.0.0.1:{self.service.port}", self.service.token, retry_s=0)
        job = client.submit(long_job())
        with self.assertRaisesRegex(slipway.Unreachable, "has been away"):
            for _ in client.watch(job, patience_s=1):
                if self.service.process.poll() is None:
                    self.service.stop()


if __name__ == "__main__":
    unittest.main()
