"""Goal: every command in the documents works as it is written there.
Method: the bash blocks of each document are run in order, against a service of our own; only addresses, the home folder and
the way to become another user are replaced."""
import csv
import gzip
import io
import json
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import unittest

from service import BIN, SOURCE, Service, points_job, write_points

# What a document says -> what runs. {...} are settings of the test.
PRELUDE = r"""
set -eo pipefail
curl() { command curl --fail-with-body --max-time 120 "$@"; }
sudo() {
    [ "$1" = -u ] || { "$@"; return; }
    shift 2; if [ "$(id -u)" = 0 ]; then setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; else "$@"; fi
}
slipwayd() {
    # Without a ready file nobody will stop it: it is asked to end once it has said that it is ready.
    if [ "$1" = serve ] && [[ "$*" != *--help* && "$*" != *--ready-file* ]]; then
        coproc serving { exec "$BIN/slipwayd" "$@" --port 0; }
        local pid=$serving_PID line
        read -r -t 120 line <&"${serving[0]}"
        echo "$line"
        kill -TERM "$pid"
        wait "$pid"
    elif [[ "$*" = *--ready-file* ]]; then    # in the background: the process id is to be the service's
        exec "$BIN/slipwayd" "$@"
    elif [ "$1" = login-link ]; then
        "$BIN/slipwayd" "$@" --port "${SLIPWAY_URL##*:}"
    else
        "$BIN/slipwayd" "$@"
    fi
}
slipway() { "$BIN/slipway" "$@"; }
"""
# These install programs on the machine, so no test runs them.
NOT_HERE = ("./deploy/", "sudo apt install")

# Job file of docs/examples -> fields with smaller values than a user wants: all else runs as it is written there.
SMALL = {
    "resnet34.json": {"data.image_size": 32, "data.split.val_fraction": 0.05, "train.batches_per_epoch": 2,
                      "train.batch_size_per_core": 2},
    "finetune.json": {"data.image_size": 32, "data.split.val_fraction": 0.05, "train.epochs": 1, "train.batches_per_epoch": 2,
                      "train.batch_size_per_core": 2},
    "bert.json": {"model.arch": "bert_tiny", "data.max_length": 32, "data.tokenizer.vocab_size": 300, "train.epochs": 1,
                  "train.batch_size_per_core": 2},
    "gpt.json": {"data.max_length": 32, "train.epochs": 1, "train.batch_size_per_core": 2},
    "single_core.json": {"data.split.val_fraction": 0.05, "train.epochs": 1},
}


def write_small_examples(folder):
    """docs/examples with its job files made smaller, and two documents to read."""
    shutil.copytree(SOURCE / "docs/examples", folder / "docs/examples")
    for name, changes in SMALL.items():
        file = folder / "docs/examples" / name
        job = json.loads(file.read_text())
        for path, value in changes.items():
            *around, field = path.split(".")
            part = job
            for key in around:
                part = part[key]
            part[field] = value
        file.write_text(json.dumps(job))
    for name in ("one", "two"):
        (folder / "docs" / f"{name}.md").write_text("".join(f"This is line {line} of {name}, and no more.\n" for line in range(200)))


def blocks_of(document):
    """The bash blocks of a document as (number of the first line, text)."""
    found, text = [], None
    for number, line in enumerate((SOURCE / document).read_text().splitlines(), 1):
        if line.startswith("```"):
            if text is not None:
                found.append((first, "\n".join(text)))
                text = None
            elif line == "```bash":
                text, first = [], number + 1
        elif text is not None and not line.startswith(NOT_HERE):
            text.append(line)
    return found


def write_digits(folder, count=40):
    """A tiny set in MNIST's form: two files that belong together."""
    with gzip.open(folder / "tiny-images-idx3-ubyte.gz", "wb") as images:
        images.write(struct.pack(">IIII", 2051, count, 28, 28) + bytes(range(256)) * (count * 784 // 256 + 1))
    raw = gzip.decompress((folder / "tiny-images-idx3-ubyte.gz").read_bytes())[:16 + count * 784]
    (folder / "tiny-images-idx3-ubyte.gz").write_bytes(gzip.compress(raw))
    (folder / "tiny-labels-idx1-ubyte.gz").write_bytes(
        gzip.compress(struct.pack(">II", 2049, count) + bytes(index % 10 for index in range(count))))


class Documents(unittest.TestCase):
    def setUp(self):
        self.service = Service()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="slipway-docs-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.addCleanup(self.service.close)

    def run_blocks(self, document, blocks, *replaced):
        self.assertTrue(blocks, f"{document} has commands")
        script = PRELUDE
        for number, text in blocks:
            script += f"echo '--- {document}:{number}' >&2\n{text}\n"
        for said, meant in (("/var/lib/slipway-restored", str(self.service.home / "restored")),
                            ("/var/lib/slipway", str(self.service.home)), ("/srv/data", str(self.service.data)),
                            ("127.0.0.1:8470", f"127.0.0.1:{self.service.port}"),
                            ("localhost:8470", f"127.0.0.1:{self.service.port}"), *replaced):
            script = script.replace(said, meant)
        environment = {**os.environ, "BIN": str(BIN), "HOME": str(self.folder), "SLIPWAY_HOME": str(self.service.home),
                       "SLIPWAY_CONFIG": str(self.folder / "config.json"),
                       "SLIPWAY_URL": f"http://127.0.0.1:{self.service.port}"}
        done = subprocess.run(["bash", "-c", script], cwd=self.folder, env=environment, capture_output=True, text=True,
                              timeout=400)
        self.assertEqual(done.returncode, 0, f"{script}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        return done.stdout

    def make_glyphs(self):
        subprocess.run([BIN / "slipway-glyphs", "--out", self.service.data / "glyphs", "--samples", "2000"], check=True,
                       capture_output=True)

    def test_readme(self):
        self.make_glyphs()
        self.service.start()
        self.assertIn('"id":"job_', self.run_blocks("README.md", blocks_of("README.md"),
                                                    ("/usr/share/slipway/example", str(SOURCE / "deploy"))).replace(" ", ""))
        jobs = self.service.get("/v1/jobs")["items"]
        self.assertEqual([self.service.wait_end(job["id"])["state"] for job in jobs], ["succeeded"] * 3)

    def test_examples(self):
        self.service.start()
        write_small_examples(self.folder)
        self.run_blocks("docs/examples/README.md", blocks_of("docs/examples/README.md"),
                        ("build/release/bin/", f"{BIN}/"), ("--size 128 --samples 20000", "--size 32 --samples 2000"))
        jobs = self.service.get("/v1/jobs?limit=200")["items"]
        self.assertEqual({job["name"].split()[0] for job in jobs}, {"resnet34", "finetune", "bert", "gpt", "rate"})
        self.assertEqual([job["state"] for job in jobs], ["succeeded"] * 12)
        # Eight at once: each has a core of its own.
        rates = [job for job in jobs if job["name"].startswith("rate")]
        self.assertEqual(len({job["spec"]["train"]["optimizer"]["lr"] for job in rates}), 8)

    def test_the_tutorial_ends_with_predictions_and_the_recipes_go_on_from_it(self):
        self.service.start()
        said = self.run_blocks("docs/tutorial.md", blocks_of("docs/tutorial.md"))
        self.assertIn("900", str(self.service.get("/v1/datasets/fruits")["report"]["samples"]))
        rows = list(csv.DictReader(io.StringIO((self.folder / "predictions.csv").read_text())))
        self.assertEqual([row["predicted"] for row in rows], ["apple", "lemon", "plum"])
        self.assertIn(rows[0]["p_apple"], said)
        (sweep,) = self.service.get("/v1/sweeps")["items"]
        self.assertEqual(sweep["state"], "finished")
        self.run_blocks("docs/how-to.md", blocks_of("docs/how-to.md"))
        self.assertGreater((self.folder / "weights.safetensors").stat().st_size, 1000)

    def test_http_by_example(self):
        self.make_glyphs()
        write_digits(self.folder)
        self.service.start()
        self.run_blocks("docs/api.md", blocks_of("docs/api.md"))
        self.assertEqual(self.service.get("/v1/jobs")["items"], [])

    def test_cross_validation(self):
        self.make_glyphs()
        self.service.start()
        self.service.dataset("glyphs", "image_csv", {"group_column": "family"})
        said = self.run_blocks("docs/cross-validation.md", blocks_of("docs/cross-validation.md"))
        self.assertIn("val_accuracy", said)
        self.assertTrue((self.folder / "oof.csv").read_text().startswith("sample,fold,"))

    def test_command_line(self):
        self.make_glyphs()
        self.service.start()
        self.service.dataset("glyphs", "image_csv", {"group_column": "family"})
        said = self.run_blocks("docs/command-line.md", blocks_of("docs/command-line.md"))
        self.assertIn("context here", said)
        self.assertEqual(self.service.get("/v1/jobs")["items"], [])

    def test_explain(self):
        write_points(self.service.data / "points")
        self.service.start()
        self.service.dataset("points", "csv", {"group_column": "family"})
        job_id = self.service.submit(points_job())
        self.service.wait_end(job_id)
        said = self.run_blocks("docs/explain.md", blocks_of("docs/explain.md"), (" JOB", f" {job_id}"))
        self.assertIn("ExecuteTime", said)
        self.assertIn("traceEvents", (self.folder / "trace.json").read_text())

    def test_sweeps(self):
        write_points(self.service.data / "points", rows=200)
        self.service.start()
        self.service.dataset("points", "csv", {"group_column": "family"})
        said = self.run_blocks("docs/sweeps.md", blocks_of("docs/sweeps.md"))
        self.assertIn("resume 0", said.replace("resume 1", "resume 0").replace("resume 2", "resume 0"))
        self.assertEqual(self.service.get("/v1/sweeps")["items"], [])

    def test_operating(self):
        blocks = {text.splitlines()[0]: (number, text) for number, text in blocks_of("docs/operating.md")}
        serve, retention, tokens, projects, members, backup, restore, upgrade, verify = blocks.values()
        self.assertIn("slipwayd is ready at", self.run_blocks("docs/operating.md", [serve]))
        self.service.start()
        self.service.post("/v1/tokens", {"name": "kept", "role": "viewer"})
        self.run_blocks("docs/operating.md", [retention, tokens, projects, members, backup, restore, verify],
                        ("/srv/backups", str(self.folder / "backups")))
        self.service.stop()
        self.run_blocks("docs/operating.md", [upgrade])
        restored = Service()
        shutil.rmtree(restored.home)
        restored.home, restored.data = self.service.home / "restored", self.service.data
        self.addCleanup(restored.close)
        restored.start()
        self.assertIn("kept", [token["name"] for token in restored.get("/v1/tokens")["items"]])


if __name__ == "__main__":
    unittest.main()
