"""The real programs, started in a home folder of their own. Standard library only."""
import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
import zlib

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("SLIPWAY_BIN_DIR") or SOURCE / "build/release/bin")
DATA = pathlib.Path(os.environ.get("SLIPWAY_TEST_DATA", SOURCE / ".." / "shared" / "data"))
HOMES_BYTES, MEMORY_FOR_PROGRAMS_BYTES = 4 << 30, 4 << 30
# Of a job that somebody ends: as many as a spec may have.
ENDLESS_EPOCHS = 1_000_000
FINAL_STATES = {"succeeded", "failed", "cancelled", "stopped", "timed_out", "expired"}


def wait_for(ready, what, limit_s=60.0, pause_s=0.05):
    """Polls until `ready()` gives something true and returns it."""
    end = time.monotonic() + limit_s
    while True:
        if value := ready():
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {limit_s} s for {what}")
        time.sleep(pause_s)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def home_parent():
    """Where homes are made: the folder in SLIPWAY_TEST_HOMES, in memory, as long as it may hold programs and there is room for
    some homes. A cluster is 1,400 files: on a disk it takes seconds to sync, remove and make them, in memory none."""
    folder = os.environ.get("SLIPWAY_TEST_HOMES")
    if not folder or not os.access(folder, os.W_OK):
        return None
    space = os.statvfs(folder)
    available = re.search(r"MemAvailable: +(\d+) kB", pathlib.Path("/proc/meminfo").read_text())
    free_bytes = min(space.f_bavail * space.f_frsize, int(available[1]) * 1024 - MEMORY_FOR_PROGRAMS_BYTES)
    return folder if free_bytes >= HOMES_BYTES and not space.f_flag & os.ST_NOEXEC else None


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)


class Service:
    """One slipwayd with its private PostgreSQL. At the end of each that has been ready the promises of its store are checked."""

    verifies = True    # False: the test breaks them, or another version's program is run
    ready_s_max = 90
    user = None    # of the operating system, that runs it; None: ours
    before_exec = None    # called in its process before it is the program

    def __init__(self, *options):
        # Not below a 0700 folder: as root the cluster runs as the postgres user, which must reach it.
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="slipway-e2e-", dir=home_parent()))
        self.home.chmod(0o755)
        self.data = self.home / "data"
        self.data.mkdir(mode=0o755)
        self.port = free_port()
        self.options = options
        self.process = None
        self.has_been_ready = False

    def start(self):
        with open(self.home / "out.log", "ab") as log:
            self.process = subprocess.Popen(
                [*self.as_user(self.user), BIN / "slipwayd", "serve", "--home", self.home, "--port", str(self.port), "--dataset-root", self.data,
                 *self.options], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, preexec_fn=self.before_exec)
        try:
            wait_for(self.is_ready, "slipwayd to be ready", self.ready_s_max)
        except AssertionError as error:
            said = [file.read_text()[-3000:] for file in (self.home / "slipwayd.log", self.home / "out.log") if file.exists()]
            raise AssertionError(f"{error}; it said:\n" + "\n".join(said)) from None
        return self

    @staticmethod
    def as_user(name):
        """The beginning of a command that only root may give."""
        return ["setpriv", f"--reuid={name}", f"--regid={name}", "--clear-groups"] if name else []

    def is_ready(self):
        assert self.process.poll() is None, "slipwayd ended"
        with contextlib.suppress(OSError, http.client.HTTPException):
            is_ready = self.call("GET", "/readyz", token=None).status == 200
            self.has_been_ready = self.has_been_ready or is_ready
            return is_ready

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.kill()
                raise AssertionError("slipwayd did not stop within 60 s of SIGTERM")

    def verify(self):
        """What `slipwayd verify` says of the running service, when a promise is broken."""
        database = [word for name, value in zip(self.options, self.options[1:]) if str(name).startswith("--database")
                    for word in (name, value)]
        done = subprocess.run([*self.as_user(self.user), BIN / "slipwayd", "verify", *(database or ("--home", self.home, "--files"))],
                              capture_output=True, text=True, timeout=600)
        return "" if done.returncode == 0 else done.stdout + done.stderr

    def close(self):
        # Of one that was never ready the schema is half made: what `verify` says of it would hide why.
        runs = self.has_been_ready and self.process.poll() is None
        broken = self.verify() if self.verifies and runs else ""
        self.stop()
        for process in self.executors():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        shutil.rmtree(self.home, ignore_errors=True)
        assert not broken, broken

    # ---- HTTP ---------------------------------------------------------------
    @property
    def token(self):
        return (self.home / "admin-token").read_text().strip()

    def call(self, method, path, body=None, headers=None, token=True, timeout_s=30):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout_s)
        sent = dict(headers or {})
        if token is True:
            sent["Authorization"] = f"Bearer {self.token}"
        elif token:
            sent["Authorization"] = f"Bearer {token}"
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        if body is not None:
            sent.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, body, sent)
            response = connection.getresponse()
            if response.status == 200 and path.startswith("/v1/events"):    # goes on for ever
                return Answer(response.status, response.headers, b"" if method == "HEAD" else response.readline())
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def get(self, path):
        answer = self.call("GET", path)
        assert answer.status == 200, (path, answer.status, answer.body)
        return answer.json

    def post(self, path, body):
        answer = self.call("POST", path, body)
        assert answer.status in (200, 201, 202), (path, answer.status, answer.body)
        return answer.json

    # ---- datasets and jobs -------------------------------------------------
    def dataset(self, name, format, options=None):
        """Creates the dataset from the folder of that name and waits until it is ready."""
        made = self.post("/v1/datasets", {"name": name, "format": format, "source": {"path": name}, "options": options or {}})
        return wait_for(lambda: (found := self.get(f"/v1/datasets/{made['id']}"))["state"] != "checking" and found,
                        f"dataset {name}")

    def upload(self, content, filename):
        """The id of a complete upload of these bytes."""
        made = self.post("/v1/uploads", {"size": len(content), "sha256": hashlib.sha256(content).hexdigest(), "filename": filename})
        sent = self.call("PATCH", f"/v1/uploads/{made['id']}", content,
                         {"Content-Type": "application/octet-stream", "Upload-Offset": "0"})
        assert sent.status == 204, sent.body
        self.post(f"/v1/uploads/{made['id']}/complete", {})
        return made["id"]

    def submit(self, spec):
        return self.post("/v1/jobs", spec)["id"]

    def job(self, job_id):
        return self.get(f"/v1/jobs/{job_id}")

    def wait_state(self, job_id, states, limit_s=120):
        states = {states} if isinstance(states, str) else set(states)

        def arrived():
            job = self.job(job_id)
            if job["state"] in states:
                return job
            assert job["state"] not in FINAL_STATES, (job["state"], job.get("reason"))
        return wait_for(arrived, f"{job_id} to be {states}", limit_s)

    def wait_end(self, job_id, limit_s=300):
        def ended():
            answer = self.call("GET", f"/v1/jobs/{job_id}")
            assert answer.status in (200, 503), (job_id, answer.status, answer.body)    # 503: the database is away
            return answer.status == 200 and answer.json["state"] in FINAL_STATES and answer.json
        return wait_for(ended, f"{job_id} to end", limit_s)

    def frames_file(self, job_id, attempt=1):
        """What the executor of an attempt says."""
        return self.home / "runs" / job_id / str(attempt) / "frames.ndjson"

    def wait_said(self, job_id, kind, count=1, attempt=1, limit_s=60):
        """Until the executor has said so many frames of a kind. The service tells what a job that nobody follows has said up to half
        a second later (docs/decisions/0091), and on a fast machine the job has ended by then."""
        file, word = self.frames_file(job_id, attempt), f'"type":"{kind}"'.encode()
        wait_for(lambda: file.exists() and file.read_bytes().count(word) >= count, f"{count} frames of {job_id} of kind {kind}", limit_s, 0.005)

    def events(self, job_id, after=0):
        """All stored events of a job, in order."""
        found = []
        while True:
            page = self.get(f"/v1/jobs/{job_id}/events?after={after}&limit=200")["items"]
            if not page:
                return found
            found += page
            after = page[-1]["seq"]

    def metric(self, job_id, name):
        """step -> value, every stored point."""
        series = self.get(f"/v1/jobs/{job_id}/metrics?names={name}")["series"]
        points = next((one["points"] for one in series if one["name"] == name), [])
        return {point["step"]: point["value"] for point in points}

    def newest_weights(self, job_id):
        """Bytes of the newest checkpoint's model.safetensors."""
        newest = max(self.get(f"/v1/jobs/{job_id}/checkpoints")["items"], key=lambda one: one["step"])
        answer = self.call("GET", f"/v1/checkpoints/{newest['id']}/files/model.safetensors")
        assert answer.status == 200, answer.status
        return answer.body

    # ---- processes ----------------------------------------------------------
    def executors(self, job_id=""):
        """Process ids of the executors of this home folder (and this job)."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if words[0].endswith(b"slipway-executor") and any(
                        word.startswith(f"{self.home}/runs/{job_id}".encode()) for word in words):
                    found.append(int(entry.name))
        return found

    def executors_that_wait(self):
        """Process ids of the executors of this service that have nothing to do."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
                if words and words[0].endswith(b"slipway-executor") and b"idle" in words \
                        and (entry / "stat").read_text().rsplit(")", 1)[1].split()[1] == str(self.process.pid):
                    found.append(int(entry.name))
        return found

    def postmaster(self):
        return int((self.home / "postgres" / "data" / "postmaster.pid").read_text().splitlines()[0])

    def sql(self, text):
        """Rows of a query on the private cluster, through psql."""
        cluster = self.home / "postgres" / "data"
        lines = (cluster / "postmaster.pid").read_text().splitlines()
        command = ["psql", "-h", lines[4], "-p", lines[3], "-U", "slipway", "-d", "slipway", "-At", "-F", "\t", "-c", text]
        if os.getuid() == 0:
            command = [*self.as_user(self.user or "postgres"), *command]
        done = subprocess.run(command, capture_output=True, text=True, cwd="/")
        assert done.returncode == 0, done.stderr
        return [line.split("\t") for line in done.stdout.splitlines()]


def png(pixels, side):
    """A gray PNG."""
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    lines = b"".join(b"\0" + pixels[begin:begin + side] for begin in range(0, side * side, side))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


def write_points(folder, rows=600, seed=1):
    """A CSV set of two noisy clusters: quick to learn, four columns and a group."""
    generator = random.Random(seed)
    lines = ["a,b,c,d,label,family"]
    for row in range(rows):
        label = row % 2
        values = [generator.gauss(1.5 * label, 1.0) for _ in range(4)]
        lines.append(",".join(f"{value:.6f}" for value in values) + f",{'yes' if label else 'no'},f{row % 20}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "points.csv").write_text("\n".join(lines) + "\n")


def serve_points(case, settings=(), **options):
    """A service with the dataset `points` for all tests of a class; it is stopped when the set-up fails, too."""
    case.service = Service(*settings)
    case.addClassCleanup(case.service.close)
    write_points(case.service.data / "points", **options)
    case.service.start()
    case.service.dataset("points", "csv", {"group_column": "family"})


def ruined_job(**changes):
    """One step of a rate that ruins the weights: its own loss is taken before, that of the validation after."""
    return points_job(train={"steps": 1, "optimizer": {"name": "sgd", "lr": 1e30}}, **changes)


def points_job(**changes):
    """A job on the points set; `changes` replace whole top-level parts, or merge into dictionaries."""
    spec = {
        "name": "points",
        "model": {"arch": "mlp", "width": 32, "depth": 2},
        "task": {"type": "classification"},
        "data": {"dataset": "points", "split": {"val_fraction": 0.2, "seed": 0}},
        "train": {"epochs": 4, "batch_size_per_core": 16, "optimizer": {"name": "adam", "lr": 0.01}},
        "accelerator": {"cores": 1},
        "monitor": {"log_every_steps": 1},
    }
    for key, value in changes.items():
        spec[key] = {**spec.get(key, {}), **value} if isinstance(value, dict) and key != "accelerator" else value
    if "steps" in spec["train"]:
        spec["train"].pop("epochs")
    return spec
