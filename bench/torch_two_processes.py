#!/usr/bin/env python3
"""A training step of torch_workloads.py in two processes of one thread and one CPU each, by DistributedDataParallel over Gloo on
loopback, as `bench_slice_steps` measures ours. Prints one line of JSON: medians of the slower process, and both processes' CPU time.

usage: bench/torch_two_processes.py WORKLOAD [--precision f32|bf16] [--repeats R] [--batch B]
`--batch` is that of both processes together. Buckets have DistributedDataParallel's 25 MB and are the gradients' own memory.
"""
import argparse
import json
import os
import resource
import statistics
import sys
import tempfile
import time

import torch
import torch.distributed as distributed
from torch.nn.parallel import DistributedDataParallel

import torch_workloads

PROCESSES, WARM_UP = 2, 2


def steps_of(rank, cpu, folder, arguments):
    """Milliseconds of each step and CPU time a step, of this process."""
    os.sched_setaffinity(0, {cpu})
    torch.set_num_threads(1)
    torch.manual_seed(1)
    distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=PROCESSES)
    network, x, loss_of = torch_workloads.WORKLOADS[arguments.workload][1](arguments.batch // PROCESSES)
    if x.dim() == 4:
        network, x = (part.to(memory_format=torch.channels_last) for part in (network, x))
    network = DistributedDataParallel(network, gradient_as_bucket_view=True)
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-4, weight_decay=0.01)
    times = []
    for step in range(WARM_UP + arguments.repeats):
        if step == WARM_UP:
            before = resource.getrusage(resource.RUSAGE_SELF)
        distributed.barrier()
        begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=False)    # the buckets' memory
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=arguments.precision == "bf16"):
            logits = network(x)
        loss_of(logits.float()).backward()
        optimizer.step()
        times.append((time.perf_counter() - begin) * 1e3)
    after = resource.getrusage(resource.RUSAGE_SELF)
    distributed.barrier()
    cpu_ms = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / arguments.repeats * 1e3
    return {"times": times[WARM_UP:], "cpu_ms": cpu_ms}


def both(arguments, cpus):
    """What each process says: the second one is a child, which writes it to a file."""
    with tempfile.TemporaryDirectory() as folder:
        other = os.fork()
        if other == 0:
            said = steps_of(1, cpus[1], folder, arguments)
            with open(f"{folder}/other.json", "w") as file:
                json.dump(said, file)
            os._exit(0)
        own = steps_of(0, cpus[0], folder, arguments)
        if os.waitpid(other, 0)[1] != 0:
            sys.exit("the other process failed")
        with open(f"{folder}/other.json") as file:
            return own, json.load(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workload", choices=torch_workloads.WORKLOADS)
    parser.add_argument("--precision", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--batch", type=int, default=16)
    arguments = parser.parse_args()
    if arguments.batch < PROCESSES or arguments.batch % PROCESSES:
        parser.error(f"--batch must be a multiple of {PROCESSES}, got {arguments.batch}")
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < PROCESSES:
        parser.error("this needs two CPUs")
    torch_workloads.require_fast_products()
    said = both(arguments, cpus)
    slower = [max(pair) for pair in zip(*(one["times"] for one in said))]
    print(json.dumps({"workload": arguments.workload, "precision": arguments.precision, "batch": arguments.batch,
                      "repeats": arguments.repeats, "median_ms": round(statistics.median(slower), 3),
                      "cpu_ms": round(sum(one["cpu_ms"] for one in said), 3)}), flush=True)


if __name__ == "__main__":
    main()
