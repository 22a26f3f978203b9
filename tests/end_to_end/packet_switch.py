"""A switch between network namespaces, each of which has a TUN device of this process: IPv4 packets come late or are lost, as told.
What `tc netem` does, for kernels that have none. Started by network.py.

usage: packet_switch.py DEVICE DELAY_S LOST_SHARE SEED NAMESPACE=ADDRESS...
Prints "ready" when the devices are there; ends when its standard input does.
"""
import ctypes
import fcntl
import heapq
import os
import random
import selectors
import socket
import struct
import sys
import time

CLONE_NEWNET = 0x40000000
TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
DESTINATION = slice(16, 20)    # of the header of an IPv4 packet


def enter(namespace):
    file = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(file, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), f"setns to {namespace}")
    os.close(file)


def open_device(namespace, name):
    enter(namespace)
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    return device


class Switch:
    def __init__(self, devices, delay_s, lost_share, seed):
        self.devices, self.delay_s, self.lost_share = devices, delay_s, lost_share
        self.chance = random.Random(seed)
        self.late = []    # (when due, number, device, packet)
        self.count = 0

    def take(self, device):
        try:
            packet = os.read(device, 1 << 16)
        except OSError:    # it is down
            return
        to = self.devices.get(packet[DESTINATION])
        if to is None or self.chance.random() < self.lost_share:
            return
        self.count += 1
        heapq.heappush(self.late, (time.monotonic() + self.delay_s, self.count, to, packet))

    def deliver(self):
        while self.late and self.late[0][0] <= time.monotonic():
            _, _, device, packet = heapq.heappop(self.late)
            try:
                os.write(device, packet)
            except OSError:    # it is down
                continue

    def run(self):
        with selectors.DefaultSelector() as ready:
            for device in (*self.devices.values(), sys.stdin.fileno()):
                ready.register(device, selectors.EVENT_READ)
            while True:
                wait_s = max(0.0, self.late[0][0] - time.monotonic()) if self.late else None
                for key, _ in ready.select(wait_s):
                    if key.fd == sys.stdin.fileno():
                        return
                    self.take(key.fd)
                self.deliver()


def main():
    name, delay_s, lost_share, seed, *hosts = sys.argv[1:]
    devices = {}
    for host in hosts:
        namespace, _, address = host.partition("=")
        devices[socket.inet_aton(address)] = open_device(namespace, name)
    print("ready", flush=True)
    Switch(devices, float(delay_s), float(lost_share), int(seed)).run()


if __name__ == "__main__":
    main()
