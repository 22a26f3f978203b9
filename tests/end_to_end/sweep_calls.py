"""Sweeps of small jobs, and the requests that their tests send."""
from service import ENDLESS_EPOCHS, points_job, wait_for

ENDS = {"finished", "stopped", "failed"}


def sweep_of(space, algorithm, job=None, **changes):
    template = job or points_job()
    template.pop("name", None)
    return {"name": "points", "space": space, "algorithm": algorithm, "job": template, **changes}


def quick_job(epochs=1, **changes):
    return points_job(train={"epochs": epochs, "batch_size_per_core": 32, "optimizer": {"name": "adam", "lr": 0.01}}, **changes)


LONG_EPOCHS = ENDLESS_EPOCHS // 3    # until somebody ends it; hyperband's tests need three times as many
RATES = {"train.optimizer.lr": {"type": "log_uniform", "min": 1e-4, "max": 1e-1}}


def fold_sweep(algorithm=None, folds=4, split=None, **changes):
    """A sweep of cross-validations of the points."""
    body = sweep_of({"train.optimizer.lr": {"type": "log_uniform", "min": 1e-5, "max": 0.1}}, algorithm or {"name": "random"},
                    quick_job(2), **changes)
    job = body.pop("job")
    job["data"].pop("split", None)
    body["cross_validation"] = {"split": split or {"method": "stratified_kfold", "folds": folds, "seed": 1}, "job": job}
    return body


class SweepCalls:
    """Requests to `service`, the service of a class of tests."""

    def create(self, body):
        return self.service.post("/v1/sweeps", body)["id"]

    def sweep(self, sweep_id):
        return self.service.get(f"/v1/sweeps/{sweep_id}")

    def wait_end(self, sweep_id, limit_s=240, pause_s=0.1):
        def ended():
            answer = self.service.call("GET", f"/v1/sweeps/{sweep_id}")
            return answer.status == 200 and answer.json["state"] in ENDS and answer.json
        return wait_for(ended, f"{sweep_id} to end", limit_s, pause_s)

    def trials(self, sweep_id, query=""):
        return self.service.get(f"/v1/sweeps/{sweep_id}/trials?limit=200{query}")["items"]

    def log(self, sweep_id, what="events"):
        lines, after = [], 0
        while True:
            page = self.service.get(f"/v1/sweeps/{sweep_id}/{what}?limit=200&after={after}")
            lines += page["items"]
            if page["next_cursor"] is None:
                return lines
            after = page["next_cursor"]

    def decisions(self, sweep_id):
        return [(one["action"], one["trial"], one["reason"]) for one in self.log(sweep_id, "decisions")]
