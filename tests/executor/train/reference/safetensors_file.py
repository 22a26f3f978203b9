"""Tensors of torch in the files that slipway-executor reads and writes."""
import json
import struct

import numpy as np
import torch

TYPES = {"F32": np.float32, "I32": np.int32, "I64": np.int64}
NAMES = {torch.float32: "F32", torch.int32: "I32", torch.int64: "I64"}


def tensor_of(blob, row):
    if row["dtype"] == "BF16":    # the upper half of an f32
        numbers = (np.frombuffer(blob, np.uint16).astype(np.uint32) << 16).view(np.float32)
    else:
        numbers = np.frombuffer(blob, TYPES[row["dtype"]]).copy()
    return torch.from_numpy(numbers.reshape(row["shape"]))


def read(path):
    blob = path.read_bytes()
    (length,) = struct.unpack("<Q", blob[:8])
    header, start = json.loads(blob[8:8 + length]), 8 + length
    return {name: tensor_of(blob[start + row["data_offsets"][0]:start + row["data_offsets"][1]], row)
            for name, row in header.items() if name != "__metadata__"}


def write(path, tensors):
    header, at, blobs = {}, 0, []
    for name, tensor in tensors.items():
        blob = tensor.detach().contiguous().numpy().tobytes()
        header[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [at, at + len(blob)]}
        at += len(blob)
        blobs.append(blob)
    head = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(head)) + head + b"".join(blobs))
