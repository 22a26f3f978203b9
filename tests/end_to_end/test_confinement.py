"""Goal: an executor that is hostile reaches nothing but its own job, and a greedy one ends alone.

Method: a stand-in for slipway-executor (hostile_executor.cpp) tries every escape that it knows, and the results are
compared with what `GET /v1/capabilities` says that this machine enforces.
"""
import hashlib
import json
import os
import pathlib
import stat
import subprocess
import unittest

from service import BIN, Service, points_job, write_points

HOSTILE = pathlib.Path(os.environ.get("SLIPWAY_TEST_BIN_DIR", BIN)) / "hostile_executor"
# A hostile executor uses up the threads of its user. Tests beside this one have executors of the usual users.
OWN_USERS = ("--executor-user-base", "1910000000")
# What a feature of the confinement stops, where the machine enforces it; all others need none of its own.
NEEDS = {
    "files": ["read_another_run_folder", "read_another_jobs_checkpoint", "read_another_projects_dataset",
              "list_the_dataset_root", "change_its_own_dataset", "leave_a_file_in_tmp", "read_the_user_list",
              "list_the_home_folder"],
    "threads": ["make_threads_without_end"],
    "disk": ["write_any_number_of_files"],
}


def resident_kib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])


def other_job(service):
    """A finished job of another project, with everything that belongs to it."""
    write_points(service.data / "theirs")
    service.post("/v1/datasets", {"name": "theirs", "project": "other", "format": "csv", "source": {"path": "theirs"},
                                  "options": {"group_column": "family"}})
    import service as support
    support.wait_for(lambda: service.get("/v1/datasets/theirs?project=other")["state"] == "ready", "the other dataset")
    return service.submit(points_job(project="other", data={"dataset": "theirs"}))


@unittest.skipUnless(HOSTILE.exists(), "hostile_executor is not built")
class Confinement(unittest.TestCase):
    def setUp(self):
        self.service = Service(*OWN_USERS)
        self.addCleanup(self.service.close)
        write_points(self.service.data / "points")
        self.service.start()
        self.service.dataset("points", "csv", {"group_column": "family"})

    def restart_with(self, *options):
        self.service.stop()
        self.service.options = OWN_USERS + options
        self.service.start()

    def targets(self, other):
        home = self.service.home
        checkpoint = next((home / "store" / "checkpoints" / other).iterdir())
        lines = (home / "postgres" / "data" / "postmaster.pid").read_text().splitlines()
        numbers = dict(self.service.sql("select name, number from project"))
        return {
            "home": home, "other_dataset": self.service.data / "theirs" / "points.csv",
            "other_run": home / "runs" / other / "1", "other_checkpoint": checkpoint / "model.safetensors",
            "other_report": home / "store" / "reports" / other,
            "other_cache": home / "store" / "compile_cache" / numbers["other"],
            "slipwayd": self.service.process.pid, "postmaster": lines[0], "port": self.service.port,
            "database_socket": f"{lines[4]}/.s.PGSQL.{lines[3]}",
        }

    def test_a_hostile_executor_reaches_nothing_but_its_own_job(self):
        other = other_job(self.service)
        self.service.wait_end(other)
        self.restart_with("--executor", str(HOSTILE))
        (self.service.data / "points" / "targets.txt").write_text(
            "".join(f"{name}={value}\n" for name, value in self.targets(other).items()))
        job = self.service.submit(points_job(limits={"max_restarts": 0}))
        self.assertEqual(self.service.wait_end(job)["state"], "failed")
        results = (self.service.home / "runs" / job / "1" / "results.txt").read_text().splitlines()
        enforced = {one["name"]: one["enforced"] for one in self.service.get("/v1/capabilities")["confinement"]}
        print("\n" + "\n".join(results), f"\n{len(results)} attempts; enforced: {enforced}")
        self.assertGreaterEqual(len(results), 84)
        may_escape = {name for feature, names in NEEDS.items() if not enforced[feature] for name in names}
        escaped = {line.split()[0] for line in results if " ESCAPED" in line}
        self.assertEqual(escaped - may_escape, set())
        self.assertEqual(self.service.executors(), [])
        self.assertTrue(self.service.is_ready(), "the service was not touched")

    def test_what_was_uploaded_and_made_is_closed_to_other_users(self):
        content = (self.service.data / "points" / "points.csv").read_bytes()
        made = self.service.post("/v1/uploads", {
            "filename": "points.csv", "size": len(content), "sha256": hashlib.sha256(content).hexdigest()})
        self.service.call("PATCH", f"/v1/uploads/{made['id']}", content,
                          {"Upload-Offset": "0", "Content-Type": "application/octet-stream"})
        self.service.post(f"/v1/uploads/{made['id']}/complete", {})
        self.service.post("/v1/datasets", {"name": "sent", "format": "csv", "source": {"upload": made["id"]},
                                           "options": {"group_column": "family"}})
        for _ in range(2):
            job = self.service.submit(points_job(data={"dataset": "sent"}))
            self.assertEqual(self.service.wait_end(job)["state"], "succeeded")
        dataset, = (self.service.home / "store" / "datasets").iterdir()
        for closed in (dataset, self.service.home / "store" / "checkpoints" / job, self.service.home / "runs" / job / "1"):
            for path in (closed, *closed.rglob("*")):
                # The agent's own files may have wider modes: what counts is the folder above them.
                if path == closed or path.stat().st_uid == closed.stat().st_uid != os.geteuid():
                    self.assertEqual(stat.S_IMODE(path.stat().st_mode) & 0o077, 0, path)

    def test_a_job_that_needs_more_than_its_memory_ends_alone(self):
        self.restart_with("--job-memory-mib", "1024")
        before = resident_kib(self.service.process.pid)
        job = self.service.submit(points_job(
            model={"arch": "mlp", "width": 65536, "depth": 3}, accelerator={"core_ids": [1]}, limits={"max_restarts": 0}))
        end = self.service.wait_end(job)
        self.assertEqual(end["state"], "failed")
        self.assertIn(end["reason"]["code"], ("oom_host", "out_of_memory"), json.dumps(end["reason"]))
        self.assertIn(str((1024 << 20) // 8), end["reason"]["message"])
        print("\n" + end["reason"]["message"])
        self.assertLess(resident_kib(self.service.process.pid) - before, 30 * 1024)
        self.assertEqual(self.service.wait_end(self.service.submit(points_job()))["state"], "succeeded")

    def test_the_doctor_says_what_the_service_says(self):
        done = subprocess.run([BIN / "slipwayd", "doctor", "--home", self.service.home], capture_output=True, text=True)
        found = {line.split()[1]: line.split()[0] == "ok" for line in done.stdout.splitlines()[:-1]}
        for one in self.service.get("/v1/capabilities")["confinement"]:
            self.assertEqual(found[one["name"]], one["enforced"], done.stdout)
        self.assertTrue(found["home"] and found["database"] and found["kernel"], done.stdout)
        missing = [name for name, good in found.items() if not good and name != "disk"]
        self.assertEqual(done.returncode, 1 if missing else 0, done.stdout)

    def test_what_is_required_and_missing_is_told_at_the_start(self):
        if os.geteuid() != 0:
            self.service.stop()
            done = subprocess.run([BIN / "slipwayd", "serve", "--home", self.service.home, "--confinement", "required"],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2)
            self.assertIn("user cannot be confined", done.stderr)
        else:
            self.restart_with("--confinement", "required")
            self.assertEqual(self.service.wait_end(self.service.submit(points_job()))["state"], "succeeded")


if __name__ == "__main__":
    unittest.main()
