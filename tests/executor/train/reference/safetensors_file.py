"""Tensors of torch in the files that slipway-executor reads and writes."""
import json
import struct

import numpy as np
import torch

TYPES = {"F32": np.float32, "I64": np.int64}


def read(path):
    blob = path.read_bytes()
    (length,) = struct.unpack("<Q", blob[:8])
    header, start = json.loads(blob[8:8 + length]), 8 + length
    return {name: torch.from_numpy(np.frombuffer(blob[start + row["data_offsets"][0]:start + row["data_offsets"][1]],
                                                 TYPES[row["dtype"]]).reshape(row["shape"]).copy())
            for name, row in header.items() if name != "__metadata__"}


def write(path, tensors):
    header, at, blobs = {}, 0, []
    for name, tensor in tensors.items():
        blob = tensor.detach().contiguous().numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [at, at + len(blob)]}
        at += len(blob)
        blobs.append(blob)
    head = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(head)) + head + b"".join(blobs))
