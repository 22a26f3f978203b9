"""Reads and writes safetensors files with numpy alone."""

import json
import struct

import numpy

TYPES = {"F32": numpy.float32, "F64": numpy.float64, "I32": numpy.int32, "I64": numpy.int64, "BOOL": numpy.bool_}


def write_file(path, arrays):
    header, at = {}, 0
    for name, array in arrays.items():
        kind = next(word for word, dtype in TYPES.items() if dtype == array.dtype)
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in arrays.values():
            file.write(numpy.ascontiguousarray(array).tobytes())


def read_file(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    arrays = {}
    for name, one in header.items():
        if name == "__metadata__":
            continue
        begin, end = one["data_offsets"]
        arrays[name] = numpy.frombuffer(data[8 + size + begin:8 + size + end], TYPES[one["dtype"]]).reshape(one["shape"])
    return arrays
