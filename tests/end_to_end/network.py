"""Hosts with a network of their own on one machine: network namespaces, an address in each, a switch between them (packet_switch.py)."""
import contextlib
import ctypes
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
DEVICE = "slice0"
CLONE_NEWNET = 0x40000000


def ip(*words):
    done = subprocess.run(["ip", *words], capture_output=True, text=True)
    assert done.returncode == 0, (words, done.stderr)


def skip_unless_permitted():
    """errors  SkipTest with the reason why there can be no such network"""
    if shutil.which("ip") is None:
        raise unittest.SkipTest("iproute2 is not installed")
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        raise unittest.SkipTest("/dev/net/tun may not be opened")
    probe = f"slipway-{os.getpid()}-probe"
    done = subprocess.run(["ip", "netns", "add", probe], capture_output=True, text=True)
    if done.returncode != 0:
        raise unittest.SkipTest(f"network namespaces may not be made: {done.stderr.strip()}")
    ip("netns", "delete", probe)


@contextlib.contextmanager
def entered(namespace):
    """This thread, and what it starts, have the network of the namespace meanwhile."""
    libc = ctypes.CDLL(None, use_errno=True)
    own = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    other = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    try:
        assert libc.setns(other, CLONE_NEWNET) == 0, (namespace, ctypes.get_errno())
        yield
    finally:
        assert libc.setns(own, CLONE_NEWNET) == 0, ctypes.get_errno()
        os.close(other)
        os.close(own)


class Network:
    """`count` hosts; each packet between two of them comes `delay_s` late, a share of them never."""

    def __init__(self, count, delay_s=0.0, lost_share=0.0, seed=1):
        self.namespaces = [f"slipway-{os.getpid()}-{rank}" for rank in range(count)]
        self.addresses = [f"10.77.0.{rank + 1}" for rank in range(count)]
        self.made = []
        self.switch = None
        try:
            self.make(delay_s, lost_share, seed)
        except BaseException:
            self.close()
            raise

    def make(self, delay_s, lost_share, seed):
        for namespace in self.namespaces:
            ip("netns", "add", namespace)
            self.made.append(namespace)
        hosts = [f"{namespace}={address}" for namespace, address in zip(self.namespaces, self.addresses)]
        self.switch = subprocess.Popen([sys.executable, HERE / "packet_switch.py", DEVICE, str(delay_s), str(lost_share), str(seed), *hosts],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.switch.stdout.readline() == "ready\n", "the switch did not start"
        for namespace, address in zip(self.namespaces, self.addresses):
            ip("-n", namespace, "address", "add", f"{address}/24", "dev", DEVICE)
            ip("-n", namespace, "link", "set", "lo", "up")
            ip("-n", namespace, "link", "set", DEVICE, "up")

    def on(self, rank):
        """What stands before the words of a command that runs on this host."""
        return ["ip", "netns", "exec", self.namespaces[rank]]

    def cut(self, rank):
        ip("-n", self.namespaces[rank], "link", "set", DEVICE, "down")

    def mend(self, rank):
        ip("-n", self.namespaces[rank], "link", "set", DEVICE, "up")

    def close(self):
        if self.switch is not None:
            self.switch.stdin.close()
            self.switch.wait(10)
            self.switch.stdout.close()
        for namespace in self.made:
            subprocess.run(["ip", "netns", "delete", namespace], capture_output=True)
