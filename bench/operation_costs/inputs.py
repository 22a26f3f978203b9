"""The largest input of each operation of the document: derived from it where it says how large, from INPUTS where it does not."""
import copy
import dataclasses
import itertools
import json
import urllib.parse

from stock import HELD, LONG_NAME, PROJECT, labels, large_job, large_space

TEXT_MAX = 2000    # of a query parameter: the whole target may have 8 KiB
LIST_MAX = 100
numbers = itertools.count(1)


@dataclasses.dataclass
class Input:
    """What the document does not say of an operation's largest input; each function is given the stock, once for each request."""
    query: dict = dataclasses.field(default_factory=dict)    # name: value, or None to omit it
    path: dict = dataclasses.field(default_factory=dict)     # parameter: the name in `made`, or of several objects
    body: object = None
    headers: dict = dataclasses.field(default_factory=dict)
    answers: tuple = ()             # besides success and 403: statuses that come with the operation's whole cost
    form: str = ""                  # tells several inputs of one operation apart
    stream: bool = False            # the answer has no end
    slow: bool = False              # the body comes a kilobyte at a time
    after: object = None            # ends what it has begun


@dataclasses.dataclass
class Call:
    """One request."""
    method: str
    target: str
    headers: dict
    body: bytes


# ---- Bodies -----------------------------------------------------------------
def sweep(stock, **changes):
    return {"name": LONG_NAME, "project": PROJECT, "labels": labels(), "objective": {"metric": "cost", "mode": "min"},
            "space": large_space(), "algorithm": {"name": "random"}, "limits": {"max_trials": 100000, "max_concurrent": 1000}, **changes}


def sweep_of_conditions(stock):
    long = "+".join(["p0*p1"] * 100) + " >= 0"
    return sweep(stock, space={f"p{number}": {"type": "uniform", "min": 0, "max": 1} for number in range(128)},
                 constraints=[long] * 4 + ["p0 < 0.0005"])


def sweep_of_jobs(stock):
    job = {key: value for key, value in large_job(stock.made["dataset"], limits=HELD).items() if key not in ("name", "project")}
    space = {"train.optimizer.lr": {"type": "choice", "values": [10 ** -(1 + number / 100) for number in range(180)]}}
    return sweep(stock, space=space, job=job, objective={"metric": "val_loss"}, limits={"max_trials": 1000, "max_concurrent": 100})


def learning_sweep(stock):
    return sweep(stock, algorithm={"name": "tpe", "candidates": 10000}, warm_start={
        "sweeps": [stock.made["large_sweep"]], "points": [{"p000": "0" * 150}] * 1000})


def held_job(stock):
    return large_job(stock.made["dataset"], limits=HELD)


def folds(stock):
    spec = copy.deepcopy(stock.made["many_folds_spec"])
    spec["job"]["limits"] = HELD
    spec["split"]["seed"] = next(numbers)
    return spec


def changes_of_job(stock):
    return {"start": "scratch", "changes": {"labels": labels(), "name": LONG_NAME, "limits": HELD, "model": held_job(stock)["model"]}}


def evaluation(stock, **changes):
    return {"project": PROJECT, "from": {"job": stock.made["short_job"]}, "labels": labels(), "name": LONG_NAME, "limits": HELD, **changes}


def prediction(stock):
    return evaluation(stock, data={"dataset": stock.made["dataset"]})


def bulk(action):
    return lambda stock: {"action": action, "filter": {"ids": stock.take("bulk")}}


def dataset(stock):
    return {"name": f"new-{next(numbers)}", "project": PROJECT, "format": "csv", "source": {"path": "wide"},
            "options": {"feature_columns": [f"column_{number}" for number in range(300)]}}


def cancel_cross_validations(stock):
    for one in stock.service.get(f"/v1/cross-validations?project={PROJECT}&state=preparing,running&limit=200")["items"]:
        stock.service.call("POST", f"/v1/cross-validations/{one['id']}/cancel", {})


def stop_sweeps(stock):
    kept = {stock.made[name] for name in ("large_sweep", "tpe_sweep")}
    for one in stock.service.get(f"/v1/sweeps?project={PROJECT}&state=running,paused&limit=200")["items"]:
        if one["id"] not in kept:
            stock.service.call("POST", f"/v1/sweeps/{one['id']}/stop", {})


DRY = {"query": {"dry_run": "true"}, "form": "dry run"}
STREAM = {"headers": {"Accept": "text/event-stream"}, "form": "stream", "stream": True, "query": {"cursor": None, "after": "0", "limit": None}}
BY_SEQ = {"cursor": None, "after": "0"}
A_MINUTE = {"Prefer": "wait=60"}

INPUTS = {
    "login": [Input(body=lambda stock: {"token": stock.tokens["viewer"]})],
    "login_by_link": [Input(query={"ticket": "0" * TEXT_MAX}, answers=(401,))],
    "list_jobs": [Input(query={"project": PROJECT, "label": None, "dataset": None, "kind": None, "parent": None, "name": None, "state": None,
                               "created_after": None, "created_before": None, "finished_after": None, "finished_before": None,
                               "metric": None, "mode": None, "order_by": None}),
                  Input(form="search", query={"project": PROJECT, "name": "nn" + "zy" * 500, "dataset": None, "parent": None, "kind": "train",
                                              "label": ",".join(f"{key}:{value[:20]}" for key, value in labels(64).items()),
                                              "finished_after": None, "finished_before": None, "metric": None, "mode": None,
                                              "created_after": "2000-01-01T00:00:00Z", "created_before": "2100-01-01T00:00:00Z", "order_by": None}),
                  Input(form="by metric", query={"project": PROJECT, "name": "nn", "dataset": None, "parent": None, "kind": None, "label": None,
                                                 "state": None, "created_after": None, "created_before": None, "finished_after": None,
                                                 "finished_before": None, "metric": "loss", "mode": "max", "order_by": "-best"})],
    "create_job": [Input(body=held_job), Input(body=held_job, **DRY)],
    "fork_job": [Input(body=changes_of_job), Input(body=changes_of_job, **DRY)],
    "retry_job": [Input(path={"id": "failed"}), Input(path={"id": "failed"}, **DRY)],
    "delete_job": [Input(path={"id": "ended"})],
    "cancel_job": [Input(path={"id": "queued"}, answers=(409,))],
    "kill_job": [Input(path={"id": "queued"}, answers=(409,))],
    "pause_job": [Input(path={"id": "queued"}, answers=(409,))],
    "resume_job": [Input(path={"id": "paused"}, answers=(409,))],
    "checkpoint_job": [Input(path={"id": "queued"}, answers=(409,))],
    "patch_job": [Input(path={"id": "queued"}, body=lambda stock: {"name": LONG_NAME, "labels": labels()}, answers=(409,))],
    "explain_job": [Input(path={"id": "waiting_job"})],
    "get_job_spec": [Input(path={"id": "waiting_job"})],
    "get_job": [Input(path={"id": "waiting_job"}), Input(path={"id": "waiting_job"}, headers=A_MINUTE, form="waits", stream=True, answers=(0,))],
    "bulk_jobs": [Input(body=bulk("pause"), query={"dry_run": "true"}, form="dry run"), Input(body=bulk("pause")), Input(body=bulk("resume"), form="resume"),
                  Input(body=bulk("cancel"), form="cancel"), Input(body=bulk("delete"), form="delete")],
    "get_job_evaluation": [Input(path={"id": "evaluation"})],
    "list_job_events": [Input(query={**BY_SEQ, "types": None}), Input(form="rare types", query={**BY_SEQ, "types": "compile,end"}), Input(**STREAM)],
    "list_job_logs": [Input(query={**BY_SEQ, "q": None, "level": "info"}), Input(form="search", query={**BY_SEQ, "q": "m" * 149 + "z", "level": "info"})],
    "list_job_metrics": [Input(query={"names": None, "step_min": None, "step_max": None, "resolution": None}),
                         Input(form="summarised", query={"names": None, "step_min": None, "step_max": None, "resolution": "200"})],
    "get_job_metrics_csv": [Input(query={"names": None, "form": "points"}), Input(form="table", query={"names": None, "form": "table"})],
    "get_job_tensorboard": [Input()],
    "get_job_report": [Input(query={"epoch": None, "format": "json"})],
    "get_job_graph": [Input(query={"format": "program"}), Input(form="json", query={"format": "json"})],
    "list_metrics": [Input(query={"jobs": lambda stock: ",".join(stock.made["listed_jobs"]), "names": "loss"})],
    "stream_events": [Input(query={"types": None, "project": PROJECT}, stream=True)],
    "delete_checkpoint": [Input(path={"id": "checkpoints"})],
    "get_checkpoint_file": [Input()],
    "list_checkpoints": [Input(query={"job": None, "cursor": None, "project": PROJECT})],
    "create_evaluation": [Input(body=evaluation), Input(body=evaluation, **DRY)],
    "create_prediction": [Input(body=prediction), Input(body=prediction, **DRY)],
    "create_cross_validation": [Input(body=folds, **DRY), Input(body=folds, after=cancel_cross_validations)],
    "delete_cross_validation": [Input(path={"id": "cross_validations"})],
    "cancel_cross_validation": [Input(path={"id": "cross_validations"}, answers=(409,))],
    "retry_cross_validation": [Input(path={"id": "failed_folds"}, body=lambda stock: {}, **DRY),
                               Input(path={"id": "failed_folds"}, body=lambda stock: {}, after=cancel_cross_validations, answers=(409,))],
    "list_cross_validation_folds": [Input(path={"id": "many_folds"})],
    "get_cross_validation_summary": [Input(path={"id": "many_folds"})],
    "compare_cross_validations": [Input(path={"id": "many_folds"}, query={"with": lambda stock: stock.made["many_folds"]})],
    "list_cross_validation_events": [Input(path={"id": "failed_folds"}, query={**BY_SEQ, "types": None}), Input(**STREAM)],
    "get_cross_validation": [Input(path={"id": "failed_folds"})],
    "create_dataset": [Input(body=dataset, **DRY), Input(body=dataset, answers=(429,))],
    "delete_dataset": [Input(path={"id": "datasets"})],
    "get_dataset": [Input(path={"id": "wide"}, query={"project": None})],
    "get_dataset_preview": [Input(path={"id": "wide"}, query={"project": None})],
    "list_datasets": [Input(query={"cursor": None, "project": PROJECT, "state": "ready", "format": "csv", "name": "copy"})],
    "create_split": [Input(path={"id": "wide"}, query={"project": None}, answers=(429,),
                           body=lambda stock: {"method": "repeated_kfold", "folds": min(1000, stock.count(1000)) // 10 + 2, "repeats": 9, "seed": next(numbers)})],
    "list_splits": [Input(path={"id": "wide"}, query={"project": None, "cursor": None})],
    "get_split": [Input(path={"id": "wide", "sid": "wide_split"}, query={"project": None})],
    "get_split_manifest": [Input(path={"id": "wide", "sid": "wide_split"}, query={"project": None})],
    "delete_split": [Input(path={"id": "wide", "sid": "splits"}, query={"project": None}, answers=(409,))],
    "create_upload": [Input(body=lambda stock: {"filename": LONG_NAME, "sha256": "0" * 64, "size": 1000}, answers=(429,))],
    "append_upload": [Input(path={"id": "large_upload"}, body=lambda stock: bytes(8 << 20), answers=(409,), headers={"Upload-Offset": "0"}),
                      Input(path={"id": "large_upload"}, body=lambda stock: bytes(8 << 20), headers={"Upload-Offset": "0"}, form="slow", slow=True,
                            answers=(409,))],
    "complete_upload": [Input(path={"id": "full_upload"}, answers=(409, 422))],
    "delete_upload": [Input(path={"id": "uploads"}, answers=(404,))],
    "list_decisions": [Input(query={"job": None, "cursor": None, "project": PROJECT}),
                       Input(form="of a job", query={"job": lambda stock: stock.made["waiting_job"], "cursor": None, "project": PROJECT})],
    "simulate_queue": [Input(body=lambda stock: {"more_hosts": 64, "cores_per_host": 8, "job": large_job(stock.made["dataset"])}, answers=(429,))],
    "get_queue_stats": [Input(query={"project": PROJECT})],
    "list_slices": [Input(query={"project": PROJECT})],
    "create_sweep": [Input(body=sweep, **DRY), Input(body=sweep_of_conditions, form="conditions", query={"dry_run": "true"}, answers=(422,)),
                     Input(body=sweep_of_jobs, form="of jobs, dry run", query={"dry_run": "true"}),
                     Input(body=learning_sweep, form="learning, dry run", query={"dry_run": "true"}),
                     Input(body=learning_sweep, form="learning", answers=(429,)), Input(body=sweep_of_jobs, form="of jobs", after=stop_sweeps)],
    "list_sweeps": [Input(query={"cursor": None, "project": PROJECT, "state": None, "name": None, "label": None})],
    "get_sweep": [Input(path={"id": "large_sweep"})],
    "get_sweep_best": [Input(path={"id": "large_sweep"})],
    "get_sweep_importance": [Input(path={"id": "large_sweep"})],
    "list_sweep_trials": [Input(path={"id": "large_sweep"}, query={"cursor": None, "state": None, "order_by": "best"})],
    "list_sweep_decisions": [Input(path={"id": "large_sweep"}, query=BY_SEQ)],
    "list_sweep_events": [Input(path={"id": "large_sweep"}, query={**BY_SEQ, "types": None}), Input(**{**STREAM, "query": {**STREAM["query"]}})],
    "patch_sweep": [Input(path={"id": "large_sweep"})],
    "delete_sweep": [Input(path={"id": "sweeps"}, answers=(404,))],
    "pause_sweep": [Input(path={"id": "tpe_sweep"}, answers=(409,))],
    "resume_sweep": [Input(path={"id": "tpe_sweep"}, answers=(409,))],
    "stop_sweep": [Input(path={"id": "sweeps"}, answers=(409, 404))],
    "extend_sweep": [Input(path={"id": "large_sweep"}, answers=(409, 422))],
    "promote_sweep": [Input(path={"id": "small_sweep"}, body=lambda stock: changes_of_job(stock), **DRY),
                      Input(path={"id": "small_sweep"}, body=lambda stock: changes_of_job(stock))],
    "retry_sweep": [Input(path={"id": "job_sweep"}, body=lambda stock: {}, **DRY), Input(path={"id": "job_sweep"}, body=lambda stock: {}, answers=(409,))],
    "retry_sweep_trial": [Input(path={"id": "job_sweep"}, answers=(409,))],
    "suggest_sweep_trials": [Input(path={"id": "large_sweep"}, answers=(409,)), Input(path={"id": "tpe_sweep"}, form="learning", answers=(409,))],
    "observe_sweep_trial": [Input(path={"id": "tpe_sweep", "tid": "trial"}, body=lambda stock: {"time": next(numbers), "value": 0.5}, answers=(409,))],
    "simulate_sweep": [Input(path={"id": "job_sweep"}, body=lambda stock: {"algorithm": {"name": "asha", "max_time": 1000000}, "max_concurrent": 1000}),
                       Input(path={"id": "large_sweep"}, form="many parameters", body=lambda stock: {
                           "algorithm": {"name": "median_stop"}, "max_concurrent": 1000}, answers=(409, 422))],
    "create_webhook": [Input(body=lambda stock: {"url": "https://hooks.example.com/" + "u" * 1900, "project": PROJECT,
                                                 "events": ["job.created", "job.started", "job.paused", "job.resumed", "job.requeued", "job.ended"]},
                             answers=(409, 429))],
    "patch_webhook": [Input(path={"id": "webhooks"}, body=lambda stock: {"events": ["job.paused", "job.ended"], "rotate_secret": True, "enabled": False},
                            answers=(404,))],
    "delete_webhook": [Input(path={"id": "webhooks"}, answers=(404,))],
    "test_webhook": [Input()],
    "redeliver_webhook": [Input()],
    "list_webhooks": [Input(query={"cursor": None, "project": PROJECT})],
    "list_webhook_deliveries": [Input(query={"cursor": None, "state": None})],
    "create_project": [Input(body=lambda stock: {"name": f"new-{next(numbers)}"})],
    "create_token": [Input(body=lambda stock: {"name": LONG_NAME, "role": "viewer", "projects": [PROJECT]})],
}
# What {id} names of each collection of the path, in `made`.
OBJECTS = {"cross-validations": "cross_validation", "jobs": "job", "checkpoints": "checkpoint", "predictions": "prediction",
           "evaluations": "evaluation", "datasets": "dataset", "uploads": "upload", "tokens": "token", "webhooks": "webhook",
           "sweeps": "large_sweep", "hosts": "host"}
PARAMETERS = {"n": "core", "hash": "graph", "name": "file", "p": "project", "g": "group", "m": "member", "did": "delivery", "tid": "zero",
              "sid": "split", "h": "host"}
SEVERAL = {"datasets": "dataset", "splits": "split", "uploads": "upload", "webhooks": "webhook", "sweeps": "sweep", "checkpoints": "checkpoint",
           "cross_validations": "cross_validation", "ended": "ended", "paused": "paused", "failed": "failed", "queued": "queued"}


# ---- Derived from the document -----------------------------------------------
class NotDerivable(Exception):
    pass


def largest(schema, document):
    """A value of a JSON schema, as large as it permits."""
    if "$ref" in schema:
        return largest(document["components"]["schemas"][schema["$ref"].rpartition("/")[2]], document)
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            return largest(schema[choice][0], document)
    if "const" in schema or "enum" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    kind = schema.get("type")
    if kind == "integer" or kind == "number":
        return schema.get("maximum", 1)
    if kind == "boolean":
        return True
    if kind == "string" and schema.get("format") == "date-time":
        return "2100-01-01T00:00:00Z"
    if kind == "string" and "pattern" not in schema and "maxLength" in schema:
        return "x" * schema["maxLength"]
    if kind == "array" and "enum" in schema.get("items", {}):
        return schema["items"]["enum"]
    if kind == "object" and schema.get("maxProperties") == 64:
        return labels()
    if kind == "object" and "properties" in schema:
        return {name: largest(one, document) for name, one in schema["properties"].items()}
    raise NotDerivable(json.dumps(schema)[:200])


def query_value(parameter):
    schema = parameter["schema"]
    if parameter["name"] == "cursor":
        return None    # pages are equal
    if parameter["name"] in ("project", "host"):
        return None
    if schema["type"] == "array":
        words = schema["items"].get("enum")
        return ",".join(words) if words else ",".join(f"word_{number}" for number in range(LIST_MAX))
    if "enum" in schema:
        return schema["enum"][-1]
    if schema["type"] == "boolean":
        return "true"
    if schema["type"] == "integer":
        return str(schema["maximum"])
    if schema.get("format") == "date-time":
        return "2000-01-01T00:00:00Z"
    return "x" * TEXT_MAX


class Operation:
    """One operation of the document with one input: makes its requests."""

    def __init__(self, method, path, described, given, document):
        self.name, self.method, self.path, self.given = described["operationId"], method.upper(), path, given
        self.label = f"{self.name} ({given.form})" if given.form else self.name
        self.role = described.get("x-required-role")
        self.parameters = described.get("parameters", [])
        self.success = {int(status) for status in described["responses"] if status[0] in "23"}
        self.body, self.media_type = self.body_of(described, document)

    def body_of(self, described, document):
        """A function of the stock, and the media type."""
        content = described.get("requestBody", {}).get("content", {})
        if not content:
            return None, None
        media_type, shape = next(iter(content.items()))
        if self.given.body:
            return self.given.body, media_type
        if "schema" not in shape:
            raise NotDerivable(media_type)
        value = largest(shape["schema"], document)
        return lambda stock: value, media_type

    def query(self, stock):
        pairs = []
        for one in self.parameters:
            if one["in"] != "query":
                continue
            value = self.given.query[one["name"]] if one["name"] in self.given.query else query_value(one)
            if one["name"] == "dry_run" and "dry_run" not in self.given.query:
                value = None
            value = value(stock) if callable(value) else value
            if value is not None:
                pairs.append((one["name"], value))
        return "?" + urllib.parse.urlencode(pairs) if pairs else ""

    def target(self, stock):
        path = self.path
        for one in self.parameters:
            if one["in"] == "path":
                kind = self.given.path.get(one["name"]) or PARAMETERS.get(one["name"]) or OBJECTS[path.split("/")[2]]
                value = stock.take(SEVERAL[kind]) if kind in SEVERAL else stock.made[kind]
                path = path.replace("{" + one["name"] + "}", str(value))
        return path + self.query(stock)

    def call(self, stock, token):
        headers = {"Accept-Encoding": "gzip", **self.given.headers}
        if token and self.role:
            headers["Authorization"] = f"Bearer {token}"
        if any(one["name"] == "Idempotency-Key" for one in self.parameters):
            headers["Idempotency-Key"] = f"{next(numbers)}".rjust(128, "k")
        body = self.body(stock) if self.body else b""
        if self.body:
            headers["Content-Type"] = self.media_type
        return Call(self.method, self.target(stock), headers, body if isinstance(body, bytes) else json.dumps(body).encode())


def operations(document):
    """All of them, and why those without an input have none: (list, {name: reason})."""
    found, missing = [], {}
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            for given in INPUTS.get(described["operationId"], [Input()]):
                try:
                    found.append(Operation(method, path, described, given, document))
                except NotDerivable as reason:
                    missing[described["operationId"]] = str(reason)
    for name in INPUTS.keys() - {one.name for one in found}:
        missing[name] = "the document does not have it"
    return found, missing
