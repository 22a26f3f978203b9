"""Goal: the executors of a slice end with the same weights whatever happens to them, or say who was lost.
Method: real executors on loopback, each with its own order; a folder that they share is what agents bring them."""
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

from service import BIN, ENDLESS_EPOCHS, points_job, wait_for, write_points

CORES = 8
HAS_AVX512 = " avx512f " in pathlib.Path("/proc/cpuinfo").read_text()
LONG = {"epochs": ENDLESS_EPOCHS}    # until somebody ends it
STEPS_OF_EPOCH = 15


class Executors:
    """The members of one attempt of a job."""

    def __init__(self, folder, spec, count, attempt=1, timeout_s=20, changes=None, absent=(), network=None, checkpoints_bytes=0, environments=None):
        self.folder, self.count, self.absent, self.small_disk = folder, count, absent, None
        self.runs = [folder / f"run_{attempt}_{rank}" for rank in range(count)]
        if checkpoints_bytes:
            (folder / "checkpoints").mkdir()
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={checkpoints_bytes}", "none", folder / "checkpoints"], check=True)
            self.small_disk = folder / "checkpoints"
        saved = sorted((folder / "checkpoints").glob("step_*[0-9]"), key=lambda path: path.name)
        self.processes = []
        for rank, run in enumerate(self.runs):
            order = {
                "version": version(), "job_id": "job_slice", "attempt": attempt, "fence": "f00d", "kind": "train", "payload": None,
                "spec": spec, "checkpoint_folder": str(folder / "checkpoints"), "init_from": None, "network_from": None, "checkpoints": [], "split": None,
                "dataset": {"id": "ds_points", "name": "points", "format": "csv", "path": str(folder / "points"), "options": {"group_column": "family"},
                            "content_hash": ""},
                "resume_from": str(saved[-1]) if saved else None, "saves_requested": 0, "worker_threads": 1, "grace_s": 600,
                "memory_bytes": 0, "report_folder": str(run / "report"), "cache_folder": str(folder / "cache"), "packed_folder": "",
                "decoded_folder": "", "decoded_bytes_max": 0, "traceparent": "",
                "member": {"rank": rank, "hosts": [f"training-{i}" for i in range(count)],
                           "rendezvous_folder": str(folder / f"rendezvous_{attempt}"), "secret": "of the attempt",
                           "bind_address": network.addresses[rank] if network else "127.0.0.1", "timeout_s": timeout_s}}
            if changes:
                changes(rank, order)
            run.mkdir()
            (run / "attempt.json").write_text(json.dumps(order))
            if rank not in absent:
                with open(run / "output.log", "wb") as output:
                    self.processes.append(subprocess.Popen([*(network.on(rank) if network else ()), BIN / "slipway-executor", "attempt", run],
                                                           stdout=output, stderr=output, env=os.environ | (environments or {}).get(rank, {})))

    def frames(self, rank):
        file = self.runs[rank] / "frames.ndjson"
        lines = file.read_text().splitlines() if file.exists() else []
        return [json.loads(line) for line in lines if line.endswith("}")]

    def step(self):
        return max((frame["step"] for frame in self.frames(0) if frame["type"] == "metric"), default=0)

    def wait(self, seconds=120):
        for process in self.processes:
            process.wait(seconds)

    def endings(self):
        """The last frame of each; of one that was killed there is none."""
        return [next((frame for frame in reversed(self.frames(rank)) if frame["type"] == "done"), None) for rank in range(self.count)]

    def close(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        if self.small_disk:
            subprocess.run(["umount", self.small_disk], check=True)


def version():
    header = pathlib.Path(__file__).parents[2] / "api" / "protocol" / "version.h"
    return int(re.search(r"protocol_version = (\d+)", header.read_text())[1])


def job(**train):
    return points_job(accelerator={"cores": CORES}, monitor={"log_every_steps": 1}, checkpoint={"every_epochs": 2, "keep_last": 3},
                      train={"epochs": 16, "batch_size_per_core": 4, "optimizer": {"name": "adam", "lr": 0.001}, **train})


class MembersCase(unittest.TestCase):
    """What tests of members have in common."""

    def setUp(self):
        self.kept = tempfile.TemporaryDirectory()
        self.addCleanup(self.kept.cleanup)

    def start(self, name, spec, count, **options):
        folder = pathlib.Path(self.kept.name, name)
        if not folder.exists():
            folder.mkdir()
            write_points(folder / "points")
        members = Executors(folder, spec, count, **options)
        self.addCleanup(members.close)
        return members

    def weights(self, members):
        newest = max((members.folder / "checkpoints").glob("step_*[0-9]"), key=lambda path: path.name)
        return (newest / "model.safetensors").read_bytes()

    def assert_succeeded(self, members):
        members.wait()
        for rank, ending in enumerate(members.endings()):
            self.assertIsNotNone(ending, (members.runs[rank] / "output.log").read_text())
            self.assertEqual((ending["outcome"], ending["code"]), ("succeeded", None), ending["message"])

    def assert_lost(self, members, rank, pattern):
        ending = members.endings()[rank]
        self.assertEqual((ending["outcome"], ending["code"]), ("failed", "member_lost"), ending["message"])
        self.assertRegex(ending["message"], pattern)


class MembersTestCase(MembersCase):
    def test_rank_0_alone_reports_and_saves(self):
        members = self.start("whole", job(), 4)
        self.assert_succeeded(members)
        self.assertGreater(members.step(), 0)
        self.assertTrue((members.runs[0] / "report" / "report.json").exists())
        for rank in range(1, 4):
            self.assertEqual({frame["type"] for frame in members.frames(rank)} - {"log", "done"}, set())
            self.assertFalse((members.runs[rank] / "report" / "report.json").exists())
        self.assertEqual(members.endings()[1]["result"], members.endings()[0]["result"])

    @unittest.skipUnless(HAS_AVX512, "needs more than AVX2")
    def test_members_of_two_kinds_of_processors_train_and_say_so(self):
        members = self.start("kinds", job(), 2, environments={rank: {"ONEDNN_MAX_CPU_ISA": isa} for rank, isa in enumerate(["AVX512_CORE", "AVX2"])})
        self.assert_succeeded(members)
        warnings = [frame for frame in members.frames(0) if frame["type"] == "warning" and frame["code"] == "instruction_sets_differ"]
        self.assertEqual(len(warnings), 1)
        self.assertRegex(warnings[0]["message"], r"^rank 0 \(training-0\) computes with avx512_core\w* and rank 1 \(training-1\) with avx2: ")
        alike = self.start("alike", job(), 2)
        self.assert_succeeded(alike)
        self.assertNotIn("instruction_sets_differ", (alike.runs[0] / "frames.ndjson").read_text())

    def test_a_killed_member_ends_the_others_and_the_job_resumes_with_the_same_bits(self):
        for victim in (0, 1):
            broken = self.start(f"broken_{victim}", job(**LONG), 2)
            wait_for(lambda: list((broken.folder / "checkpoints").glob("step_*[0-9]")), "a checkpoint", 60, 0.01)
            os.kill(broken.processes[victim].pid, signal.SIGKILL)
            begin = time.monotonic()
            broken.wait(60)
            print(f"rank {victim} killed: the other ended after {time.monotonic() - begin:.2f} s")
            self.assert_lost(broken, 1 - victim, rf"rank {victim} \(training-{victim}\) was lost at ")
            saved = max(int(folder.name.split("_")[1]) for folder in (broken.folder / "checkpoints").glob("step_*[0-9]"))
            rest = job(epochs=saved // STEPS_OF_EPOCH + 4)
            resumed = self.start(f"broken_{victim}", rest, 2, attempt=2)
            self.assert_succeeded(resumed)
            self.assertIn("resumed at step", " ".join(frame["message"] for frame in resumed.frames(1) if frame["type"] == "log"))
            whole = self.start(f"whole_{victim}", rest, 2)
            self.assert_succeeded(whole)
            self.assertEqual(self.weights(resumed), self.weights(whole))

    def test_a_member_that_is_stopped_is_lost_when_its_time_is_up(self):
        # Long enough for one that is not stopped on a busy machine.
        members = self.start("stopped", job(**LONG), 4, timeout_s=10)
        wait_for(lambda: members.step() > 3, "some steps", 60, 0.01)
        os.kill(members.processes[2].pid, signal.SIGSTOP)
        # Who waits for the stopped one in the sum before has not come to this one either.
        late = r"rank 2 \(training-2\)( and rank [013] \(training-[013]\))? did not come to .+ within 10 s"
        for rank in (0, 1, 3):
            members.processes[rank].wait(60)
            self.assert_lost(members, rank, late + "|was lost at")
        self.assertTrue(any(re.search(late, members.endings()[rank]["message"]) for rank in (0, 1, 3)))

    def test_a_stop_of_one_host_stops_all_at_one_step(self):
        members = self.start("drained", job(**LONG), 2)
        wait_for(lambda: members.step() > 3, "some steps", 60, 0.01)
        members.processes[1].terminate()    # an agent that drains its host does so
        members.wait(60)
        first, second = members.endings()
        self.assertEqual((first["outcome"], second["outcome"]), ("orphaned", "orphaned"))
        self.assertEqual(first["result"]["step"], second["result"]["step"])
        self.assertEqual([process.returncode for process in members.processes], [75, 75])

    def test_one_that_never_comes_is_named(self):
        members = self.start("absent", job(), 4, timeout_s=10, absent=(1,))
        members.wait(60)
        for rank in (0, 2, 3):
            self.assert_lost(members, rank, r"rank 1 \(training-1\) did not come to the rendezvous within 10 s")

    def test_another_secret_is_refused_by_name(self):
        def change(rank, order):
            if rank == 1:
                order["member"]["secret"] = "of another attempt"
        members = self.start("secret", job(), 2, changes=change)
        members.wait(60)
        for rank in (0, 1):
            self.assert_lost(members, rank, rf"rank {1 - rank} \(training-{1 - rank}\) cannot be met: it has another secret")

    def test_an_executor_of_another_version_is_refused_and_missed_by_name(self):
        def change(rank, order):
            order["version"] += rank
        members = self.start("version", job(), 2, changes=change, timeout_s=2)
        members.wait(60)
        self.assert_lost(members, 0, r"rank 1 \(training-1\) did not come to the rendezvous within 2 s")
        self.assertIn(f"protocol version {version() + 1}", self.said(members, 1))

    def said(self, members, rank):
        """What it told whoever reads its output and its frames."""
        return (members.runs[rank] / "output.log").read_text() + json.dumps(members.frames(rank))

    @unittest.skipUnless(os.getuid() == 0, "only root mounts a small disk")
    def test_a_full_store_is_the_cause_that_all_name(self):
        members = self.start("full", job(), 2, checkpoints_bytes=16 << 10)
        members.wait(60)
        first, second = members.endings()
        self.assertEqual((first["outcome"], first["code"]), ("failed", "disk_full"), first)
        self.assertIn("No space left on device", first["message"])
        self.assert_lost(members, 1, r"rank 0 \(training-0\) was lost at ")

    def test_members_of_different_data_do_not_train(self):
        def change(rank, order):
            if rank == 1:
                other = pathlib.Path(self.kept.name, "other")
                write_points(other)
                file = next(other.glob("*.csv"))
                file.write_text("".join(file.read_text().splitlines(keepends=True)[:-9]))
                order["dataset"]["path"] = str(other)
        members = self.start("data", job(), 2, changes=change)
        members.wait(60)
        for ending in members.endings():
            self.assertEqual(ending["code"], "members_differ")
            self.assertRegex(ending["message"], r"samples is \d+ in rank 0 \(training-0\) and \d+ in rank 1 \(training-1\)")

    def test_an_order_that_cannot_be_is_refused_with_its_field(self):
        for change, word in (({"rank": 2}, "member.rank"), ({"hosts": ["a"]}, "member.hosts"), ({"hosts": ["a", "b", "c"]}, "3 hosts"),
                             ({"timeout_s": 0}, "member.timeout_s")):
            members = self.start(f"order_{word}", job(), 2, absent=(1,),
                                 changes=lambda rank, order: order["member"].update(change))
            members.wait(60)
            ending = members.endings()[0]
            self.assertEqual(ending["code"], "wrong_build")
            self.assertIn(word, ending["message"])


if __name__ == "__main__":
    unittest.main()
