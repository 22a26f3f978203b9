"""What the operations are called on: a service with long lists, a long job, a large sweep and a cross-validation of many folds."""
import copy
import itertools
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))
from access_objects import HELD, AccessObjects    # noqa: E402
from access_rows import OTHER, PROJECT    # noqa: E402
from service import points_job, wait_for    # noqa: E402

LABELS = {f"{number:02}".ljust(64, "k"): "v" * 200 for number in range(64)}
LONG_NAME = "n" * 200


def labels(count=64):
    return dict(itertools.islice(LABELS.items(), count))


def ids(prefix, first, count):
    return [f"{prefix}_{number:026}" for number in range(first, first + count)]


def large_job(dataset, **changes):
    """As many layers, labels and names as a spec may have."""
    spec = points_job(name=LONG_NAME, project=PROJECT, labels=labels(), **changes)
    return {**spec, "model": {"arch": "layers", "layers": [{"type": "linear", "out_features": 2, "name": f"layer_{number}"}
                                                           for number in range(1000)]},
            "data": {"dataset": dataset, "split": {"val_fraction": 0.2, "seed": 0}}}


def large_space():
    return {f"p{number:03}": {"type": "choice", "values": [f"{value}" * 150 for value in range(4)]} for number in range(128)}


class Stock(AccessObjects):
    """`made` names one object of each kind, as AccessObjects made it or larger; `several` has objects for requests that use theirs up."""

    @classmethod
    def fill(cls, service, scale=1.0):
        cls.service, cls.scale = service, scale
        cls.several = {}
        cls.make_callers()
        cls.make_objects()
        cls.fill_long_job()
        cls.hold()
        cls.fill_jobs()
        cls.fill_lists()
        cls.fill_data()
        cls.fill_sweeps()
        cls.fill_cross_validation()
        cls.fill_output()
        cls.fill_uploads()
        cls.made.update(project=PROJECT, group="g1", member="m1", host="h1", zero=0)
        service.sql("vacuum analyze")    # as the database does by itself within minutes
        return cls

    @classmethod
    def count(cls, most):
        return max(2, int(most * cls.scale))

    @classmethod
    def take(cls, kind):
        return next(cls.several[kind])

    @classmethod
    def keep(cls, kind, values):
        cls.several[kind] = itertools.cycle(values)

    @classmethod
    def copy_rows(cls, table, where, columns, count):
        """Copies of one row, number n from 1 to `count`; `columns` are those that differ."""
        names = [name for name, in cls.service.sql(
            f"select column_name from information_schema.columns where table_name = '{table}' and is_generated = 'NEVER' "
            "and is_identity = 'NO' order by ordinal_position")]
        values = [columns.get(name, f"source.{name}") for name in names]
        cls.service.sql(f"insert into {table} ({', '.join(names)}) select {', '.join(values)} from {table} as source, "
                        f"generate_series(1, {count}) as n where {where}")

    @classmethod
    def fill_long_job(cls):
        """A job that has run: curves, events, logs, checkpoints, reports and graphs."""
        spec = copy.deepcopy(cls.made["job_spec"])
        spec.update(name="kestrel-long", train={**spec["train"], "epochs": cls.count(400)}, labels=labels(),
                    monitor={"sinks": ["csv", "tensorboard"], "log_every_steps": 1, "metrics_report": "epoch"},
                    checkpoint={"every_epochs": 5, "keep_last": 100})
        long = cls.service.submit(spec)
        ended = cls.service.wait_end(long)
        assert ended["state"] == "succeeded", ended["reason"]
        cls.made.update(short_job=cls.made["job"], job=long, graph=cls.service.get(f"/v1/jobs/{long}/graphs")["items"][0]["hash"],
                        checkpoint=cls.service.get(f"/v1/jobs/{long}/checkpoints")["items"][0]["id"])

    @classmethod
    def hold(cls):
        """From here on nothing starts."""
        host = cls.service.get("/v1/hosts")["items"][0]["name"]
        cls.service.post(f"/v1/hosts/{host}/drain", {"reason": "a measurement"})

    @classmethod
    def fill_jobs(cls):
        service, count = cls.service, cls.count(10000)
        for number in range(60):    # what the other client lists
            service.submit(points_job(name=f"heron-{number}", project=OTHER, data={"dataset": "heron-points"}, limits=HELD))
        waits = service.submit(large_job(cls.made["dataset"]))
        first = f"job_{0:026}"[:-9]
        cls.copy_rows("job", f"id = '{waits}'", {"id": f"'{first}' || lpad(n::text, 9, '0')", "created_at": "source.created_at - n * interval '1 s'",
                                                 "queue_class": "(array['urgent', 'high', 'normal', 'low', 'idle'])[1 + n % 5]",
                                                 "not_before": "case when n % 2 = 0 then '2100-01-01'::timestamptz end"}, count)
        parts = {"queued": 0, "cancelled": count // 4, "paused": count // 2, "failed": count * 5 // 8}
        for state, begin in list(parts.items())[1:]:
            end = {"cancelled": count // 2, "paused": count * 5 // 8, "failed": count * 3 // 4}[state]
            service.sql(f"update job set state = '{state}', reason_code = 'by_request', reason_message = 'a measurement' "
                        f"where id like '{first}%' and right(id, 9)::int between {begin} and {end - 1}")
            parts[state] = ids("job", begin, end - begin)
        for kind, state in (("ended", "cancelled"), ("paused", "paused"), ("failed", "failed")):
            cls.keep(kind, parts[state])
        cls.keep("queued", ids("job", 1, count // 4 - 1))
        cls.made.update(waiting_job=waits, listed_jobs=ids("job", count * 3 // 4 + 1, min(100, count // 8)))
        each = min(1000, count // 20)
        cls.keep("bulk", [ids("job", count * 7 // 8 + first, each) for first in (0, each)])

    @classmethod
    def fill_lists(cls):
        service, made = cls.service, cls.made
        service.sql(f"insert into decision (job_id, project, kind, code, message) select '{made['waiting_job']}', '{PROJECT}', 'wait', "
                    f"'no_capacity', repeat('w', 300) from generate_series(1, {cls.count(50000)})")
        service.sql("insert into audit (token_id, action, object, request_id, detail) select 'tok_bench', 'create_job', 'job_x', 'r', '{}' "
                    f"from generate_series(1, {cls.count(50000)})")
        service.sql(f"insert into member (name, created_by) select 'm' || n, 'tok_bench' from generate_series(1, {cls.count(1000)}) as n")
        service.sql(f"insert into membership (project, member, role, changed_by) select '{PROJECT}', 'm' || n, 'viewer', 'tok_bench' "
                    f"from generate_series(1, {cls.count(1000)}) as n")
        service.sql(f"insert into job_group (project, name, jobs_max) select '{PROJECT}', 'g' || n, 5 from generate_series(1, {cls.count(1000)}) as n")
        service.sql(f"insert into host (name, cores, drained_at) select 'h' || n, 8, now() from generate_series(1, {cls.count(255)}) as n")
        cls.copy_rows("webhook", f"id = '{made['webhook']}'", {"id": "'whk_' || lpad(n::text, 26, '0')", "enabled": "false"}, 19)
        cls.copy_rows("webhook_delivery", f"id = '{made['delivery']}'", {
            "id": "'dlv_' || lpad(n::text, 26, '0')", "state": "'failed'", "ended_at": "now()"}, cls.count(5000))
        cls.keep("webhook", ids("whk", 1, 15))
        cls.copy_rows("upload", f"id = '{made['upload']}'", {"id": "'upl_' || lpad(n::text, 26, '0')"}, 50)
        cls.keep("upload", ids("upl", 1, 50))

    @classmethod
    def fill_data(cls):
        made = cls.made
        folder = cls.service.data / "wide"
        folder.mkdir()
        rows = cls.count(3000)
        (folder / "wide.csv").write_text("\n".join([",".join(["label", *(f"column_{n}" for n in range(300))]), *(
            ",".join([f"{row % 300}".rjust(100, "c"), *(f"{row * n % 97}" for n in range(300))]) for row in range(rows))]))
        wide = cls.service.post("/v1/datasets", {"name": "kestrel-wide", "project": PROJECT, "format": "csv", "source": {"path": "wide"}})["id"]
        ready = wait_for(lambda: (found := cls.service.get(f"/v1/datasets/{wide}"))["state"] != "checking" and found, "a wide dataset")
        assert ready["state"] == "ready", ready
        cls.copy_rows("dataset", f"id = '{wide}'", {"id": "'ds_' || lpad(n::text, 26, '0')", "name": "'copy-' || n"}, 300)
        made["wide"] = wide
        cls.keep("dataset", ids("ds", 1, 80))
        many = cls.service.post(f"/v1/datasets/{wide}/splits", {"method": "kfold", "folds": cls.count(1000), "seed": 1})["id"]
        path = f"/v1/datasets/{wide}/splits/{many}"
        wait_for(lambda: cls.service.get(path)["state"] == "ready", "a split of many folds")
        cls.copy_rows("split", f"id = '{many}'", {"id": "'spl_' || lpad(n::text, 26, '0')"}, 300)
        made["wide_split"] = many
        cls.keep("split", ids("spl", 1, 80))

    @classmethod
    def fill_sweeps(cls):
        service, made, count = cls.service, cls.made, cls.count(1000)
        asked = {"project": PROJECT, "name": LONG_NAME, "labels": labels(), "space": large_space(), "algorithm": {"name": "random"},
                 "objective": {"metric": "cost", "mode": "min"}, "limits": {"max_trials": 100000, "max_concurrent": 1000}}
        large = service.post("/v1/sweeps", asked)["id"]
        done = 0
        while done < count:
            for trial in service.post(f"/v1/sweeps/{large}/suggest", {"count": min(100, count - done)})["trials"]:
                told = service.call("POST", f"/v1/sweeps/{large}/trials/{trial['number']}/observe",
                                    {"time": 1, "value": trial["number"] % 17 / 17, "end": "completed"})
                assert told.status == 200, told.body
                done += 1
        learning = {**asked, "algorithm": {"name": "tpe", "candidates": 64}}
        made.update(large_sweep=large, small_sweep=made["sweep"],
                    tpe_sweep=service.post("/v1/sweeps", {**learning, "warm_start": {"sweeps": [large]}})["id"])
        made["trial"] = service.post(f"/v1/sweeps/{made['tpe_sweep']}/suggest", {"count": 1})["trials"][0]["number"]
        cls.copy_rows("sweep", f"id = '{made['small_sweep']}'", {"id": "'swp_' || lpad(n::text, 26, '0')"}, 300)
        cls.keep("sweep", ids("swp", 1, 80))
        job = copy.deepcopy(made["sweep_spec"]["job"])
        job["limits"] = {"max_restarts": 0}
        jobs = {**made["sweep_spec"], "name": "kestrel-jobs", "algorithm": {"name": "random"}, "job": job,
                "space": {"train.optimizer.lr": {"type": "log_uniform", "min": 1e-5, "max": 1e-1}},
                "limits": {"max_trials": count, "max_concurrent": min(count, 1000), "max_failures": 100000}}
        made["job_sweep"] = service.post("/v1/sweeps", jobs)["id"]
        of_jobs = f"where parent_id = '{made['job_sweep']}'"
        wait_for(lambda: int(service.sql(f"select count(*) from job {of_jobs}")[0][0]) == count, "the trials of a sweep", 300, 0.5)
        service.sql(f"update job set state = 'failed', reason_code = 'out_of_memory', reason_message = 'a measurement' {of_jobs}")
        failed = f"select failed from sweep where id = '{made['job_sweep']}'"
        wait_for(lambda: int(service.sql(failed)[0][0]) == count, "a sweep whose trials have failed", 300, 0.5)

    @classmethod
    def fill_cross_validation(cls):
        service, made = cls.service, cls.made
        spec = {**made["cross_validation_spec"], "name": LONG_NAME, "labels": labels(), "split": {"method": "kfold", "folds": cls.count(1000)},
                "parallel": {"folds": 1000}, "job": {**made["cross_validation_spec"]["job"], "data": {"dataset": made["wide"]}}}
        made["many_folds_spec"] = spec
        many = service.post("/v1/cross-validations", spec)["id"]
        of_jobs = f"where parent_id = '{many}'"
        wait_for(lambda: int(service.sql(f"select count(*) from job {of_jobs}")[0][0]) == cls.count(1000), "the folds of a cross-validation", 300, 0.5)
        service.sql(f"update job set state = 'failed', reason_code = 'out_of_memory', reason_message = 'a measurement' {of_jobs}")
        cls.wait_cross_validation(many)
        small = made["cross_validation"]
        result, = service.sql(f"select result from cross_validation_fold where cross_validation_id = '{small}' and fold = 0")
        cls.copy_rows("cross_validation", f"id = '{many}'", {"id": "'cv_' || lpad(n::text, 26, '0')"}, 300)
        summarised = f"cv_{1:026}"
        cls.copy_rows("cross_validation_fold", f"cross_validation_id = '{many}' and n = 1", {
            "cross_validation_id": f"'{summarised}'", "state": "'succeeded'", "result": f"'{result[0]}'::jsonb"}, 1)
        cls.copy_rows("cross_validation_event", f"cross_validation_id = '{many}' and n = 1", {"cross_validation_id": f"'{summarised}'"}, 1)
        made.update(failed_folds=many, many_folds=summarised)
        cls.keep("cross_validation", ids("cv", 2, 80))

    @classmethod
    def fill_output(cls):
        """More curves, events, checkpoints and attempts than a job has that runs for a few seconds."""
        service, made = cls.service, cls.made
        job, names = made["job"], cls.count(1000)
        service.sql(f"insert into metric_chunk select job_id, 'copy_' || n, first_point, points, step_first, step_last, attempt, written_at, "
                    f"summary, data from metric_chunk, generate_series(1, {names}) as n where job_id = '{job}' and name = 'loss'")
        service.sql(f"insert into metric_chunk select id, name, first_point, points, step_first, step_last, attempt, written_at, summary, data "
                    f"from metric_chunk, unnest(array{made['listed_jobs']}) as id where job_id = '{job}' and name not like 'copy%'")
        for table, those in (("job_metric", "finished_at is not null"), ("live_job_metric", "state = 'paused'")):
            service.sql(f"insert into {table} select id, 'loss', 1, 0, 1 from job where project = '{PROJECT}' and {those} on conflict do nothing")
        last = int(service.sql(f"select event_seq from job where id = '{job}'")[0][0])
        lines, text = cls.count(100000), json.dumps({"level": "info", "message": "m" * 150})
        service.sql(f"insert into job_event (job_id, seq, type, body) select '{job}', {last} + n, 'log', '{text}'::json "
                    f"from generate_series(1, {lines}) as n")
        service.sql(f"update job set event_seq = {last + lines} where id = '{job}'")
        cls.copy_rows("checkpoint", f"id = '{made['checkpoint']}'", {"id": "'ckp_' || lpad(n::text, 26, '0')", "name": "'copy_' || n"},
                      cls.count(2000))
        cls.keep("checkpoint", ids("ckp", 1, cls.count(2000)))

    @classmethod
    def fill_uploads(cls):
        """One that nothing has come of, and one whose checksum is wrong: complete_upload reads all of it each time."""
        def begin(size):
            made = cls.service.call("POST", "/v1/uploads", {"size": size, "filename": "large.csv", "sha256": "0" * 64}, token=cls.tokens["editor"])
            assert made.status == 201, made.body
            return made.json["id"]
        content = bytes(cls.count(256) << 20)
        cls.made.update(large_upload=begin(1 << 30), full_upload=begin(len(content)))
        sent = cls.service.call("PATCH", f"/v1/uploads/{cls.made['full_upload']}", content, {
            "Upload-Offset": "0", "Content-Type": "application/octet-stream"}, token=cls.tokens["editor"])
        assert sent.status == 204, sent.body
