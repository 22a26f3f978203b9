#!/usr/bin/env python3
"""How a training step on a slice is expected to scale, from what was measured: one row for each number of hosts.

usage: slice_model.py [--step-ms MS] [--gradients-mb MB] [--gbit-s RATE] [--add-gb-s RATE] [--round-trip-ms MS] [--message-us US]
                      [--spread PERCENT] [--connect-ms MS] [--hidden PERCENT] [--hosts N …]

step        of one host, with its part of the batch, which stays the same: more hosts make a larger global batch
all-reduce  each host sends and receives 2 (n-1)/n of the gradients, at the slower of the network and of adding up;
            two round trips; and n-1 messages in each of the two
straggler   everybody waits for the slowest: the expected maximum of n normal step times, spread * sqrt(2 ln n)
start       the agents' poll (250 ms), connections to n-1 others one after the other, and the first comparison
What is not in it: switches that many hosts share, losses of packets, saving, reading data.
"""
import argparse
import math
import sys

POLL_MS = 250
HOST_CORES = 8


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--step-ms", type=float, default=1045, help="step of one host without others (1045: gpt2_124m, f32)")
    parser.add_argument("--gradients-mb", type=float, default=498, help="that each step adds up (498: GPT-2 124M in f32)")
    parser.add_argument("--gbit-s", type=float, default=10, help="network of each host, each way (10)")
    parser.add_argument("--add-gb-s", type=float, default=0.11, help="GB/s at which one host sends, adds and receives (0.11: measured)")
    parser.add_argument("--round-trip-ms", type=float, default=0.1, help="between two hosts (0.1)")
    parser.add_argument("--message-us", type=float, default=10, help="each message costs its sender (10)")
    parser.add_argument("--spread", type=float, default=2, help="standard deviation of the step time, percent (2)")
    parser.add_argument("--connect-ms", type=float, default=2, help="a connection with its proof of the secret (2)")
    parser.add_argument("--hidden", type=float, default=0, help="percent of the all-reduce behind the backward pass (0)")
    parser.add_argument("--hosts", type=int, nargs="+", default=[1, 2, 4, 8, 16, 32, 64, 128, 256])
    chosen = parser.parse_args()
    for name in ("step_ms", "gradients_mb", "gbit_s", "add_gb_s"):
        if getattr(chosen, name) <= 0:
            parser.error(f"--{name.replace('_', '-')} must be greater than 0, got {getattr(chosen, name)}")
    if not 0 <= chosen.hidden <= 100:
        parser.error(f"--hidden must be 0 to 100, got {chosen.hidden}")
    if min(chosen.hosts) < 1 or max(chosen.hosts) > 256:
        parser.error("--hosts must be 1 to 256")
    return chosen


def all_reduce_ms(hosts, chosen):
    if hosts == 1:
        return 0
    megabytes = 2 * (hosts - 1) / hosts * chosen.gradients_mb
    megabytes_per_ms = min(chosen.gbit_s / 8, chosen.add_gb_s)    # GB/s = MB/ms
    return megabytes / megabytes_per_ms + 2 * (chosen.round_trip_ms + (hosts - 1) * chosen.message_us / 1000)


def straggler_ms(hosts, chosen):
    return chosen.step_ms * chosen.spread / 100 * math.sqrt(2 * math.log(hosts))


def start_ms(hosts, chosen):
    return 0 if hosts == 1 else POLL_MS + (hosts - 1) * chosen.connect_ms


def main():
    chosen = options()
    limit = "the network" if chosen.gbit_s / 8 < chosen.add_gb_s else "sending and adding in the process"
    print(f"step {chosen.step_ms:g} ms, gradients {chosen.gradients_mb:g} MB, network {chosen.gbit_s:g} Gbit/s, "
          f"a host adds {chosen.add_gb_s:g} GB/s: the limit is {limit}\n")
    print("| hosts | cores | all-reduce, ms | straggler, ms | step, ms | efficiency | start, s |")
    print("|---|---|---|---|---|---|---|")
    for hosts in chosen.hosts:
        reduced = all_reduce_ms(hosts, chosen)
        step = chosen.step_ms + straggler_ms(hosts, chosen) + reduced * (1 - chosen.hidden / 100)
        print(f"| {hosts} | {hosts * HOST_CORES} | {reduced:.0f} | {straggler_ms(hosts, chosen):.0f} | {step:.0f} | "
              f"{100 * chosen.step_ms / step:.0f} % | {start_ms(hosts, chosen) / 1000:.1f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
