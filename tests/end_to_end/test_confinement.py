"""Goal: an executor that is hostile reaches nothing but its own job, and a greedy one ends alone.

Method: a stand-in for slipway-executor (hostile_executor.cpp) tries every escape that it knows, and the results are
compared with what `GET /v1/capabilities` says that this machine enforces.
"""
import contextlib
import ctypes
import hashlib
import json
import os
import pathlib
import pwd
import random
import re
import shutil
import socket
import stat
import struct
import subprocess
import unittest

from service import BIN, SOURCE, Service, points_job, write_points

UNIT = SOURCE / "deploy" / "slipway.service"
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


def restrict_address_families():
    """As systemd does for the unit: sockets of other families than its RestrictAddressFamilies cannot be made."""
    words = re.search(r"(?m)^RestrictAddressFamilies=(.*)", UNIT.read_text())[1].split()
    allowed = [int(getattr(socket, word)) for word in words]
    load, equal, answer, get_nr, get_family = 0x20, 0x15, 0x06, 0, 16
    socket_call, no_new_privs, set_seccomp, filter_mode, not_supported = 41, 38, 22, 2, 97    # of x86-64
    code = [(load, 0, 0, get_nr), (equal, 0, len(allowed) + 2, socket_call), (load, 0, 0, get_family)]
    code += [(equal, len(allowed) - at, 0, family) for at, family in enumerate(allowed)]
    code += [(answer, 0, 0, 0x00050000 | not_supported), (answer, 0, 0, 0x7fff0000)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in code))
    packed = struct.pack("HxxxxxxP", len(code), ctypes.addressof(program))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(no_new_privs, 1, 0, 0, 0) or libc.prctl(set_seccomp, filter_mode, packed, 0, 0):
        raise OSError(ctypes.get_errno(), "the filter cannot be set")


def targets_of(service, other):
    """What a hostile executor goes for."""
    home = service.home
    checkpoint = next((home / "store" / "checkpoints" / other).iterdir())
    lines = (home / "postgres" / "data" / "postmaster.pid").read_text().splitlines()
    numbers = dict(service.sql("select name, number from project"))
    return {
        "home": home, "other_dataset": service.data / "theirs" / "points.csv",
        "other_run": home / "runs" / other / "1", "other_checkpoint": checkpoint / "model.safetensors",
        "other_report": home / "store" / "reports" / other,
        "other_cache": home / "store" / "compile_cache" / numbers["other"],
        "slipwayd": service.process.pid, "postmaster": lines[0], "port": service.port,
        "database_socket": f"{lines[4]}/.s.PGSQL.{lines[3]}",
    }


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

    def test_a_hostile_executor_reaches_nothing_but_its_own_job(self):
        other = other_job(self.service)
        self.service.wait_end(other)
        self.restart_with("--executor", str(HOSTILE))
        (self.service.data / "points" / "targets.txt").write_text(
            "".join(f"{name}={value}\n" for name, value in targets_of(self.service, other).items()))
        job = self.service.submit(points_job(limits={"max_restarts": 0}))
        self.assertEqual(self.service.wait_end(job)["state"], "failed")
        results = (self.service.home / "runs" / job / "1" / "results.txt").read_text().splitlines()
        enforced = {one["name"]: one["enforced"] for one in self.service.get("/v1/capabilities")["confinement"]}
        print("\n" + "\n".join(results), f"\n{len(results)} attempts; enforced: {enforced}")
        self.assertGreaterEqual(len(results), 88)
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


def port_below_the_chosen_ones():
    """As 8470 is: to ports that the system chooses, members of a slice may connect until they have met."""
    first = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    for port in random.sample(range(first // 2, first), 100):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("there is no free port")


@unittest.skipUnless(HOSTILE.exists(), "hostile_executor is not built")
@unittest.skipUnless(os.geteuid() == 0, "only root runs a service as another user")
class SliceOfAPlainUser(unittest.TestCase):
    """As deploy/slipway.service runs it: executors are of the service's own user, and members of a slice connect."""

    USER = "games"
    # Gloo asks for the interface of an address: with such a socket a process without privileges can only read.
    MAY_ESCAPE = {"open_a_netlink_socket"}

    def setUp(self):
        self.service = Service("--virtual-hosts", "2", "--cores", "8", "--job-memory-mib", "4000")
        self.service.port = port_below_the_chosen_ones()
        self.addCleanup(self.service.close)
        # Unlike `slipwayd` it need not be readable by others.
        self.programs = self.service.home / "programs"
        self.programs.mkdir(mode=0o755)
        shutil.copy(HOSTILE, self.programs)
        write_points(self.service.data / "points")
        account = pwd.getpwnam(self.USER)
        os.chown(self.service.home, account.pw_uid, account.pw_gid)
        self.service.user, self.service.before_exec = self.USER, restrict_address_families
        self.service.start()
        self.service.dataset("points", "csv", {"group_column": "family"})

    def slice_job(self):
        return points_job(accelerator={"slice": {"cores": 16}}, limits={"max_restarts": 0},
                          train={"batch_size_per_core": 4})

    def test_a_slice_runs_under_the_unit(self):
        end = self.service.wait_end(self.service.submit(self.slice_job()))
        self.assertEqual(end["state"], "succeeded", end.get("reason"))

    def test_a_hostile_member_reaches_nothing_but_its_own_job(self):
        other = other_job(self.service)
        self.service.wait_end(other)
        self.service.stop()
        self.service.options += ("--executor", str(self.programs / HOSTILE.name))
        self.service.start()
        (self.service.data / "points" / "targets.txt").write_text(
            "".join(f"{name}={value}\n" for name, value in targets_of(self.service, other).items()))
        job = self.service.submit(self.slice_job())
        self.service.wait_end(job)
        features = {one["name"]: one for one in self.service.get("/v1/capabilities")["confinement"]}
        may_escape = {name for feature, names in NEEDS.items() if not features[feature]["enforced"] for name in names}
        if "Landlock" not in features["network"]["detail"]:
            may_escape.add("call_the_api")
        found = sorted((self.service.home / "runs" / job).rglob("results.txt"))
        self.assertEqual(len(found), 2, found)
        for file in found:
            results = file.read_text().splitlines()
            self.assertGreaterEqual(len(results), 88)
            escaped = {line.split()[0] for line in results if " ESCAPED" in line}
            self.assertEqual(escaped - may_escape - self.MAY_ESCAPE, set(), features)
        self.assertTrue(self.service.is_ready(), "the service was not touched")


if __name__ == "__main__":
    unittest.main()
