#!/usr/bin/env python3
"""What the pages of the dashboard weigh and how long they take: the real service and Debian's Chromium, which measure.mjs drives.

Prints a line for each figure with its goal, and at the end all of them as one line of JSON. Parts:
  views     compressed bytes of the first view of each page with an empty cache, and the time until it is painted with the CPU slowed four times
  job       bytes of the page of a job of 10,000 steps
  idle      bytes of an hour of a list on which nothing happens, from --idle-s seconds of it
  list      time of an action (filter and order) on a list of --jobs jobs, until its rows are painted
  compare   time from the answer with the curves of 100 runs of 10,000 steps until they are painted; the answers are made by the script
  long      a curve of --points points: the least and the greatest value that the page has, beside those of all points
  parallel  frames a second while 5,000 trials are brushed; their answers are made by the script
  lighthouse  Lighthouse's marks for accessibility and best practices of every page
  live      time from the step of a metric until it is painted, at about 1,000 points a second, for --live-s seconds
Needs `npm ci` in web/.

usage: bench/dashboard/dashboard.py [--bin build/release/bin] [--only PART ...] [--pages PAGE ...] [--jobs N] [--points N] [--idle-s N] [--live-s N]
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))

PARTS = ("views", "job", "idle", "list", "compare", "long", "parallel", "lighthouse", "live")
# name, what is at most or at least allowed, in words
GOALS = (
    ("first_view_bytes_max", "at most", 120_000),
    ("first_view_slowed_ms_max", "at most", 1000),
    ("job_page_bytes", "at most", 150_000),
    ("idle_list_bytes_per_hour", "at most", 1_000_000),
    ("list_action_ms_median", "at most", 200),
    ("list_action_ms_max", "at most", 200),
    ("compare_paint_ms_median", "at most", 300),
    ("long_curve_extremes_lost", "at most", 0),
    ("brushed_frames_per_s", "at least", 30),
    ("lighthouse_accessibility_min", "at least", 100),
    ("lighthouse_best_practices_min", "at least", 100),
    ("live_lag_ms_p99", "at most", 300),
)
# Copies of a job that has ended, as states that nothing waits for: a request for each would take minutes.
FILL = """insert into job (id, name, project, kind, spec, effective, labels, queue_class, restarts_max, created_by, dataset_id, cores, not_before)
select 'job_' || lpad(n::text, 26, '0'), 'held-' || n, project, kind, spec, effective, jsonb_build_object('team', 't' || n % 7), queue_class, restarts_max,
       created_by, dataset_id, cores, '2100-01-01'::timestamptz
from job, generate_series(1, {count}) as n where id = '{job}'"""
LONG_RUN = {"epochs": 84, "batch_size_per_core": 4, "optimizer": {"name": "adam", "lr": 0.001}}    # 10,080 steps


def steps_job(points_job, name, steps, **changes):
    return points_job(name=name, train={"steps": steps, "batch_size_per_core": 1, "optimizer": {"name": "sgd", "lr": 0.001}}, **changes)


def live_job(points_job):
    """A job of about 1,000 points a second; how many there were is measured."""
    return points_job(name="live", model={"width": 512, "depth": 3},
                      train={"epochs": 100_000, "batch_size_per_core": 64, "optimizer": {"name": "adam", "lr": 0.0001}})


AUDITED = 100
POINTS_READ = 100_000    # of one request: the service gives at most 200,000, of more only summaries


def extremes(service, job, steps):
    """Least and greatest train_loss of all points; each is read."""
    values = []
    for first in range(0, steps + 1, POINTS_READ):
        series = service.get(f"/v1/jobs/{job}/metrics?names=train_loss&step_min={first}&step_max={first + POINTS_READ - 1}")["series"]
        values += [point["value"] for one in series for point in one["points"]]
    assert len(values) == steps, f"{len(values)} of {steps} points"
    return {"points": len(values), "min": min(values), "max": max(values)}


def prepare(service, options):
    """What the parts of the measurement look at."""
    from service import points_job, write_points

    write_points(service.data / "points")
    service.start()
    data = {"url": f"http://127.0.0.1:{service.port}/", "token": service.token, "parts": options.only, "idle_s": options.idle_s,
            "live_s": options.live_s, "pages": options.pages}
    data["dataset"] = service.dataset("points", "csv", {"group_column": "family"})["id"]
    data["job"] = service.submit(points_job(name="done"))
    service.wait_end(data["job"])
    if "views" in options.only:
        for number in range(AUDITED):    # a page of the audit log is full
            service.call("PUT", "/v1/projects/default/groups/audited", {"limit": number + 1})
    if "job" in options.only:
        data["long_run"] = service.submit(points_job(name="long", train=LONG_RUN))
        service.wait_end(data["long_run"], 600)
    if "long" in options.only:
        data["many_points"] = service.submit(steps_job(points_job, "many-points", options.points))
        service.wait_end(data["many_points"], 3000)
        data["extremes"] = extremes(service, data["many_points"], options.points)
    if "parallel" in options.only:
        data["sweep"] = service.post("/v1/sweeps", {
            "name": "two", "algorithm": {"name": "random"}, "objective": {"metric": "val_loss", "mode": "min"}, "limits": {"max_trials": 2},
            "space": {"train.optimizer.lr": {"type": "log_uniform", "min": 1e-4, "max": 1e-1}},
            "job": {key: value for key, value in points_job(train={"epochs": 1}).items() if key != "name"}})["id"]
    if "list" in options.only:
        service.sql(FILL.format(count=options.jobs, job=data["job"]))
        service.sql("analyze")
    return data, live_job(points_job)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--pages", nargs="+", help="of views: all, if none is named")
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--idle-s", type=int, default=60)
    parser.add_argument("--live-s", type=int, default=20)
    options = parser.parse_args()
    os.environ["SLIPWAY_BIN_DIR"] = options.bin
    from service import Service

    service = Service()
    try:
        data, live = prepare(service, options)
        if "live" in options.only:
            data["live"] = service.submit(live)
            service.wait_state(data["live"], "running")
        ran = subprocess.run(["node", ROOT / "bench/dashboard/measure.mjs"], input=json.dumps(data), text=True, check=True, cwd=ROOT / "web",
                             stdout=subprocess.PIPE)
    finally:
        service.close()
    figures = json.loads(ran.stdout)["figures"]
    for name, direction, bound in GOALS:
        if name in figures:
            holds = figures[name] <= bound if direction == "at most" else figures[name] >= bound
            print(f"{name}: {figures[name]:,.6g}, goal {direction} {bound:,}{'' if holds else ': NOT HELD'}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
