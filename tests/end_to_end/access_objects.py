"""What test_access_matrix asks for, and the credentials it asks with."""
import copy
import hashlib
import itertools
import re

from access_rows import OTHER, PROJECT
from service import points_job, wait_for

HELD = {"start_after": "2100-01-01T00:00:00Z"}    # it waits until somebody ends it


class AccessObjects:
    """Callers with their tokens, and one object of each kind in PROJECT, made by `make_callers` and `make_objects`."""
    numbers = itertools.count()

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
            queued = self.service.submit({**copy.deepcopy(made["job_spec"]), "name": "kestrel-gone", "limits": HELD})
            self.service.post(f"/v1/jobs/{queued}/kill", {})
            self.service.wait_end(queued)
            made["job"] = queued
        elif kind == "pinned":
            self.service.post(f"/v1/checkpoints/{made['checkpoint']}/pin", {})
        elif kind == "cross_validation":
            held = {**made["cross_validation_spec"], "job": {**made["cross_validation_spec"]["job"], "limits": HELD}}
            made[kind] = self.service.post("/v1/cross-validations", held)["id"]
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
            job["limits"] = HELD
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
            self.service.sql("update host set heartbeat_at = clock_timestamp() + interval '5 s' where name = 'spare-host'")
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
