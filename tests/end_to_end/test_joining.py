"""Goal: a machine with an address of its own joins by one command, runs trials of a sweep within seconds, and leaves without a lost attempt; one that
does not fit is told why, and no job runs on it.
Method: the real programs and a PostgreSQL with a password, in two network namespaces with a switch between them."""
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

from network import Network, entered, skip_unless_permitted
from service import BIN, Service, free_port, points_job, wait_for, write_points

POSTGRES = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
AS_POSTGRES = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
JOIN_LIMIT_S = 10
TRIALS = 16


class Database:
    """A PostgreSQL on an address of a namespace, for a role with a password."""

    def __init__(self, folder, address):
        self.folder, self.address, self.port = folder, address, free_port()
        data = folder / "postgres"
        data.mkdir(mode=0o700)
        shutil.chown(data, "postgres", "postgres")
        subprocess.run([*AS_POSTGRES, POSTGRES / "initdb", "-D", data, "-A", "trust", "-U", "postgres"], check=True, stdout=subprocess.DEVNULL, cwd="/")
        (data / "pg_hba.conf").write_text("local all all trust\nhost all slipway 10.77.0.0/24 scram-sha-256\n")
        settings = {"port": self.port, "listen_addresses": address, "unix_socket_directories": data, "fsync": "off"}
        with open(folder / "postgres.log", "ab") as log:
            self.process = subprocess.Popen([*AS_POSTGRES, POSTGRES / "postgres", "-D", data, *[
                word for name, value in settings.items() for word in ("-c", f"{name}={value}")]], cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_for(lambda: self.run("select 1", check=False).returncode == 0, "PostgreSQL to answer")
        self.run("create role slipway login password 'hunter2'")
        self.run("create database slipway owner slipway")

    @property
    def url(self):
        return f"postgresql://slipway:hunter2@{self.address}:{self.port}/slipway"

    def run(self, text, name="postgres", check=True):
        done = subprocess.run([*AS_POSTGRES, "psql", "-h", self.folder / "postgres", "-p", str(self.port), "-U", "postgres", "-d", name, "-At", "-F", "\t",
                               "-c", text], capture_output=True, text=True, cwd="/")
        assert done.returncode == 0 or not check, done.stderr
        return done

    def sql(self, text):
        return [line.split("\t") for line in self.run(text, "slipway").stdout.splitlines()]

    def close(self):
        self.process.terminate()
        self.process.wait(30)


def serve_database(cls):
    """Of a class of tests: two machines in a network, a folder, and a database on the first machine."""
    skip_unless_permitted()
    cls.network = Network(2)
    cls.addClassCleanup(cls.network.close)
    cls.enterClassContext(entered(cls.network.namespaces[0]))
    cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="slipway-e2e-"))
    cls.folder.chmod(0o755)
    cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
    cls.database = Database(cls.folder, cls.network.addresses[0])
    cls.addClassCleanup(cls.database.close)


class JoiningTestCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        serve_database(cls)
        cls.address = cls.network.addresses[0]
        cls.service = Service("--host-name", "first", "--cores", "1", "--database-file", cls.secret("database", cls.database.url))
        cls.addClassCleanup(cls.service.close)
        write_points(cls.service.data / "points", rows=200)
        cls.service.start()
        cls.service.dataset("points", "csv", {"group_column": "family"})

    @classmethod
    def secret(cls, name, text):
        path = cls.folder / name
        path.write_text(text)
        path.chmod(0o600)
        return path

    def token(self, host):
        return self.secret(f"token-{host}", self.service.post("/v1/hosts/join-tokens", {"host": host})["token"])

    def command(self, host, token=None, store=None, database="database", words=()):
        """The documented one, on the other machine."""
        home = self.folder / host
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(mode=0o755)
        (home / "store").symlink_to(store or self.service.home / "store")
        return [*self.network.on(1), BIN / "slipwayd", "agent", "--database-file", self.folder / database, *(("--join-token-file", token) if token else ()),
                "--home", home, "--host-name", host, "--dataset-root", self.service.data, *words]

    def refused(self, status, said, command):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertRegex(done.stderr, said)
        self.assertNotIn("hunter2", done.stderr)

    def hosts(self):
        return {host["name"]: host for host in self.service.get("/v1/hosts")["items"]}

    def test_a_machine_that_joins_runs_trials_and_leaves_without_a_lost_attempt(self):
        job = points_job(train={"epochs": 2, "batch_size_per_core": 32, "optimizer": {"name": "adam", "lr": 0.01}})
        job.pop("name")
        sweep = self.service.post("/v1/sweeps", {"name": "points", "job": job, "algorithm": {"name": "random"},
                                                 "limits": {"max_trials": TRIALS, "max_concurrent": 8}, "space": {"train.optimizer.lr": {"type": "log_uniform", "min": 1e-4, "max": 1e-1}}})["id"]
        path = f"/v1/sweeps/{sweep}"
        wait_for(lambda: self.service.get(path)["trials"]["running"], "a trial to run", 60)
        # Trials wait for the machine that joins, however fast they are.
        self.service.post("/v1/hosts/first/drain", {})
        token = self.token("second")
        command = self.command("second", token, words=("--cores", "2"))
        begun = time.monotonic()
        machine = self.started(command)
        runs_there = "select job_id from attempt_member where host = 'second'"
        wait_for(lambda: self.database.sql(runs_there), "a trial on the machine that joined", 60)
        print(f"a trial after {time.monotonic() - begun:.1f} s", flush=True)
        self.assertLess(time.monotonic() - begun, JOIN_LIMIT_S)
        self.service.post("/v1/hosts/first/undrain", {})
        self.refused(3, "used up", self.command("third", token))    # one use
        self.service.post("/v1/hosts/second/drain", {})
        wait_for(lambda: not self.database.sql("select 1 from lease where host = 'second'"), "its trials to end", 60)
        machine.terminate()
        self.assertEqual(machine.wait(30), 0)
        self.assertEqual(self.service.call("DELETE", "/v1/hosts/second").status, 204)
        ended = wait_for(lambda: (found := self.service.get(path))["state"] == "finished" and found, "the sweep to end", 240)
        self.assertEqual(ended["trials"]["completed"], TRIALS)
        self.assertEqual({kind for kind, in self.database.sql("select distinct exit_kind from attempt")}, {"succeeded"})
        self.assertEqual(self.database.sql("select max(attempt) from attempt"), [["1"]])
        joined = [entry["object"] for entry in self.service.get("/v1/audit?action=host_joined")["items"]]
        self.assertEqual(joined, ["second"])

    def started(self, command):
        with open(self.folder / "machine.log", "ab") as log:
            machine = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        self.addCleanup(self.end, machine)
        return machine

    def end(self, machine):
        if machine.poll() is None:
            machine.terminate()
            machine.wait(30)

    def test_a_machine_that_does_not_fit_is_told_why(self):
        self.refused(3, "the join token does not let the host \"unfit\" join", self.command("unfit", self.secret("wrong", "slj_" + "a" * 43)))
        self.refused(3, "for another host", self.command("other", self.token("unfit")))
        self.refused(3, "the host name \"first\" is in use", self.command("first"))
        self.secret("nowhere", f"postgresql://slipway:hunter2@{self.address}:1/slipway")
        self.refused(4, "refused", self.command("unfit", database="nowhere"))
        self.secret("password", self.database.url.replace("hunter2", "hunter3"))
        self.refused(4, "password authentication failed", self.command("unfit", database="password"))
        self.assertEqual(set(self.hosts()) - {"second"}, {"first"})

    def test_a_machine_with_other_programs_is_refused(self):
        newest = self.database.sql("select max(number) from schema_migration")[0][0]
        self.database.sql(f"create table kept as select * from schema_migration where number = {newest}; "
                          f"delete from schema_migration where number = {newest}")
        try:
            self.refused(3, f"version mismatch: step {newest} .* is missing", self.command("old"))
        finally:
            self.database.sql("insert into schema_migration select * from kept; drop table kept")
        self.database.sql("insert into schema_migration values (9999, 'later', 'x')")
        try:
            self.refused(3, "version mismatch: step 9999 .* is unknown to this program", self.command("old"))
        finally:
            self.database.sql("delete from schema_migration where number = 9999")

    def test_a_store_that_is_full_or_not_the_shared_one_is_noticed(self):
        token = self.token("unshared")
        small, empty, copy = (self.folder / name for name in ("small", "empty", "copy"))
        for store in (small, empty, copy):
            store.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", small], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", small], check=True)
        shutil.copy(self.service.home / "store" / "store.id", small)
        self.refused(4, "the store .* is full", self.command("unshared", token, small))
        self.refused(4, "is not the one that the hosts of this service share: it has no id", self.command("unshared", token, empty))
        shared = self.service.home / "store"
        shutil.copy(shared / "store.id", copy)
        shutil.copytree(shared / "hosts", copy / "hosts")
        for mark in (copy / "hosts").iterdir():    # of before the last start of the host
            mark.write_text("0" * 32)
        self.refused(4, "it is a copy of theirs: what the host \"first\" has written", self.command("unshared", token, copy))
        (copy / "store.id").write_text("0" * 32)
        self.refused(4, f"its id is {'0' * 32}, and the id of theirs is {(shared / 'store.id').read_text()}", self.command("unshared", token, copy))
        self.assertNotIn("unshared", self.hosts())


if __name__ == "__main__":
    unittest.main()
