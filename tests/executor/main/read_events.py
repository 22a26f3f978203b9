#!/usr/bin/env python3
"""Reads event files as TensorBoard does, from the formats' descriptions alone, and prints what they say.

usage: read_events.py FOLDER

A line for each event, file after file by name: "STEP version TEXT", "STEP session STATUS" or "STEP TAG VALUE". Both
checksums of each record are checked, bit by bit; anything odd ends with status 1.
"""
import pathlib
import struct
import sys


def crc(content):
    """Masked CRC-32C."""
    value = 0xFFFFFFFF
    for byte in content:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    value ^= 0xFFFFFFFF
    return ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(blob):
    at = 0
    while at < len(blob):
        length, length_sum = struct.unpack_from("<QI", blob, at)
        assert length_sum == crc(blob[at:at + 8]), f"the length at byte {at}"
        record = blob[at + 12:at + 12 + length]
        (record_sum,) = struct.unpack_from("<I", blob, at + 12 + length)
        assert len(record) == length and record_sum == crc(record), f"the record at byte {at}"
        yield record
        at += 16 + length


def fields(message):
    """(number, value) of a protobuf message."""
    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    at = 0
    while at < len(message):
        tag = varint()
        if tag & 7 == 0:
            value = varint()
        else:
            length = {1: 8, 5: 4}.get(tag & 7)
            if length is None:
                assert tag & 7 == 2, f"wire type {tag & 7}"
                length = varint()
            value = message[at:at + length]
            assert len(value) == length, "a field is cut short"
            at += length
        yield tag >> 3, value


def lines(event):
    found = dict(fields(event))
    assert struct.unpack("<d", found.pop(1))[0] > 0, "an event has no time"
    step = found.pop(2, 0)
    ((kind, content),) = found.items()
    if kind == 3:
        yield f"{step} version {content.decode()}"
    elif kind == 7:
        yield f"{step} session {dict(fields(content))[1]}"
    else:
        assert kind == 5, f"an event of kind {kind}"
        for number, value in fields(content):
            assert number == 1
            parts = dict(fields(value))
            yield f"{step} {parts[1].decode()} {struct.unpack('<f', parts[2])[0]:.6g}"


def read(blob):
    """The lines of one file."""
    return [line for record in records(blob) for line in lines(record)]


def main():
    for file in sorted(pathlib.Path(sys.argv[1]).iterdir()):
        assert file.name.startswith("events.out.tfevents."), file.name
        print(*read(file.read_bytes()), sep="\n")


if __name__ == "__main__":
    main()
