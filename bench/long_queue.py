#!/usr/bin/env python3
"""What a long queue costs those who ask about it: N queued jobs, half of them held until 2030, against short ones.

The host is drained, so that nothing starts. Prints one JSON line: jobs, and for queues of one `page`, of 2,000 jobs (`bounded`: a position
is counted up to 1,000), of all of them (`long`), and for the `ratio` of long over bounded, the median of --rounds answers in milliseconds of /v1/queue/stats, the first page of /v1/queue, /explain and the position of the last
job, and of /v1/queue/simulate with one host more.

usage: bench/long_queue.py [--jobs 1000000] [--rounds 20] [--bin build/release/bin]
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))
AT_ONCE = 20000
BOUNDED = 2000
PAGE = 50    # jobs that /v1/queue lists at once, unless asked for more

# By one statement: a request for each would take an hour.
FILL = """insert into job (id, name, project, kind, spec, queue_class, restarts_max, created_by, dataset_id, cores, not_before)
select 'job_' || lpad(n::text, 26, '0'), 'many', 'default', 'train', '{{}}',
       (array['urgent', 'high', 'normal', 'low', 'idle'])[1 + n % 5], 3, 'tok_bench', '{dataset}', 1 + n % 8,
       case when n % 2 = 0 then '2030-01-01'::timestamptz end
from generate_series({first}, {last}) as n"""


def times_of(service, job, rounds):
    asked = {"stats": ("GET", "/v1/queue/stats", None), "page": ("GET", "/v1/queue", None),
             "explain": ("GET", f"/v1/jobs/{job}/explain", None), "job": ("GET", f"/v1/jobs/{job}", None),
             "simulate": ("POST", "/v1/queue/simulate", {"more_hosts": 1})}
    found = {}
    for name, (method, path, body) in asked.items():
        times = []
        for _ in range(rounds):
            began = time.monotonic()
            answer = service.call(method, path, body)
            assert answer.status == 200, answer.body
            times.append((time.monotonic() - began) * 1000)
        found[f"{name}_ms"] = round(statistics.median(times), 2)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1000000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    arguments = parser.parse_args()
    os.environ["SLIPWAY_BIN_DIR"] = str(pathlib.Path(arguments.bin).resolve())
    from service import Service, points_job, write_points

    service = Service()
    try:
        write_points(service.data / "points", rows=20)
        service.options = ("--queued-jobs-max", "0")
        service.start()
        dataset = service.dataset("points", "csv", {"group_column": "family"})
        host = service.get("/v1/hosts")["items"][0]["name"]
        service.post(f"/v1/hosts/{host}/drain", {"reason": "a measurement"})
        for _ in range(PAGE):
            last = service.submit(points_job())
        assert len(service.get("/v1/queue")["items"]) == PAGE
        page = times_of(service, last, arguments.rounds)
        bounded = {}
        for first in [1, *range(BOUNDED + 1, arguments.jobs + 1, AT_ONCE)]:
            at_once = BOUNDED if first == 1 else AT_ONCE
            service.sql(FILL.format(dataset=dataset["id"], first=first, last=min(first + at_once - 1, arguments.jobs)))
            if not bounded:
                service.sql("vacuum analyze")    # as the database does by itself within minutes
                bounded = times_of(service, last, arguments.rounds)
        service.sql("vacuum analyze")
        counted = service.get("/v1/queue/stats")["jobs"]
        assert counted == arguments.jobs + PAGE, counted
        long = times_of(service, last, arguments.rounds)
    finally:
        service.close()
    ratio = {name: round(long[name] / bounded[name], 2) for name in bounded}
    print(json.dumps({"jobs": arguments.jobs, "page": page, "bounded": bounded, "long": long, "ratio": ratio}))


if __name__ == "__main__":
    main()
