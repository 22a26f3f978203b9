"""What the faults happen to: a PostgreSQL with fsync behind a proxy, a slipwayd on it, each on a small disk of its own, and a
second machine's agent that shares the first one's store, as machines with a common file system do."""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

from proxy import Proxy
from service import BIN, Service, free_port, wait_for

HERE = pathlib.Path(__file__).resolve().parent
POSTGRES = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
IS_ROOT = os.getuid() == 0


def children_of(pid):
    """Process ids of all descendants."""
    found, left = [], [pid]
    while left:
        parent = left.pop()
        with contextlib.suppress(OSError):
            for task in pathlib.Path(f"/proc/{parent}/task").iterdir():
                children = [int(word) for word in (task / "children").read_text().split()]
                found += children
                left += children
    return found


class Disk:
    """A file system in memory that can be filled; without the right to mount an ordinary folder."""

    def __init__(self, path, mib):
        self.path = path
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mib}m,mode=0755", "none", path], capture_output=True)
        self.can_be_full = done.returncode == 0
        self.ballast = path / "ballast"

    def fill(self):
        with open(self.ballast, "wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(b"\0" * (1 << 16))

    def empty(self):
        self.ballast.unlink(missing_ok=True)

    def close(self):
        if self.can_be_full:
            subprocess.run(["umount", "-l", self.path], capture_output=True)


def build_faulty_disk(folder):
    library = folder / "faulty_disk.so"
    subprocess.run(["clang-19", "-shared", "-fPIC", "-O1", "-o", library, HERE / "faulty_disk.c", "-ldl"], check=True)
    library.chmod(0o755)
    return library


class Preloaded:
    """Lets writes and fsyncs of a program fail."""

    def __init__(self, library, control):
        self.control = control
        self.environment = {**os.environ, "LD_PRELOAD": str(library), "SLIPWAY_FAULTS": str(control)}

    def fail(self, what):
        self.control.write_text(what)
        self.control.chmod(0o644)

    def work(self):
        self.control.unlink(missing_ok=True)


class Database:
    def __init__(self, folder, library):
        self.folder = folder
        self.disk = Disk(folder, 400)
        self.data, self.run = folder / "data", folder / "run"
        self.preloaded = Preloaded(library, folder.parent / "database.faults")
        self.port = free_port()
        for path in (self.data, self.run):
            path.mkdir(mode=0o700)
            if IS_ROOT:
                shutil.chown(path, "postgres", "postgres")
        self.as_postgres = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if IS_ROOT else []
        subprocess.run([*self.as_postgres, POSTGRES / "initdb", "-D", self.data, "-A", "trust", "-U", "postgres"],
                       check=True, stdout=subprocess.DEVNULL, cwd="/")
        self.process = None
        self.start()
        self.sql("create role slipway login", user="postgres", database="postgres")
        self.sql("create database slipway owner slipway", user="postgres", database="postgres")
        self.proxy = Proxy(self.port)

    @property
    def url(self):
        return f"postgresql://slipway@127.0.0.1:{self.proxy.port}/slipway"

    def launch(self):
        options = {"port": self.port, "listen_addresses": "127.0.0.1", "unix_socket_directories": self.run, "fsync": "on",
                   "synchronous_commit": "on", "max_wal_size": "64MB", "min_wal_size": "32MB", "log_min_messages": "fatal"}
        with open(self.folder.parent / "postgres.log", "ab") as log:
            self.process = subprocess.Popen(
                [*self.as_postgres, POSTGRES / "postgres", "-D", self.data,
                 *[word for name, value in options.items() for word in ("-c", f"{name}={value}")]],
                env=self.preloaded.environment, cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def start(self):
        """Until it answers: what it was killed with may take a while to go."""
        def answers():
            if self.process is None or self.process.poll() is not None:
                (self.data / "postmaster.pid").unlink(missing_ok=True)
                self.launch()
            return self.answers()
        wait_for(answers, "PostgreSQL to answer", 120, 0.2)

    def answers(self):
        with contextlib.suppress(subprocess.CalledProcessError, subprocess.TimeoutExpired):
            return bool(self.sql("select 1", user="postgres", database="postgres"))
        return False

    def sql(self, text, user="slipway", database="slipway"):
        done = subprocess.run([POSTGRES / "psql", "-h", self.run, "-p", str(self.port), "-U", user, "-d", database, "-At", "-F", "\t", "-c", text],
                              capture_output=True, text=True, cwd="/", timeout=20, check=True)
        return [line.split("\t") for line in done.stdout.splitlines()]

    def backends(self):
        """Those of the service, as it seems from outside: without a question to a database that may not answer."""
        found = []
        for pid in children_of(self.process.pid):
            with contextlib.suppress(OSError):
                if b"slipway slipway" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                    found.append(pid)
        return found

    def processes(self):
        return [self.process.pid, *children_of(self.process.pid)]

    def kill(self):
        everything = self.processes()
        self.process.kill()
        self.process.wait()
        for pid in everything[1:]:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()

    def close(self):
        self.proxy.stop()
        self.kill()
        self.disk.close()


class ChaosService(Service):
    """Its home is a small disk, its database is ours."""

    def __init__(self, folder, library, confined=True):
        # Few cores, so that jobs go to the other machine, too.
        super().__init__("--executor-grace-s", "6", "--host-name", "chaos", "--cores", "2")
        self.disk = Disk(self.home, 300)
        self.home.chmod(0o755)
        self.data = folder / "datasets"
        self.data.mkdir(mode=0o755)
        self.preloaded = Preloaded(library, folder / "service.faults")
        self.database = Database(folder / "database", library)
        self.executor_disk = Preloaded(library, folder / "executor.faults")
        self.executor_options = () if confined else ("--confinement", "off", "--executor", self.write_executor(folder))
        self.options = (*self.options, *self.executor_options, "--database", self.database.url)
        self.other_home = folder / "other"
        self.other_home.mkdir(mode=0o755)
        self.other_process = None

    def launch(self):
        with open(self.home.parent / f"{self.home.name}.log", "ab") as log:
            self.process = subprocess.Popen(
                [BIN / "slipwayd", "serve", "--home", self.home, "--port", str(self.port), "--dataset-root", self.data,
                 *self.options], env=self.preloaded.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def start(self):
        """Until it is ready; it is begun again when it has ended, as systemd would."""
        def ready():
            if self.process is None or self.process.poll() is not None:
                self.launch()
            with contextlib.suppress(OSError, AssertionError):
                return self.is_ready()
            return False
        wait_for(ready, "slipwayd to be ready", 120, 0.2)
        return self

    def write_executor(self, folder):
        """slipwayd passes no LD_PRELOAD on."""
        script = folder / "executor"
        settings = " ".join(f"{name}={self.executor_disk.environment[name]}" for name in ("LD_PRELOAD", "SLIPWAY_FAULTS"))
        script.write_text(f'#!/bin/sh\n{settings} exec {BIN / "slipway-executor"} "$@"\n')
        script.chmod(0o755)
        return script

    def launch_other(self):
        store = self.other_home / "store"
        if not store.is_symlink():
            store.symlink_to(self.home / "store")
        with open(self.other_home.parent / "other.log", "ab") as log:
            self.other_process = subprocess.Popen(
                [BIN / "slipwayd", "agent", "--home", self.other_home, "--host-name", "chaos-b", "--dataset-root", self.data,
                 "--executor-grace-s", "6", *self.executor_options, "--database", self.database.url], env=self.preloaded.environment,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def start_other(self):
        if self.other_process is None or self.other_process.poll() is not None:
            self.launch_other()
        wait_for(lambda: self.sql("select 1 from host where name = 'chaos-b' and heartbeat_at > clock_timestamp() - interval '5 s'"),
                 "the other machine to send heartbeats", 120, 0.2)

    def executors(self, job_id=""):
        here, self_home = super().executors(job_id), self.home
        self.home = self.other_home
        try:
            return here + super().executors(job_id)
        finally:
            self.home = self_home

    def sql(self, text):
        return self.database.sql(text)

    def verify(self):
        said = ""
        for name, home in (("chaos", self.home), ("chaos-b", self.other_home)):
            done = subprocess.run([BIN / "slipwayd", "verify", "--home", home, "--files", "--host-name", name, "--database",
                                   self.database.url], capture_output=True, text=True, timeout=180)
            said += "" if done.returncode == 0 else done.stdout + done.stderr
        return said

    def close(self):
        if self.other_process is not None:
            self.other_process.kill()
            self.other_process.wait()
        self.stop()
        for pid in self.executors():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.database.close()
        self.disk.close()
        shutil.rmtree(self.home, ignore_errors=True)


@contextlib.contextmanager
def chaos_service(confined=True):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="slipway-chaos-"))
    folder.chmod(0o755)
    (folder / "database").mkdir(mode=0o755)
    service = ChaosService(folder, build_faulty_disk(folder), confined)
    try:
        yield service
    finally:
        service.close()
        shutil.rmtree(folder, ignore_errors=True)
