"""Goal: nobody gets an answer that is not theirs. Method: every endpoint of the openapi.json that a real slipwayd serves,
with every media type and every filter that it documents, asked by every kind of caller. What must come is written in
ENDPOINTS below, apart from the code that decides: an endpoint without a row fails the test, and so does a row whose role
is not the document's. SLIPWAY_UPDATE=1 writes the answers into docs/security.md."""
import copy
import hashlib
import http.client
import itertools
import json
import os
import pathlib
import re
import time
import unittest

from service import SOURCE, Service, points_job, wait_for, write_points

PAGE = SOURCE / "docs/security.md"
MARKERS = ("<!-- access matrix: generated -->", "<!-- access matrix: end -->")

# The project of what is asked for, and another. Nobody else says these words, so an answer that has one is a leak.
PROJECT, OTHER = "kestrel", "heron"
CALLERS = {
    "nobody": "no credentials",
    "garbage": "text that is no token",
    "unknown": "a well-formed token of nobody",
    "expired": "an admin's token that has expired",
    "revoked": "an admin's token that was revoked",
    "other": "the admin of another project",
    "viewer": "viewer of the project",
    "editor": "editor of the project",
    "project_admin": "admin of the project",
    "cookie": "the same by a browser's cookie, without the headers of our own pages",
    "member_viewer": "an admin's token of a member who is viewer of the project and admin of the other one",
    "member_editor": "an admin's token of a member who is editor of the project",
    "member_admin": "an admin's token of a member who is admin of the project",
    "member_limited": "a viewer's token of the same member",
    "lost": "an admin's token of a member who was admin of the project and no longer has a role",
    "admin": "admin of all projects",
}
STRANGERS = ("nobody", "garbage", "unknown", "expired", "revoked")
RANK = {"viewer": 0, "editor": 1, "admin": 2}
# The highest role in any project, and the role in PROJECT where that is another one.
ROLE = {"other": "admin", "viewer": "viewer", "editor": "editor", "project_admin": "admin", "cookie": "admin", "admin": "admin",
        "member_viewer": "admin", "member_editor": "editor", "member_admin": "admin", "member_limited": "viewer"}
ROLE_IN_PROJECT = {**ROLE, "member_viewer": "viewer"}


class Row:
    """What an endpoint is about decides who gets what:
    open     everybody gets the same
    object   the path names an object of the project: for others it does not exist
    list     shows what the caller sees
    create   the body names the project: others are refused
    upload   an object of the token that made it, and of admins of all projects
    own      about the caller
    login, link, logout  open, and about the credentials that come with them
    machine  the same for every token
    service  a change of the machine: not for tokens that are bound to projects
    """

    def __init__(self, role, about, ok=None, body=None, headers=None, fresh=False):
        self.role, self.about, self.ok, self.body, self.headers, self.fresh = role, about, ok, body, headers, fresh


VIEW, EDIT, ADMIN, OPEN = "viewer", "editor", "admin", None
ENDPOINTS = {
    "create_job": Row(EDIT, "create", body=lambda made: made["job_spec"]),
    "list_jobs": Row(VIEW, "list"),
    "get_job": Row(VIEW, "object"),
    "patch_job": Row(EDIT, "object", body=lambda made: {"labels": {"seen": "yes"}}),
    "delete_job": Row(EDIT, "object", fresh="job"),
    "cancel_job": Row(EDIT, "object", ok=409),      # it has ended
    "kill_job": Row(EDIT, "object", ok=409),
    "pause_job": Row(EDIT, "object", ok=409),
    "resume_job": Row(EDIT, "object", ok=409),
    "checkpoint_job": Row(EDIT, "object", ok=409),
    "retry_job": Row(EDIT, "object", ok=409),       # it has succeeded
    "fork_job": Row(EDIT, "object", body=lambda made: {"start": "scratch"}),
    "bulk_jobs": Row(EDIT, "list", body=lambda made: {"action": "pause", "filter": {"ids": [made["job"]]}}),
    "list_job_events": Row(VIEW, "object"),
    "stream_events": Row(VIEW, "list"),
    "list_job_logs": Row(VIEW, "object"),
    "list_job_metrics": Row(VIEW, "object"),
    "list_metrics": Row(VIEW, "own", ok=422),       # it names no job
    "get_job_metrics_csv": Row(VIEW, "object"),
    "get_job_tensorboard": Row(VIEW, "object"),
    "list_job_checkpoints": Row(VIEW, "object"),
    "list_job_attempts": Row(VIEW, "object"),
    "explain_job": Row(VIEW, "object"),
    "get_job_spec": Row(VIEW, "object"),
    "get_job_report": Row(VIEW, "object"),
    "get_job_evaluation": Row(VIEW, "object"),
    "list_job_graphs": Row(VIEW, "object"),
    "get_job_graph": Row(VIEW, "object"),
    "get_job_trace": Row(VIEW, "object"),
    "list_checkpoints": Row(VIEW, "list"),
    "get_checkpoint": Row(VIEW, "object"),
    "delete_checkpoint": Row(EDIT, "object", ok=409, fresh="pinned"),
    "pin_checkpoint": Row(EDIT, "object"),
    "unpin_checkpoint": Row(EDIT, "object"),
    "get_checkpoint_file": Row(VIEW, "object"),
    "get_checkpoint_weights": Row(VIEW, "object"),
    "create_prediction": Row(EDIT, "create", body=lambda made: made["prediction_spec"]),
    "list_predictions": Row(VIEW, "list"),
    "get_prediction": Row(VIEW, "object"),
    "get_prediction_result": Row(VIEW, "object"),
    "create_evaluation": Row(EDIT, "create", body=lambda made: made["evaluation_spec"]),
    "list_evaluations": Row(VIEW, "list"),
    "get_evaluation": Row(VIEW, "object"),
    "create_cross_validation": Row(EDIT, "create", body=lambda made: made["cross_validation_spec"]),
    "list_cross_validations": Row(VIEW, "list"),
    "get_cross_validation": Row(VIEW, "object"),
    "delete_cross_validation": Row(EDIT, "object", fresh="cross_validation"),
    "cancel_cross_validation": Row(EDIT, "object", ok=409),     # it has succeeded
    "retry_cross_validation": Row(EDIT, "object", body=lambda made: {}),    # nothing of it has failed
    "list_cross_validation_folds": Row(VIEW, "object"),
    "get_cross_validation_summary": Row(VIEW, "object"),
    "list_cross_validation_events": Row(VIEW, "object"),
    "compare_cross_validations": Row(VIEW, "object", ok=422),      # it names no other
    "get_cross_validation_oof": Row(VIEW, "object"),
    "create_dataset": Row(EDIT, "create", fresh="name", body=lambda made: {
        "name": made["name"], "project": PROJECT, "format": "csv", "source": {"path": "points"}}),
    "list_datasets": Row(VIEW, "list"),
    "get_dataset": Row(VIEW, "object"),
    "delete_dataset": Row(EDIT, "object", fresh="dataset"),
    "get_dataset_preview": Row(VIEW, "object"),
    "create_split": Row(EDIT, "object", body=lambda made: {"method": "fraction", "val_fraction": 0.25, "seed": 5}),
    "list_splits": Row(VIEW, "object"),
    "get_split": Row(VIEW, "object"),
    "get_split_manifest": Row(VIEW, "object"),
    "delete_split": Row(EDIT, "object", fresh="split"),
    "create_upload": Row(EDIT, "own", body=lambda made: {"size": 4, "filename": "own.csv"}),
    "get_upload": Row(EDIT, "upload"),
    "append_upload": Row(EDIT, "upload", fresh="upload", body=lambda made: b"more", headers={
        "Upload-Offset": "0", "Content-Type": "application/octet-stream"}),
    "complete_upload": Row(EDIT, "upload", fresh="full_upload"),
    "delete_upload": Row(EDIT, "upload", fresh="upload"),
    "list_hosts": Row(VIEW, "machine"),
    "list_slices": Row(VIEW, "machine"),
    "list_cores": Row(VIEW, "machine"),
    "get_core": Row(VIEW, "machine"),
    "get_host": Row(VIEW, "machine"),
    "drain_host": Row(ADMIN, "service", body=lambda made: {"reason": "a disk"}),
    "undrain_host": Row(ADMIN, "service"),
    "delete_host": Row(ADMIN, "service", ok=409, fresh="alive_host"),
    "create_join_token": Row(ADMIN, "service", ok=201, body=lambda made: {}),
    "drain_core": Row(ADMIN, "service"),
    "undrain_core": Row(ADMIN, "service"),
    "list_queue": Row(VIEW, "list"),
    "get_queue_stats": Row(VIEW, "list"),
    "list_decisions": Row(VIEW, "list"),
    "simulate_queue": Row(EDIT, "list", body=lambda made: {"more_hosts": 1}),
    "create_project": Row(ADMIN, "service", ok=201, fresh="name", body=lambda made: {"name": made["name"]}),
    "list_projects": Row(VIEW, "list"),
    "get_project": Row(VIEW, "object"),
    "patch_project": Row(ADMIN, "service", body=lambda made: {"weight": 1}),
    "get_project_quota": Row(VIEW, "object"),
    "put_project_quota": Row(ADMIN, "service", body=lambda made: {}),
    "list_members": Row(VIEW, "object"),
    "get_member": Row(VIEW, "object", fresh="member"),
    "put_member": Row(ADMIN, "object", body=lambda made: {"role": "viewer"}),
    "delete_member": Row(ADMIN, "object", fresh="member"),
    "list_groups": Row(VIEW, "object"),
    "put_group": Row(EDIT, "object", body=lambda made: {"limit": 2}),
    "create_sweep": Row(EDIT, "create", body=lambda made: made["sweep_spec"]),
    "list_sweeps": Row(VIEW, "list"),
    "get_sweep": Row(VIEW, "object"),
    "patch_sweep": Row(EDIT, "object", body=lambda made: {"max_concurrent": 1}),
    "delete_sweep": Row(EDIT, "object", fresh="sweep"),
    "pause_sweep": Row(EDIT, "object", fresh="running_sweep"),
    "resume_sweep": Row(EDIT, "object", fresh="running_sweep"),
    "stop_sweep": Row(EDIT, "object"),
    "extend_sweep": Row(EDIT, "object", fresh="sweep", body=lambda made: {"max_trials": 2}),
    "promote_sweep": Row(EDIT, "object", body=lambda made: {"start": "scratch"}),
    "list_sweep_trials": Row(VIEW, "object"),
    "get_sweep_best": Row(VIEW, "object"),
    "list_sweep_decisions": Row(VIEW, "object"),
    "list_sweep_events": Row(VIEW, "object"),
    "suggest_sweep_trials": Row(EDIT, "object", fresh="external_sweep", body=lambda made: {}),
    "observe_sweep_trial": Row(EDIT, "object", fresh="external_sweep", body=lambda made: {"time": 1, "value": 0.5}),
    "get_sweep_importance": Row(VIEW, "object"),
    "simulate_sweep": Row(EDIT, "object", body=lambda made: {"algorithm": {"name": "median_stop"}}),
    "retry_sweep": Row(EDIT, "object", fresh="failed_sweep", body=lambda made: {}),
    "retry_sweep_trial": Row(EDIT, "object", fresh="failed_sweep"),
    "create_webhook": Row(EDIT, "create", body=lambda made: {"url": "https://hooks.example.com/", "project": PROJECT}),
    "list_webhooks": Row(VIEW, "list"),
    "get_webhook": Row(VIEW, "object"),
    "patch_webhook": Row(EDIT, "object", body=lambda made: {"events": ["job.ended"]}),
    "delete_webhook": Row(EDIT, "object", fresh="webhook"),
    "test_webhook": Row(EDIT, "object", ok=201),
    "list_webhook_deliveries": Row(VIEW, "object"),
    "redeliver_webhook": Row(EDIT, "object", ok=201),
    "list_audit": Row(ADMIN, "service"),
    "preview_retention": Row(ADMIN, "service"),
    "get_me": Row(VIEW, "own"),
    "create_token": Row(ADMIN, "create", ok=201, body=lambda made: {
        "name": "guest", "role": "viewer", "projects": [PROJECT]}),
    "list_tokens": Row(ADMIN, "list"),
    "revoke_token": Row(ADMIN, "object", fresh="token"),
    "create_login_link": Row(VIEW, "own"),
    "login": Row(OPEN, "login"),
    "login_by_link": Row(OPEN, "link"),
    "logout": Row(OPEN, "logout", ok=204),
    "healthz": Row(OPEN, "open"),
    "readyz": Row(OPEN, "open"),
    "metrics": Row(VIEW, "machine"),
    "get_version": Row(OPEN, "open"),
    "get_capabilities": Row(OPEN, "open"),
    "get_openapi": Row(OPEN, "open"),
}

# Other addresses of the above, which the document does not list.
ALIASES = {"/v1/healthz": "healthz", "/v1/readyz": "readyz", "/v1/openapi.json": "get_openapi",
           "/version": "get_version", "/capabilities": "get_capabilities"}


def required_status(row, method, caller, ok):
    """What `caller` must get, from the row alone."""
    if row.about == "login":
        return 401 if caller in STRANGERS else ok
    if row.about == "link":
        return 204 if method == "HEAD" else 401    # without a ticket; HEAD does not use one
    if row.about == "logout":
        return 403 if caller == "cookie" else ok
    if row.about == "open":
        return ok
    if caller in STRANGERS:
        return 401
    if caller == "cookie" and method not in ("GET", "HEAD"):
        return 403
    if caller == "lost":
        return ok if row.name == "get_me" else 403
    if RANK[ROLE[caller]] < RANK[row.role]:
        return 403
    if row.about == "service" and caller != "admin":
        return 403
    if row.about == "upload" and caller not in ("editor", "admin"):
        return 404
    if caller == "other" and row.about in ("object", "create"):
        return 404 if row.about == "object" else {"create_token": 422}.get(row.name, 403)
    # The path or the body names an object of the project.
    if (row.about in ("object", "create") or row.name == "bulk_jobs") and RANK[ROLE_IN_PROJECT[caller]] < RANK[row.role]:
        return {"create_token": 422, "revoke_token": 404}.get(row.name, 403)    # only admins of a project know its tokens
    return ok


def another(name):
    """An id or name of the same form that names nothing."""
    kind, _, rest = name.rpartition("_")
    return f"{kind}_{rest[:6]}{'0123456789abcdef0123'[:len(rest) - 6]}" if kind else "z" + name[1:]


class AccessMatrix(unittest.TestCase):
    maxDiff = None
    numbers = itertools.count()

    @classmethod
    def setUpClass(cls):
        cls.service = Service()
        cls.addClassCleanup(cls.service.close)
        write_points(cls.service.data / "points", rows=120)
        closed = cls.service.home / "closed"
        write_points(closed / "kestrel-set", rows=20)
        cls.service.options = ("--dataset-root", f"{PROJECT},wren={closed}", "--webhook-allow", "127.0.0.0/8")
        cls.service.start()
        cls.document = cls.service.call("GET", "/openapi.json", token=None).json
        cls.operations = [(path, method.upper(), operation) for path, methods in cls.document["paths"].items()
                          for method, operation in methods.items()]
        for name, row in ENDPOINTS.items():
            row.name = name
        cls.service.sql("insert into host (name, cores) values ('spare-host', 1)")
        cls.make_callers()
        cls.make_objects()

    # ---- who asks ------------------------------------------------------------
    @classmethod
    def make_token(cls, role, *projects):
        return cls.service.post("/v1/tokens", {"name": f"{role} of {' '.join(projects)}", "role": role, "projects": projects})

    @classmethod
    def make_callers(cls):
        tokens = {"viewer": cls.make_token("viewer", PROJECT), "editor": cls.make_token("editor", PROJECT),
                  "project_admin": cls.make_token("admin", PROJECT), "other": cls.make_token("admin", OTHER),
                  "expired": cls.make_token("admin", PROJECT), "revoked": cls.make_token("admin", PROJECT)}
        cls.tokens = {name: made["token"] for name, made in tokens.items()}
        cls.tokens.update(nobody=None, garbage="garbage", unknown=cls.unknown_token(), admin=cls.service.token)
        for project in (PROJECT, OTHER):
            cls.service.post("/v1/projects", {"name": project})
        roles = {"member_viewer": [(PROJECT, "viewer"), (OTHER, "admin")], "member_editor": [(PROJECT, "editor")],
                 "member_admin": [(PROJECT, "admin")], "lost": [(PROJECT, "admin")]}
        for member, given in roles.items():
            for project, role in given:
                cls.put_member(project, member, role)
            cls.tokens[member] = cls.member_token(member, "admin")
        cls.tokens["member_limited"] = cls.member_token("member_admin", "viewer")
        assert cls.service.call("DELETE", f"/v1/projects/{PROJECT}/members/lost").status == 204
        cls.put_member(PROJECT, "guest", "viewer")
        cls.service.sql(f"update token set expires_at = now() - interval '1 second' where id = '{tokens['expired']['id']}'")
        cls.service.call("DELETE", f"/v1/tokens/{tokens['revoked']['id']}")
        signed_in = cls.service.call("POST", "/v1/login", {"token": cls.tokens["project_admin"]}, token=None)
        cls.cookie = signed_in.headers["Set-Cookie"].partition(";")[0]

    @classmethod
    def put_member(cls, project, member, role):
        put = cls.service.call("PUT", f"/v1/projects/{project}/members/{member}", {"role": role})
        assert put.status == 200, put.body

    @classmethod
    def member_token(cls, member, role):
        return cls.service.post("/v1/tokens", {"name": member, "role": role, "member": member})["token"]

    @classmethod
    def unknown_token(cls):
        """Made by the service, then forgotten by it: the checksum is right."""
        made = cls.make_token("admin", OTHER)
        cls.service.sql(f"delete from token where id = '{made['id']}'")
        return made["token"]

    def ask(self, caller, method, path, body=None, headers=None):
        headers = dict(headers or {})
        if caller == "cookie":
            headers["Cookie"] = self.cookie
        token = None if caller == "cookie" else self.tokens[caller]
        return self.service.call(method, path, body, headers, token=token)

    # ---- what is asked for ---------------------------------------------------
    @classmethod
    def make_objects(cls):
        service = cls.service
        spec = points_job(project=PROJECT, name="kestrel-job", train={"epochs": 1},
                          monitor={"sinks": ["csv", "tensorboard"]}, accelerator={"cores": 1})
        spec["data"]["dataset"] = "kestrel-points"
        dataset = cls.dataset("kestrel-points", PROJECT)
        cls.other_dataset = cls.dataset("heron-points", OTHER)
        split = cls.split(dataset)
        job = service.submit(spec)
        cls.other_job = service.submit({**spec, "name": "heron-job", "project": OTHER, "data": {**spec["data"], "dataset": "heron-points"}})
        for one in (job, cls.other_job):
            ended = service.wait_end(one)
            assert ended["state"] == "succeeded", ended["reason"]
        checkpoint = service.get(f"/v1/jobs/{job}/checkpoints")["items"][0]["id"]
        prediction = {"project": PROJECT, "from": {"job": job}, "data": {"dataset": "kestrel-points"}}
        predicted = service.post("/v1/predictions", prediction)["id"]
        assert service.wait_end(predicted)["state"] == "succeeded"
        evaluation = {"project": PROJECT, "from": {"job": job}}
        evaluated = service.post("/v1/evaluations", evaluation)["id"]
        assert service.wait_end(evaluated)["state"] == "succeeded"
        fold = {key: value for key, value in spec.items() if key not in ("name", "project")}
        crossed = {"project": PROJECT, "name": "kestrel-folds", "split": {"method": "kfold", "folds": 2},
                   "job": {**fold, "data": {"dataset": "kestrel-points"}}}
        cross_validation = service.post("/v1/cross-validations", crossed)["id"]
        assert cls.wait_cross_validation(cross_validation)["state"] == "succeeded"
        cls.made = {"cross_validation": cross_validation, "cross_validation_spec": crossed, "job": job, "dataset": dataset, "split": split, "checkpoint": checkpoint, "prediction": predicted, "evaluation": evaluated, "evaluation_spec": evaluation,
                    "upload": cls.upload(), "token": cls.make_token("viewer", PROJECT)["id"], "core": "7",
                    "graph": service.get(f"/v1/jobs/{job}/graphs")["items"][0]["hash"], "name": "kestrel-new",
                    "webhook": cls.webhook(), "file": "model.safetensors", "job_spec": spec, "prediction_spec": prediction}
        cls.made["sweep_spec"] = {"project": PROJECT, "name": "kestrel-sweep",
                                  "space": {"train.optimizer.lr": {"type": "choice", "values": [0.01]}},
                                  "algorithm": {"name": "grid"},
                                  "job": {key: value for key, value in spec.items() if key != "name"}}
        cls.made["sweep"] = cls.sweep("finished")
        cls.made["delivery"] = service.post(f"/v1/webhooks/{cls.made['webhook']}/test", {})["id"]
        cls.secrets = {PROJECT, str(service.home), *(cls.made[kind] for kind in (
            "cross_validation", "job", "dataset", "split", "checkpoint", "prediction", "evaluation", "upload", "token", "graph", "webhook", "delivery", "sweep"))}

    @classmethod
    def dataset(cls, name, project):
        made = cls.service.post("/v1/datasets", {"name": name, "project": project, "format": "csv",
                                                     "source": {"path": "points"}, "options": {"group_column": "family"}})
        ready = wait_for(lambda: (found := cls.service.get(f"/v1/datasets/{made['id']}"))["state"] != "checking" and found, name)
        assert ready["state"] == "ready", ready
        return made["id"]

    @classmethod
    def split(cls, dataset):
        made = cls.service.post(f"/v1/datasets/{dataset}/splits", {"method": "fraction", "val_fraction": 0.2, "seed": 1})
        path = f"/v1/datasets/{dataset}/splits/{made['id']}"
        assert wait_for(lambda: (found := cls.service.get(path))["state"] != "making" and found, "a split")["state"] == "ready"
        return made["id"]

    @classmethod
    def wait_cross_validation(cls, one):
        path = f"/v1/cross-validations/{one}"
        return wait_for(lambda: (found := cls.service.get(path))["finished_at"] and found, "a cross-validation")

    @classmethod
    def sweep(cls, state, **changes):
        """A sweep of one trial in this state."""
        made = cls.service.post("/v1/sweeps", {**cls.made["sweep_spec"], **changes})["id"]
        wait_for(lambda: cls.service.get(f"/v1/sweeps/{made}")["state"] == state, "a sweep", 120)
        return made

    @classmethod
    def webhook(cls):
        return cls.service.post("/v1/webhooks", {"url": "https://127.0.0.1:1/", "project": PROJECT, "events": ["job.paused"]})["id"]

    @classmethod
    def upload(cls, content=None):
        """An upload of the editor; with `content`, all of it has come."""
        made = cls.service.call("POST", "/v1/uploads", {"size": 4, "sha256": hashlib.sha256(content or b"more").hexdigest(),
                                                        "filename": "kestrel.csv"}, token=cls.tokens["editor"])
        assert made.status == 201, made.body
        if content:
            sent = cls.service.call("PATCH", f"/v1/uploads/{made.json['id']}", content, {
                "Upload-Offset": "0", "Content-Type": "application/octet-stream"}, token=cls.tokens["editor"])
            assert sent.status == 204, sent.body
        return made.json["id"]

    def fresh(self, kind):
        """The objects, with one of its own for a request that changes or removes it."""
        made = dict(self.made)
        if kind == "job":
            queued = self.service.submit({**copy.deepcopy(made["job_spec"]), "name": "kestrel-gone"})
            self.service.post(f"/v1/jobs/{queued}/kill", {})
            self.service.wait_end(queued)
            made["job"] = queued
        elif kind == "pinned":
            self.service.post(f"/v1/checkpoints/{made['checkpoint']}/pin", {})
        elif kind == "cross_validation":
            made[kind] = self.service.post("/v1/cross-validations", made["cross_validation_spec"])["id"]
            self.service.post(f"/v1/cross-validations/{made[kind]}/cancel", {})
            self.wait_cross_validation(made[kind])
        elif kind == "dataset":
            made["dataset"] = self.dataset(f"kestrel-gone-{next(self.numbers)}", PROJECT)
        elif kind == "split":
            made["split"] = self.split(made["dataset"])
        elif kind == "token":
            made["token"] = self.make_token("viewer", PROJECT)["id"]
        elif kind in ("upload", "full_upload"):
            made["upload"] = self.upload(b"more" if kind == "full_upload" else None)
        elif kind == "webhook":
            made["webhook"] = self.webhook()
        elif kind == "member":
            self.put_member(PROJECT, "guest", "viewer")
        elif kind == "sweep":
            made["sweep"] = self.sweep("finished")
        elif kind == "running_sweep":
            job = copy.deepcopy(made["sweep_spec"]["job"])
            job["limits"] = {"start_after": "2100-01-01T00:00:00Z"}
            made["sweep"] = self.sweep("running", job=job)
        elif kind == "external_sweep":
            body = {key: value for key, value in made["sweep_spec"].items() if key != "job"}
            made["sweep"] = self.service.post("/v1/sweeps", body)["id"]
            self.service.post(f"/v1/sweeps/{made['sweep']}/suggest", {})
        elif kind == "failed_sweep":
            job = copy.deepcopy(made["sweep_spec"]["job"])
            job["train"]["optimizer"] = {"name": "sgd", "lr": 1}
            made["sweep"] = self.sweep("failed", job=job, space={"train.optimizer.lr": {"type": "choice", "values": [1e30]}})
        elif kind == "alive_host":
            self.service.sql("update host set heartbeat_at = clock_timestamp() + interval '1 hour' where name = 'spare-host'")
        elif kind == "name":
            made["name"] = f"kestrel-new-{next(self.numbers)}"
        return made

    @staticmethod
    def path_of(path, made):
        kind = {"cross-validations": "cross_validation", "jobs": "job", "checkpoints": "checkpoint", "predictions": "prediction", "evaluations": "evaluation", "datasets": "dataset",
                "uploads": "upload", "tokens": "token", "webhooks": "webhook", "sweeps": "sweep"}.get((path.split("/") + ["", ""])[2])
        names = {"{id}": made.get(kind), "{sid}": made["split"], "{n}": made["core"], "{hash}": made["graph"],
                 "{name}": made["file"], "{p}": PROJECT, "{h}": "spare-host", "{g}": "lr-search", "{m}": "guest",
                 "{did}": made["delivery"], "{tid}": "0"}
        return re.sub(r"\{\w+\}", lambda found: names[found.group()], path)

    # ---- what came -----------------------------------------------------------
    def check_no_leak(self, caller, answer, request, what):
        """Of the project, an answer to an outsider has only the words that the request had."""
        if caller not in (*STRANGERS, "other"):
            return
        text = answer.body.decode("utf-8", "replace") + str(answer.headers)
        for secret in self.secrets:
            if secret not in request:
                self.assertNotIn(secret, text, what)

    def same_answer(self, caller, method, path, body, headers, named, what):
        """An object of another project answers like one that is not there: `named` is replaced by what names nothing."""
        def without_names(answer, *names):
            text = answer.body.decode()
            for name in names:
                text = text.replace(name, "NAME")
            shown = {key: value for key, value in answer.headers.items() if key not in ("Date", "X-Request-Id", "Content-Length")}
            return answer.status, re.sub(r'"request_id":"[^"]*"', "", text), shown
        unknown = {name: another(name) for name in named}
        swap = lambda text: re.sub("|".join(map(re.escape, named)), lambda found: unknown[found.group()], text)  # noqa: E731
        changed = json.loads(swap(json.dumps(body))) if isinstance(body, (dict, list)) else body
        there = self.ask(caller, method, path, body, headers)
        missing = self.ask(caller, method, swap(path), changed, headers)
        self.assertEqual(without_names(there, *named), without_names(missing, *unknown.values()), what)
        return there

    def forms(self, method, operation):
        """Each documented media type, filter and, of a GET, HEAD: (method, headers, query)."""
        types = {kind for status, answer in operation["responses"].items() if status[0] == "2" for kind in answer.get("content", {})}
        yield method, {}, ""
        for kind in sorted(types):
            yield method, {"Accept": kind}, ""
        if method == "GET":
            yield "HEAD", {}, ""
        for parameter in operation.get("parameters", []):
            if parameter["in"] == "query" and parameter["name"] in ("format", "form", "as"):
                for word in parameter["schema"].get("enum", []):
                    yield method, {}, f"?{parameter['name']}={word}"

    def documented_success(self, operation):
        statuses = {int(status) for status in operation["responses"] if status[0] in "23"}
        return 201 if 201 in statuses else min(statuses)    # 200 beside it is the answer to dry_run

    # ---- the tests -----------------------------------------------------------
    def test_every_endpoint_has_a_row_with_its_role(self):
        documented = {operation["operationId"]: operation for _, _, operation in self.operations}
        self.assertEqual(sorted(documented), sorted(ENDPOINTS), "each endpoint of openapi.json needs a row in ENDPOINTS")
        for name, operation in documented.items():
            self.assertEqual(operation.get("x-required-role"), ENDPOINTS[name].role, name)
            self.assertEqual(operation.get("security") == [], ENDPOINTS[name].role is None, name)

    def test_every_endpoint_answers_every_caller_as_it_must(self):
        before = self.state_of_objects()
        table = {}
        for path, method, operation in self.operations:
            row = ENDPOINTS[operation["operationId"]]
            table[row.name] = {caller: self.check_caller(caller, path, method, operation, row) for caller in CALLERS}
        self.assertEqual(before, self.state_of_objects(), "who was refused has changed nothing")
        self.check_page(self.page_table(table))

    def check_caller(self, caller, path, method, operation, row):
        ok = row.ok or self.documented_success(operation)
        first = None
        for verb, headers, query in self.forms(method, operation):
            with self.subTest(caller=caller, endpoint=row.name, method=verb, headers=headers, query=query):
                required = required_status(row, verb, caller, ok)
                made = self.fresh(row.fresh) if row.fresh and required == ok else self.made
                target = self.path_of(path, made) + query
                body = {"token": self.tokens.get(caller) or self.tokens["project_admin"] if caller == "cookie"
                        else self.tokens[caller] or "none"} if row.about == "login" else row.body and row.body(made)
                answer = self.ask(caller, verb, target, body, {**(row.headers or {}), **headers})
                first = first or answer.status
                self.assertEqual(answer.status, required, answer.body[:300])
                self.check_no_leak(caller, answer, target + str(body), answer.body[:600])
                if required == 404 and verb != "HEAD":
                    named = [made[kind] for kind in ("job", "checkpoint", "prediction", "dataset", "upload", "token")
                             if made[kind] in target] or [PROJECT]
                    self.same_answer(caller, verb, target, body, {**(row.headers or {}), **headers}, named, row.name)
        return first

    def test_lists_and_filters_do_not_show_other_projects(self):
        """Filters by the project, and by its objects: as if these did not exist."""
        named = {"project": PROJECT, "dataset": self.made["dataset"], "job": self.made["job"]}
        asked = 0
        for path, method, operation in self.operations:
            names = {one["name"] for one in operation.get("parameters", []) if one["in"] == "query"} & named.keys()
            if method != "GET" or "{" in path:
                continue
            for name in names:
                with self.subTest(endpoint=operation["operationId"], filter=name):
                    target = f"{path}?{name}={named[name]}"
                    answer = self.same_answer("other", "GET", target, None, None, [named[name]], target)
                    self.check_no_leak("other", answer, target, answer.body[:600])
                    asked += 1
        self.assertGreaterEqual(asked, 6)

    def test_pages_of_a_list_say_nothing_of_what_is_left_out(self):
        """To a token of two projects a list has as many pages of one as it has items, whatever lies between these."""
        token = self.make_token("viewer", OTHER, "wren")["token"]
        self.dataset(f"kestrel-gone-{next(self.numbers)}", PROJECT)
        for path, least in (("/v1/jobs", 1), ("/v1/datasets", 1), ("/v1/checkpoints", 1), ("/v1/queue", 0), ("/v1/predictions", 0)):
            everything = self.service.call("GET", f"{path}?limit=200", token=token).json["items"]
            self.assertGreaterEqual(len(everything), least, path)
            paged, cursor = [], ""
            for _ in everything or [None]:
                page = self.service.call("GET", f"{path}?limit=1{cursor}", token=token).json
                paged += page["items"]
                cursor = f"&cursor={page['next_cursor']}" if page["next_cursor"] else ""
            self.assertEqual((paged, cursor), (everything, ""), path)

    def test_an_object_of_another_project_cannot_be_used_in_a_body(self):
        job = {**points_job(), "project": OTHER, "name": "heron-job"}
        with_data = lambda **data: {**job, "data": {"dataset": "heron-points", **data}}  # noqa: E731
        made = self.made
        split = {"split": {"id": made["split"], "fold": 0}}
        bodies = {
            "data.dataset by id": ("/v1/jobs", with_data(dataset=made["dataset"]), [made["dataset"]]),
            "data.dataset by name": ("/v1/jobs", with_data(dataset="kestrel-points"), ["kestrel-points"]),
            "data.split.id": ("/v1/jobs", with_data(**split), [made["split"]]),
            "model.init.from, a checkpoint": ("/v1/jobs", {**with_data(), "model": {
                **job["model"], "init": {"from": made["checkpoint"]}}}, [made["checkpoint"]]),
            "model.init.from, an upload": ("/v1/jobs", {**with_data(), "model": {
                **job["model"], "init": {"from": made["upload"]}}}, [made["upload"]]),
            "from.job": ("/v1/predictions", {"project": OTHER, "from": {"job": made["job"]},
                                             "data": {"dataset": "heron-points"}}, [made["job"]]),
            "from.checkpoint": ("/v1/predictions", {"project": OTHER, "from": {"checkpoint": made["checkpoint"]},
                                                    "data": {"dataset": "heron-points"}}, [made["checkpoint"]]),
            "from.checkpoint of a job": ("/v1/predictions", {"project": OTHER, "from": {
                "job": self.other_job, "checkpoint": made["checkpoint"]}, "data": {"dataset": "heron-points"}},
                [made["checkpoint"]]),
            "prediction's data.dataset": ("/v1/predictions", {"project": OTHER, "from": {"job": self.other_job},
                                                              "data": {"dataset": made["dataset"]}}, [made["dataset"]]),
            "source.path": ("/v1/datasets", {"name": "heron-stolen", "project": OTHER, "format": "csv",
                                             "source": {"path": "kestrel-set"}}, ["kestrel-set"]),
            "source.upload": ("/v1/datasets", {"name": "heron-stolen", "project": OTHER, "format": "csv",
                                               "source": {"upload": made["upload"]}}, [made["upload"]]),
        }
        for what, (path, body, named) in bodies.items():
            for query in ("", "?dry_run=true"):
                with self.subTest(body=what, query=query):
                    answer = self.same_answer("other", "POST", path + query, body, None, named, what)
                    self.assertEqual(answer.status, 422, answer.body)
                    self.check_no_leak("other", answer, json.dumps(body), answer.body)

    def test_a_root_of_the_project_is_its_own(self):
        made = self.service.post("/v1/datasets", {"name": "kestrel-own", "project": PROJECT, "format": "csv",
                                                  "source": {"path": "kestrel-set"}, "options": {"group_column": "family"}})
        state = wait_for(lambda: (now := self.service.get(f"/v1/datasets/{made['id']}")["state"]) != "checking" and now, "a check")
        self.assertEqual(state, "ready")

    def test_a_stream_ends_with_the_token_that_made_its_own(self):
        maker = self.make_token("admin", PROJECT)
        made = self.service.call("POST", "/v1/tokens", {"name": "made", "projects": [PROJECT]}, token=maker["token"]).json
        job = self.service.submit({**self.made["job_spec"], "name": "kestrel-long", "train": {
            **self.made["job_spec"]["train"], "epochs": 999999}})
        self.addCleanup(self.service.wait_end, job)
        self.addCleanup(self.service.post, f"/v1/jobs/{job}/kill", {})
        self.service.wait_state(job, "running")
        streams = []
        for path in (f"/v1/jobs/{job}/events", "/v1/events"):
            connection = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=60)
            self.addCleanup(connection.close)
            connection.request("GET", path, headers={
                "Accept": "text/event-stream", "Authorization": f"Bearer {made['token']}"})
            streams.append(connection.getresponse())
            self.assertEqual((streams[-1].status, streams[-1].readline()[:6]), (200, b"retry:"))
        self.assertEqual(self.service.call("DELETE", f"/v1/tokens/{maker['id']}").status, 204)
        end = time.monotonic() + 30
        for stream in streams:
            while stream.readline():
                self.assertLess(time.monotonic(), end, "the stream goes on")
        self.assertEqual(self.service.job(job)["state"], "running")

    def test_a_stream_ends_with_a_role(self):
        self.put_member(PROJECT, "leaver", "viewer")
        self.put_member(OTHER, "leaver", "viewer")
        token = self.member_token("leaver", "admin")
        connection = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=60)
        self.addCleanup(connection.close)
        connection.request("GET", "/v1/events", headers={"Accept": "text/event-stream", "Authorization": f"Bearer {token}"})
        stream = connection.getresponse()
        self.assertEqual((stream.status, stream.readline()[:6]), (200, b"retry:"))
        job = f"/v1/jobs/{self.made['job']}"
        self.assertEqual(self.service.call("GET", job, token=token).status, 200)
        self.assertEqual(self.service.call("DELETE", f"/v1/projects/{PROJECT}/members/leaver").status, 204)
        self.assertEqual(self.service.call("GET", job, token=token).status, 404)
        self.assertEqual(self.service.call("GET", f"/v1/jobs/{self.other_job}", token=token).status, 200)
        end = time.monotonic() + 30
        while stream.readline():
            self.assertLess(time.monotonic(), end, "the stream goes on")

    def test_other_addresses_are_the_same_endpoints(self):
        for path, name in ALIASES.items():
            for caller in CALLERS:
                with self.subTest(path=path, caller=caller):
                    answer = self.ask(caller, "GET", path)
                    self.assertEqual(answer.status, required_status(ENDPOINTS[name], "GET", caller, 200))
                    self.check_no_leak(caller, answer, path, answer.body[:300])

    def test_files_and_unknown_paths_know_no_caller(self):
        """The dashboard is the same for everybody; below an unknown path there is nothing for anybody."""
        page = self.ask("nobody", "GET", "/")
        linked = re.findall(r'(?:src|href)="(/?[\w./-]+)"', page.body.decode())
        files = ["/", "/docs/index.html", *sorted({"/" + link.lstrip("/") for link in linked} - {"/"})]
        self.assertGreaterEqual(len(files), 3, page.body)
        for path in files:
            bodies = {self.ask(caller, "GET", path).body for caller in CALLERS}
            self.assertEqual(len(bodies), 1, path)
            self.assertEqual(self.ask("nobody", "GET", path).status, 200, path)
        for path in ("/docs/", "/docs/nothing.html", "/v1", "/v1/nothing", "/admin-token", "/slipwayd.log", "/store",
                     "/..%2fadmin-token", f"/v1/jobs/{self.made['job']}/nothing"):
            answers = {(answer.status, re.sub(rb'"request_id":"[^"]*"', b"", answer.body))
                       for answer in (self.ask(caller, "GET", path) for caller in CALLERS)}
            self.assertEqual(len(answers), 1, path)
            self.assertIn(answers.pop()[0], (400, 404), path)

    def test_a_method_that_is_not_documented_is_none(self):
        for path, methods in self.document["paths"].items():
            # "bulk" in the place of an id is the id of nothing for the methods of a job.
            folder = path.rpartition("/")[0]
            of_an_id = [each for name, each in self.document["paths"].items() if re.fullmatch(re.escape(folder) + r"/\{\w+\}", name)]
            methods = set(methods).union(*of_an_id)
            for method in sorted({"GET", "POST", "PUT", "PATCH", "DELETE"} - {method.upper() for method in methods}):
                answer = self.ask("admin", method, self.path_of(path, self.made))
                self.assertEqual(answer.status, 405, (method, path, answer.body))

    # ---- the page ------------------------------------------------------------
    def state_of_objects(self):
        made = self.made
        paths = [f"/v1/datasets/{made['dataset']}", f"/v1/checkpoints/{made['checkpoint']}", f"/v1/uploads/{made['upload']}",
                 f"/v1/predictions/{made['prediction']}", f"/v1/datasets/{made['dataset']}/splits/{made['split']}"]
        kept = [self.service.get(path) for path in paths]
        tokens = {one["id"]: one.get("revoked_at") for one in self.service.get("/v1/tokens?limit=200")["items"]}
        return kept, tokens[made["token"]], self.service.get(f"/v1/jobs/{made['job']}")["name"]

    def page_table(self, table):
        lines = ["| endpoint | " + " | ".join(name.replace("_", " ") for name in CALLERS) + " |", "|---" * (len(CALLERS) + 1) + "|"]
        for path, method, operation in self.operations:
            got = table[operation["operationId"]]
            lines.append(f"| `{method} {path}` | " + " | ".join(str(got[caller]) for caller in CALLERS) + " |")
        return "\n".join(lines)

    def check_page(self, made):
        before, _, rest = PAGE.read_text().partition(MARKERS[0])
        kept, _, after = rest.partition(MARKERS[1])
        if os.environ.get("SLIPWAY_UPDATE"):
            pathlib.Path(PAGE).write_text(f"{before}{MARKERS[0]}\n{made}\n{MARKERS[1]}{after}")
        else:
            self.assertEqual(kept.strip(), made, "SLIPWAY_UPDATE=1 writes docs/security.md anew")


if __name__ == "__main__":
    unittest.main()
