"""Changes of bytes, and containers of them, from which several corpora are made."""
import gzip
import struct


def cut(content, count):
    """Without the last `count` bytes."""
    return content[:-count]


def changed(content, at, to):
    """With `to` in the place of as many bytes at `at`."""
    at %= len(content)
    return content[:at] + to + content[at + len(to):]


def gzipped(content):
    return gzip.compress(content, 9, mtime=0)


def two(first, second):
    """An input for a target that reads two files (input.h)."""
    return struct.pack("<H", len(first)) + first + second


def crc32c(content):
    crc = 0xFFFFFFFF
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF
