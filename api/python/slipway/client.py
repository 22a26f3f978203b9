"""The client: every endpoint as a method, and what a user does with several of them."""
from __future__ import annotations

import contextlib
import os
import pathlib
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from . import comparison, curves, downloads, events, npz, outside_trials, safetensors, specs, tables, uploads
from .api_types import CrossValidation, Dataset, Job, JobPreview, Sweep
from .endpoints import Endpoints
from .errors import DatasetFailed, JobFailed
from .progress import ProgressLine, job_text, transfer_text
from .transport import new_key, query_text, quoted

FINAL_STATES = {"succeeded", "failed", "cancelled", "stopped", "timed_out", "expired"}
SWEEP_FINAL_STATES = {"finished", "stopped", "failed"}
COLLECTIONS = {"train": "jobs", "predict": "predictions", "evaluate": "evaluations"}
WAIT_S = 30
PATIENCE_S = 300.0

Reference = str | Mapping[str, Any]
"""An object of the service: its id, or its document."""

Source = Reference | list[Reference]
"""A job or a checkpoint; for the mean of several networks checkpoints or a cross-validation."""


def id_of(reference: Reference) -> str:
    return reference if isinstance(reference, str) else reference["id"]


class Client(Endpoints):
    """A service, as the owner of one token. Arguments as of Transport: without any, the service of the command line."""

    # ---- jobs ---------------------------------------------------------------
    def submit(self, spec: Mapping[str, Any] | str | os.PathLike, *, set: specs.Changes | None = None,
               labels: Mapping[str, str] | None = None, kind: str = "train", dry_run: bool = False,
               idempotency_key: str | None = None) -> Job | JobPreview:
        """Submits a job; with `dry_run` only says what would become of it.

        spec   a dict, or a JSON or TOML file
        set    changes by dotted path: {"train.epochs": 20} or ["train.epochs=20"]; None removes a field
        kind   train, predict or evaluate: what the spec describes
        """
        if kind not in COLLECTIONS:
            raise ValueError(f"kind must be one of {', '.join(COLLECTIONS)}, got {kind}")
        document = specs.with_changes(specs.load(spec), set or {})
        if labels:
            document["labels"] = {**document.get("labels", {}), **labels}
        return self.call("POST", f"/v1/{COLLECTIONS[kind]}", query={"dry_run": True if dry_run else None}, body=document,
                         idempotency_key=idempotency_key or new_key())

    def all_jobs(self, **filters: Any) -> Iterator[Job]:
        """Every job that matches, page by page; filters as of `list_jobs`."""
        return self.pages(self.list_jobs, **filters)

    def pages(self, method: Callable[..., Any], *path: Any, **query: Any) -> Iterator[Any]:
        """Every item of a list, page by page: `client.pages(client.list_datasets)`."""
        query.setdefault("limit", 200)
        cursor = None
        while True:
            page = method(*path, cursor=cursor, **query)
            yield from page["items"]
            if not (cursor := page.get("next_cursor")):
                return

    def watch(self, job: Reference, *, types: Iterable[str] | None = None, after: str | int | None = None,
              patience_s: float = PATIENCE_S) -> Iterator[events.Event]:
        """The events of a job, from its first one or behind `after` to its end, over broken connections and restarts.

        types        only these, such as ["metric", "checkpoint"]
        patience_s   how long the service may be away
        """
        job_id = id_of(job)
        return events.follow(self, f"/v1/jobs/{quoted(job_id)}/events", lambda: self.get_job(job_id)["state"] in FINAL_STATES, types=types,
                             after=after, patience_s=patience_s)

    def watch_all(self, *, project: str | None = None, types: Iterable[str] | None = None,
                  patience_s: float = PATIENCE_S) -> Iterator[events.Event]:
        """What happens to all jobs, datasets and splits, without end. `gap`: something was missed; read again what you show."""
        found = events.stream(self, "/v1/events", types=types, query={"project": project}, patience_s=patience_s)
        return (event for event in found if event is not None)

    def wait(self, job: Reference, *, timeout_s: float | None = None, progress: bool = False, check: bool = True) -> Job:
        """The job once it has ended. Raises JobFailed unless it succeeded (`check`), TimeoutError when it still runs."""
        end = None if timeout_s is None else time.monotonic() + timeout_s
        if not progress:
            found = self._wait(lambda wait_s: self.get_job(id_of(job), wait_s=wait_s), FINAL_STATES, end)
            return _succeeded("job", found) if check else found
        with ProgressLine() as line:
            def read(wait_s: int) -> Any:
                # A second at a time: the answer comes at once when the state changes, and progress is never older.
                current = self.get_job(id_of(job), wait_s=min(wait_s, 1))
                line.show(job_text(current))
                return current
            found = self._wait(read, FINAL_STATES, end)
        return _succeeded("job", found) if check else found

    def _wait(self, read: Callable[[int], Any], final: Iterable[str], end: float | None) -> Any:
        document = read(0)
        while document["state"] not in final:
            _check_time(end, document["id"])
            left = WAIT_S if end is None else max(1, min(WAIT_S, int(end - time.monotonic())))
            document = read(left)
        return document

    def compare(self, jobs: Iterable[Reference]) -> comparison.Comparison:
        """Where the specs of jobs differ and what came out; print it for a table."""
        return comparison.compare(self, [id_of(job) for job in jobs])

    # ---- metrics ------------------------------------------------------------
    def curves(self, jobs: Reference | Iterable[Reference], names: Iterable[str] | None = None, *,
               resolution: int | None = 500) -> dict[str, dict[str, curves.Curve]]:
        """Metrics as arrays: job id -> metric -> Curve.

        resolution   points of a curve at most: a longer one is summarised, its minima and maxima kept; None: every point
        """
        ids = [id_of(jobs)] if isinstance(jobs, (str, Mapping)) else [id_of(job) for job in jobs]
        if resolution is None:
            return {job: curves.complete(self, job, names) for job in ids}
        return curves.of_jobs(self, ids, names, resolution)

    # ---- checkpoints --------------------------------------------------------
    def checkpoint_of(self, job: Reference, which: str = "best") -> dict[str, Any]:
        """The newest checkpoint of a job of this kind: best or last; or the one of this name."""
        for found in self.pages(self.list_job_checkpoints, id_of(job)):
            if which in found["kinds"] or which == found["name"]:
                return found
        raise LookupError(f"job {id_of(job)} has no checkpoint `{which}`")

    def download_checkpoint(self, checkpoint: Reference, folder: str | os.PathLike = ".", *, files: Iterable[str] | None = None,
                            progress: bool = False, patience_s: float = PATIENCE_S) -> list[pathlib.Path]:
        """Files of a checkpoint (default: all), checked by their checksums. Continues what an earlier call has left."""
        found = self.get_checkpoint(id_of(checkpoint))
        target = pathlib.Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        names = [file["name"] for file in found["files"]] if files is None else list(files)
        paths = []
        for name in names:
            with _transfer(name, progress) as report:
                paths.append(downloads.checkpoint_file(self, found, name, target / pathlib.PurePosixPath(name).name, report, patience_s))
        return paths

    def export_weights(self, checkpoint: Reference, path: str | os.PathLike, *, dtype: str = "f32", weights: str = "average",
                       patience_s: float = PATIENCE_S) -> pathlib.Path:
        """The weights under the names of the reference implementation, as a safetensors file.

        dtype     f32 or bf16
        weights   average: the moving average where the job keeps one; raw: those that training continues with
        """
        query = query_text({"dtype": dtype, "weights": weights})
        return downloads.exported_weights(self, id_of(checkpoint), query, pathlib.Path(path), patience_s)

    def load_weights(self, checkpoint: Reference, framework: str | None = None, *, weights: str = "average") -> dict[str, Any]:
        """The weights as tensors by name, for `load_state_dict`. framework: torch, numpy or python (no package needed)."""
        with tempfile.TemporaryDirectory(prefix="slipway-") as folder:
            path = self.export_weights(checkpoint, pathlib.Path(folder) / "weights.safetensors", weights=weights)
            return safetensors.load(path, framework)

    # ---- datasets -----------------------------------------------------------
    def upload(self, path: str | os.PathLike, *, filename: str | None = None, progress: bool = False,
               patience_s: float = PATIENCE_S) -> str:
        """The id of an upload with the bytes of a file, or of a folder as a tar. Continues what an earlier call has left."""
        source = pathlib.Path(path)
        with contextlib.ExitStack() as stack:
            if source.is_dir():
                source = stack.enter_context(uploads.packed(source))
            report = stack.enter_context(_transfer(filename or source.name, progress))
            return uploads.upload_file(self, source, filename or source.name, report, patience_s)

    def dataset_from_path(self, name: str, path: str | os.PathLike, format: str, *, options: Mapping[str, Any] | None = None,
                          project: str = "default", progress: bool = False, wait: bool = True) -> Dataset:
        """A dataset from a file or a folder of this machine. Raises DatasetFailed when its check finds problems."""
        upload = self.upload(path, progress=progress)
        made = self.create_dataset({"name": name, "format": format, "source": {"upload": upload}, "options": dict(options or {}),
                                    "project": project})
        return self.wait_dataset(made) if wait else made

    def dataset_from_arrays(self, name: str, arrays: Mapping[str, Any], *, options: Mapping[str, Any] | None = None,
                            project: str = "default", progress: bool = False, wait: bool = True) -> Dataset:
        """A dataset from arrays of NumPy, tensors of torch or nested lists.

        arrays   {"x": features or images, "y": labels}; or x_train, y_train, x_val, y_val, x_test, y_test
        """
        with tempfile.TemporaryDirectory(prefix="slipway-") as folder:
            file = pathlib.Path(folder) / f"{name}.npz"
            npz.write(file, dict(arrays))
            return self.dataset_from_path(name, file, "npz", options=options, project=project, progress=progress, wait=wait)

    def wait_dataset(self, dataset: Reference, *, timeout_s: float | None = None) -> Dataset:
        """The dataset once it is checked. Raises DatasetFailed with the problems, TimeoutError."""
        end = None if timeout_s is None else time.monotonic() + timeout_s
        found = self._wait(lambda wait_s: self.get_dataset(id_of(dataset), wait_s=wait_s), {"ready", "failed"}, end)
        if found["state"] == "failed":
            lines = [f"  {one.get('file', '')}: {one.get('message', '')}" for one in found.get("problems") or []]
            raise DatasetFailed("\n".join([f"dataset {found['name']} failed its check", *lines]), found)
        return found

    # ---- predictions and evaluations ----------------------------------------
    def predict(self, source: Source, dataset: str, *, checkpoint: str = "best", wait: bool = True, progress: bool = False,
                **fields: Any) -> Job:
        """Runs a trained model over a dataset. `fields` are further ones of the request: {"data": …} is completed, not replaced."""
        return self._from_checkpoint("predict", source, checkpoint, {"dataset": dataset}, wait, progress, fields)

    def prediction_columns(self, prediction: Reference) -> dict[str, Any]:
        """The result of a prediction: column -> array, or list of texts."""
        return tables.columns_of(self.get_prediction_result(id_of(prediction)))

    def evaluate(self, source: Source, dataset: str | None = None, *, checkpoint: str = "best", wait: bool = True,
                 progress: bool = False, **fields: Any) -> Job:
        """Measures a trained model, or several as predict(); the metrics are in `result`. dataset: default is that of the training."""
        return self._from_checkpoint("evaluate", source, checkpoint, {"dataset": dataset} if dataset else {}, wait, progress, fields)

    def _from_checkpoint(self, kind: str, source: Source, checkpoint: str, data: dict[str, Any], wait: bool, progress: bool,
                         fields: dict[str, Any]) -> Any:
        origin = _checkpoint_source(source, checkpoint)
        job = self.submit({**fields, "from": origin, "data": {**fields.get("data", {}), **data}}, kind=kind)
        return self.wait(job, progress=progress) if wait else job

    # ---- sweeps -------------------------------------------------------------
    def wait_sweep(self, sweep: Reference, *, timeout_s: float | None = None, progress: bool = False) -> Sweep:
        """The sweep once it is over. Raises JobFailed when it failed, TimeoutError."""
        end = None if timeout_s is None else time.monotonic() + timeout_s
        with contextlib.ExitStack() as stack:
            line = stack.enter_context(ProgressLine()) if progress else None

            def read(wait_s: int) -> Any:
                found = self.get_sweep(id_of(sweep), wait_s=wait_s)
                if line:
                    line.show(f"{found['name']} {found['state']}  " + "  ".join(
                        f"{count} {state}" for state, count in found["trials"].items() if count))
                return found
            found = self._wait(read, SWEEP_FINAL_STATES, end)
        if found["state"] == "failed":
            raise JobFailed(_ended("sweep", found), found)
        return found

    def ask(self, sweep: Reference, *, pause_s: float = outside_trials.ASKING_PAUSE_S) -> Iterator[outside_trials.OutsideTrial]:
        """Trials of a sweep without a job, to be trained here, until the sweep is over."""
        return outside_trials.ask(self, id_of(sweep), pause_s)

    def work(self, sweep: Reference, objective: Callable[[outside_trials.OutsideTrial], float | None], *,
             pause_s: float = outside_trials.ASKING_PAUSE_S) -> int:
        """Calls `objective(trial)` for trial after trial and tells the sweep what it returns; the number of trials."""
        return outside_trials.work(self, id_of(sweep), objective, pause_s)

    # ---- cross-validations --------------------------------------------------
    def wait_cross_validation(self, cross_validation: Reference, *, timeout_s: float | None = None,
                              check: bool = True) -> CrossValidation:
        """The cross-validation once it has ended. Raises JobFailed unless it succeeded (`check`), TimeoutError."""
        end = None if timeout_s is None else time.monotonic() + timeout_s
        found = self._wait(lambda wait_s: self.get_cross_validation(id_of(cross_validation), wait_s=wait_s), FINAL_STATES, end)
        return _succeeded("cross-validation", found) if check else found

    def folds(self, cross_validation: Reference) -> list[dict[str, Any]]:
        """Each fold with its counts, its job and its metrics."""
        return self.list_cross_validation_folds(id_of(cross_validation))["items"]

    def out_of_fold_predictions(self, cross_validation: Reference) -> dict[str, Any]:
        """Each sample as predicted by the fold that did not train on it: column -> array, or list of texts."""
        return tables.columns_of(self.get_cross_validation_oof(id_of(cross_validation)))


def _checkpoint_source(source: Source, checkpoint: str) -> dict[str, Any]:
    """`from` of a prediction or an evaluation."""
    if isinstance(source, list):
        return {"checkpoints": [id_of(one) for one in source]}
    given = id_of(source)
    if given.startswith("ckp_"):
        return {"checkpoint": given}
    return {"cross_validation" if given.startswith("cv_") else "job": given, "checkpoint": checkpoint}


def _check_time(end: float | None, what: str) -> None:
    if end is not None and time.monotonic() >= end:
        raise TimeoutError(f"{what} has not ended in time")


def _succeeded(kind: str, document: Any) -> Any:
    if document["state"] != "succeeded":
        raise JobFailed(_ended(kind, document), document)
    return document


def _ended(kind: str, document: Any) -> str:
    reason = document.get("reason") or {}
    why = f": {reason.get('message') or reason.get('code')}" if reason else ""
    return f"{kind} {document['name']} ({document['id']}) {document['state']}{why}"


@contextlib.contextmanager
def _transfer(name: str, is_shown: bool) -> Iterator[Callable[[int, int], None]]:
    """How far an upload or a download is, in one line."""
    if not is_shown:
        yield lambda done, total: None
        return
    with ProgressLine() as line:
        yield lambda done, total: line.show(transfer_text(name, done, total))
