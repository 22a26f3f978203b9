"""What the programs that measure sweeps share: a service with real digits, its sweeps, and executors by hand."""
import json
import os
import pathlib
import resource
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))


def add_common(parser, images):
    parser.add_argument("--images", type=int, default=images, help="digits of mnist10k; a fifth are the validation part")
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))


def digits_job(epochs, **parts):
    """A lenet job as a sweep asks of its trials: no last checkpoint, no report, no sinks."""
    train = {"epochs": epochs, "batch_size_per_core": 32, "optimizer": {"name": "sgd", "lr": 0.05, "momentum": 0.9}}
    return {"model": {"arch": "lenet"}, "task": {"type": "classification"},
            "data": {"dataset": "digits", "split": {"val_fraction": 0.2, "seed": 0}}, "train": train, "accelerator": {"cores": 1},
            "monitor": {"log_every_steps": 1000, "sinks": [], "metrics_report": "never"},
            "checkpoint": {"every_epochs": 0, "save_final": False}, **parts}


class Sweeps:
    """A service with the dataset `digits`; the calls of the end-to-end tests are its `calls`."""

    def __init__(self, arguments, *options):
        os.environ["SLIPWAY_BIN_DIR"] = str(pathlib.Path(arguments.bin).resolve())
        from queue_drain import write_digits
        from service import DATA, Service
        from sweep_calls import SweepCalls
        self.executor = pathlib.Path(arguments.bin).resolve() / "slipway-executor"
        self.service = Service(*options)
        self.calls = SweepCalls()
        self.calls.service = self.service
        self.digits = self.service.data / "digits"
        write_digits(DATA / "mnist10k", self.digits, arguments.images)

    def __enter__(self):
        try:
            self.service.start()
            self.service.dataset("digits", "idx")
        except BaseException:
            self.service.close()
            raise
        return self

    def __exit__(self, *raised):
        self.service.close()

    def run(self, body, limit_s=7200):
        """Runs a sweep to its end, which must be a good one."""
        sweep_id = self.calls.create(body)
        sweep = self.calls.wait_end(sweep_id, limit_s, 1)    # each question takes CPU time that the trials want
        assert sweep["state"] == "finished" and sweep["trials"]["failed"] == 0, (sweep["state"], sweep["reason"], sweep["trials"])
        return sweep

    def seconds(self, sweep_id):
        """From its creation to the end of its last job."""
        return float(self.service.sql("select extract(epoch from max(j.finished_at) - min(s.created_at)) from job j "
                                      f"join sweep s on s.id = j.parent_id where s.id = '{sweep_id}'")[0][0])


def by_hand(sweeps, spec, folder):
    """The command of one single-thread executor that trains `spec` without a service."""
    folder.mkdir()
    (folder / "job.json").write_text(json.dumps(spec))
    return [str(word) for word in (sweeps.executor, "run", folder / "job.json", "--out", folder / "out", "--data", sweeps.digits,
                                   "--format", "idx", "--workers", "1", "--cache", folder.parent / "compiled")]


def cpu_s_of_children():
    """CPU seconds of the processes that have ended and were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cpu_s_at_once(commands):
    """CPU seconds of programs that run at once."""
    before = cpu_s_of_children()
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in commands]
    assert [process.wait() for process in running] == [0] * len(running)
    return cpu_s_of_children() - before
