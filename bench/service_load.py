#!/usr/bin/env python3
"""What a submission costs, two builds in turns: POST /v1/jobs a second with 1 and 16 clients, and the time to the start.

Each round starts a fresh service of each build, in alternating order, on the same small dataset. Clients are connections of
bench_http_load; what they post is held until 2099, so that nothing but the submission runs. Then short jobs are
submitted one after the other: milliseconds from the job's row to its attempt's process, and to the job's end, by the
database's clock. `ratio` is other / first; above 1 the other build is better for rates and worse for times.
`--queued` puts so many jobs of another project in front of the queue before anything is measured: half of them held until
2099, half ready for a pool whose hosts are gone. A build compared with itself shows what a long queue costs.

usage: bench/service_load.py --bin build/release/bin [--other BIN] [--options "--workers 8"] [--other-options ""]
                             [--queued 0] [--other-queued 0] [--rounds 3] [--seconds 5] [--jobs 200] [--load BENCH_HTTP_LOAD]
"""
import argparse
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))
CLIENTS = (1, 16)
READY = json.dumps({"queue": {"pool": "elsewhere"}})
AT_ONCE = 20000    # jobs of a statement, which is one change of the counts


def held_job(**changes):
    import service as programs
    return programs.points_job(limits={"start_after": "2099-01-01T00:00:00Z"}, **changes)


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def post_load(service, body, clients, arguments):
    """What bench_http_load measures: each client sends its next request when it has its answer."""
    body_file, token_file = service.home / "post_load.json", service.home / "post_load.token"
    body_file.write_text(body)
    token_file.write_text(service.token)
    ran = subprocess.run([arguments.load, "--port", str(service.port), "--method", "POST", "--path", "/v1/jobs",
                          "--body", body_file, "--token-file", token_file, "--connections", str(clients),
                          "--seconds", str(arguments.seconds), "--warm-up", str(min(1, arguments.seconds))],
                         capture_output=True, text=True)
    if not ran.stdout:
        raise SystemExit(f"{arguments.load}: {ran.stderr.strip()}")
    load = json.loads(ran.stdout)
    if set(load["statuses"]) != {"201"} or load["errors"]:
        raise SystemExit(f"POST /v1/jobs was answered with {load['statuses']} {load['errors']}; "
                         "raise the service's limits with --options")
    return {f"post_per_s_{clients}": load["answered_per_s"], f"post_p99_ms_{clients}": load["p99_ms"]}


def start_times(service, spec, jobs):
    ids = []
    for _ in range(jobs):
        ids.append(service.submit(spec))
        assert service.wait_end(ids[-1])["state"] == "succeeded"
    rows = service.sql(f"""
        select 1000 * extract(epoch from attempt.started_at - job.created_at),
               1000 * extract(epoch from job.finished_at - job.created_at)
        from job join attempt on attempt.job_id = job.id
        where job.id in ({", ".join(f"'{one}'" for one in ids)})""")
    starts, ends = ([float(row[column]) for row in rows] for column in (0, 1))
    return {"submit_to_start_p50_ms": statistics.median(starts), "submit_to_start_p99_ms": percentile(starts, 0.99),
            "submit_to_start_longest_ms": max(starts),
            "submit_to_end_p50_ms": statistics.median(ends)}


def fill(service, jobs):
    """Jobs in front of the queue, held and for a pool without hosts in turns: copies of one that was submitted."""
    if not jobs:
        return
    template = service.submit(held_job())
    [[columns]] = service.sql("""
        select string_agg(quote_ident(column_name), ', ') from information_schema.columns
        where table_schema = 'public' and table_name = 'job' and is_generated = 'NEVER'""")
    for first in range(1, jobs + 1, AT_ONCE):
        service.sql(f"""
            insert into job ({columns})
            select {", ".join("copy." + column.strip() for column in columns.split(","))}
            from job as template, generate_series({first}, {min(first + AT_ONCE - 1, jobs)}) as number,
                 jsonb_populate_record(template, jsonb_build_object('id', 'job_' || lpad(number::text, 26, '0'), 'project', 'others') ||
                    case when number % 2 = 0 then '{{}}' else jsonb_build_object('not_before', null, 'spec', template.spec || '{READY}') end
                 ) as copy
            where template.id = '{template}'""")
    service.sql("vacuum analyze")    # as the database does by itself within minutes


def still_queued(service):
    [[waiting]] = service.sql("select count(*) from queue join job on job.id = job_id where job.project = 'others'")
    return int(waiting)


def measure(bin_folder, options, queued, arguments):
    import service as programs
    programs.BIN = pathlib.Path(bin_folder).resolve()
    service = programs.Service(*shlex.split(options))
    try:
        programs.write_points(service.data / "points")
        service.start()
        service.dataset("points", "csv", {"group_column": "family"})
        fill(service, queued)
        short = programs.points_job(train={"steps": 5})
        figures = start_times(service, short, arguments.jobs)
        for clients in CLIENTS:
            figures.update(post_load(service, json.dumps(held_job()), clients, arguments))
        assert still_queued(service) == queued, f"{still_queued(service)} of {queued} jobs are still in the queue"
        return figures
    finally:
        service.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"), help="programs of the first build")
    parser.add_argument("--other", default="", help="programs of the build to compare with")
    parser.add_argument("--options", default="", help="options of the first build's slipwayd")
    parser.add_argument("--other-options", default="", help="options of the other build's slipwayd")
    parser.add_argument("--queued", type=int, default=0, help="jobs in front of the first build's queue")
    parser.add_argument("--other-queued", type=int, default=0, help="jobs in front of the other build's queue")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5, help="of each load")
    parser.add_argument("--jobs", type=int, default=200, help="short jobs of a round")
    parser.add_argument("--load", default=str(ROOT / "build/release/bin/bench_http_load"),
                        help="program that posts: cmake --build build/release --target bench_http_load")
    arguments = parser.parse_args()
    if not pathlib.Path(arguments.load).exists():
        parser.error(f"--load: there is no {arguments.load}; cmake --build build/release --target bench_http_load")
    sides = {"first": (arguments.bin, arguments.options, arguments.queued)}
    if arguments.other:
        sides["other"] = (arguments.other, arguments.other_options, arguments.other_queued)
    found = {side: [] for side in sides}
    for number in range(arguments.rounds):
        for side in sorted(sides, reverse=number % 2 == 1):
            found[side].append(measure(*sides[side], arguments))
            print(side, json.dumps({name: round(value, 1) for name, value in found[side][-1].items()}), file=sys.stderr)
    medians = {side: {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}
               for side, rounds in found.items()}
    answer = {side: {name: round(value, 1) for name, value in figures.items()} for side, figures in medians.items()}
    if arguments.other:
        answer["ratio"] = {name: round(medians["other"][name] / value, 3) for name, value in medians["first"].items()}
    print(json.dumps(answer, indent=2))


if __name__ == "__main__":
    main()
