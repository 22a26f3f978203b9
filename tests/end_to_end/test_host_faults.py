"""Goal: a host that has other files than those that were checked, or none, runs no job on them: they run elsewhere, and people are told
which host it was.
Method: the real programs and a PostgreSQL with a password, in two network namespaces; the second machine has dataset roots of its own."""
import shutil
import subprocess
import unittest

import test_joining
from service import BIN, Service, points_job, wait_for, write_points

BAD, GOOD = "a-bad", "good"    # of two free hosts, the first by name gets a job


class HostFaults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        test_joining.serve_database(cls)
        cls.address_file = cls.folder / "database"
        cls.address_file.write_text(cls.database.url)
        cls.address_file.chmod(0o600)
        cls.service = Service("--host-name", GOOD, "--database-file", cls.address_file)
        cls.addClassCleanup(cls.service.close)
        write_points(cls.service.data / "points", rows=400)
        cls.service.start()
        cls.service.dataset("points", "csv", {"group_column": "family"})

    def setUp(self):
        self.home, self.roots = self.folder / "home", self.folder / "roots"
        for folder in (self.home, self.roots):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=0o755)
        (self.home / "store").symlink_to(self.service.home / "store")

    def options(self):
        return ["--database-file", self.address_file, "--home", self.home, "--dataset-root", self.roots]

    def join(self, *options):
        """The second machine, with the roots as they are now."""
        token = self.folder / "token"    # the machine of an earlier test was removed
        token.write_text(self.service.post("/v1/hosts/join-tokens", {"host": BAD})["token"])
        token.chmod(0o600)
        with open(self.folder / "machine.log", "ab") as log:
            machine = subprocess.Popen([*self.network.on(1), BIN / "slipwayd", "agent", *self.options(), *options, "--host-name", BAD, "--join-token-file", token],
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

        def leave():
            machine.terminate()
            machine.wait(30)
            wait_for(lambda: self.service.call("DELETE", f"/v1/hosts/{BAD}").status == 204, "the host to be removed", 30)
        self.addCleanup(leave)
        wait_for(lambda: BAD in self.hosts(), "the machine to join", 30)
        self.service.call("POST", f"/v1/hosts/{BAD}/undrain", {})

    def hosts(self):
        return {host["name"]: host for host in self.service.get("/v1/hosts")["items"]}

    def stale(self):
        """The same size, and another label in one row."""
        write_points(self.roots / "points", rows=400)
        file = self.roots / "points" / "points.csv"
        text = file.read_text()
        digit = next(at for at in range(len(text) - 1, 0, -1) if text[at].isdigit() and text[at - 1].isdigit())
        file.write_text(text[:digit] + ("1" if text[digit] != "1" else "2") + text[digit + 1:])
        self.assertEqual(file.stat().st_size, (self.service.data / "points" / "points.csv").stat().st_size)

    def job(self, **changes):
        return points_job(train={"epochs": 1, "optimizer": {"name": "sgd", "lr": 0.01}}, **changes)

    def attempts(self, job):
        return self.database.sql("select attempt, host, exit_kind from attempt join attempt_member using (job_id, attempt) "
                                 f"where job_id = '{job}' order by attempt, rank")

    def test_a_job_whose_host_has_other_files_runs_elsewhere(self):
        self.stale()
        self.join()
        job = self.service.submit(self.job())
        ended = self.service.wait_end(job)
        self.assertEqual(ended["state"], "succeeded", ended.get("reason"))
        self.assertEqual(self.attempts(job), [["1", BAD, "not_started"], ["2", GOOD, "succeeded"]])
        self.assertEqual(ended["restarts"], 0)
        said = self.database.sql(f"select message from attempt where job_id = '{job}' and attempt = 1")[0][0]
        hash_of = self.service.get("/v1/datasets")["items"][0]["content_hash"]
        for part in (f"host {BAD}", hash_of, "content hash", str(self.roots)):
            self.assertIn(part, said)

    def test_a_slice_does_not_begin_with_other_files_on_one_host(self):
        self.stale()
        self.join()
        job = self.service.submit(self.job(accelerator={"slice": {"cores": 16}}))
        ended = self.service.wait_end(job)
        self.assertEqual((ended["state"], ended["reason"]["code"]), ("failed", "data_changed"), ended["reason"])
        self.assertRegex(ended["reason"]["message"], rf"rank \d on host {BAD}: .*content hash")

    def test_three_starts_that_fail_for_a_reason_of_the_host_drain_it(self):
        self.stale()
        self.join("--cores", "4")    # the host with the fewest free cores gets a job
        for count in (1, 2, 3):
            job = self.service.submit(self.job())
            self.assertEqual(self.service.wait_end(job)["state"], "succeeded")
            self.assertEqual(self.attempts(job), [["1", BAD, "not_started"], ["2", GOOD, "succeeded"]])
            if count < 3:
                self.assertIsNone(self.hosts()[BAD]["drain"], f"{count} starts")
        drain = wait_for(lambda: self.hosts()[BAD]["drain"], "the host to be drained", 30)
        self.assertIn("content hash", drain["reason"])
        job = self.service.submit(self.job())
        self.assertEqual(self.service.wait_end(job)["state"], "succeeded")
        self.assertEqual(self.attempts(job), [["1", GOOD, "succeeded"]])
        # With the right files it takes jobs again.
        shutil.copytree(self.service.data / "points", self.roots / "points", dirs_exist_ok=True)
        self.service.call("POST", f"/v1/hosts/{BAD}/undrain", {})
        job = self.service.submit(self.job())
        self.assertEqual(self.service.wait_end(job)["state"], "succeeded")
        self.assertEqual(self.attempts(job), [["1", BAD, "succeeded"]])

    def test_a_job_that_no_host_can_start_ends_and_drains_none(self):
        self.join()
        aside = self.service.data / "aside"
        (self.service.data / "points").rename(aside)
        try:
            for _ in range(4):
                ended = self.service.wait_end(self.service.submit(self.job()))
                self.assertEqual((ended["state"], ended["reason"]["code"]), ("failed", "data_error"))
                self.assertIn(f"{BAD}, {GOOD}", ended["reason"]["message"])
        finally:
            aside.rename(self.service.data / "points")
        self.assertFalse(any(host["drained"] for host in self.hosts().values()))

    def check(self, status):
        done = subprocess.run([*self.network.on(1), BIN / "slipwayd", "node", "check", *self.options()], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def test_a_machine_is_checked_before_it_joins(self):
        said = self.check(1)
        self.assertRegex(said, rf"NO +dataset root +{self.roots} is empty")
        self.stale()
        said = self.check(0)
        for name in ("home", "store", "programs", "user", "dataset root", "locks", "sockets", "clock", "slice address"):
            self.assertRegex(said, rf"(?m)^ok +{name} ")
        self.assertIn(self.network.addresses[1], said)
        self.roots.rename(self.roots.with_name("moved"))
        try:
            said = self.check(1)
        finally:
            self.roots.with_name("moved").rename(self.roots)
        self.assertRegex(said, rf"NO +dataset root +{self.roots}: No such file or directory; mount it there")
        self.assertRegex(said, "(?m)^ok +slice address ")
        (self.home / "store").unlink()
        said = self.check(1)
        self.assertRegex(said, r"NO +store .*make it a link")

    def test_an_agent_without_the_store_makes_no_folders(self):
        (self.home / "store").unlink()
        done = subprocess.run([*self.network.on(1), BIN / "slipwayd", "agent", *self.options(), "--host-name", "unfit"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("make it a link", done.stderr)
        self.assertEqual(list(self.home.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
