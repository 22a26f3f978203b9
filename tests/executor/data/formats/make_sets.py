#!/usr/bin/env python3
"""Writes a data set of 10,000 samples, reads it back with Python's own modules and prints what is in it.

usage: make_sets.py cifar10 FOLDER

One line for each sample, in the order of the files' names: PART CLASS HASH (independent_set.h).
Exit code 77: a module is missing.
"""
import gzip
import hashlib
import pathlib
import random
import struct
import sys

SAMPLES = 10_000
GENERATOR = random.Random(20261121)


def digest(content):
    return hashlib.sha256(content).hexdigest()


def unpacked(file):
    content = file.read_bytes()
    return gzip.decompress(content) if file.suffix == ".gz" else content


def cifar10(folder):
    """Batches of unequal length, one of them gzipped, beside the file of names."""
    record = struct.Struct("<B3072s")
    names = [f"class_{letter}" for letter in "abcdefghij"]
    (folder / "batches.meta.txt").write_text("\n".join(names) + "\n\n")
    for name, count in (("data_batch_1.bin", 4_000), ("data_batch_2.bin.gz", 3_000), ("test_batch.bin", 3_000)):
        content = b"".join(record.pack(GENERATOR.randrange(10), GENERATOR.randbytes(3072)) for _ in range(count))
        (folder / name).write_bytes(gzip.compress(content, 1) if name.endswith(".gz") else content)
    for file in sorted(folder.glob("*.bin*")):
        part = "test" if file.name.startswith("test") else "train"
        for label, pixels in record.iter_unpack(unpacked(file)):
            print(part, names[label], digest(pixels))


def main():
    kind, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir()
    {"cifar10": cifar10}[kind](folder)


if __name__ == "__main__":
    main()
