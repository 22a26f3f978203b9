"""Reads safetensors files: a length of 8 bytes, a JSON header, then the tensors' bytes.

A file comes from somewhere else, so its header is believed only as far as it fits the file: every tensor lies inside it, has as many
bytes as its shape needs, and overlaps no other. Memory is asked for only after that.
"""
from __future__ import annotations

import json
import math
import mmap
import os
import pathlib
from dataclasses import dataclass
from typing import Any

from . import arrays
from .errors import IntegrityError

HEADER_BYTES_MAX = 100_000_000
#: safetensors -> (bytes of a number, NumPy's name, torch's name, code of `struct` and `memoryview`)
DTYPES = {
    "F64": (8, "<f8", "float64", "d"), "F32": (4, "<f4", "float32", "f"), "F16": (2, "<f2", "float16", "e"),
    "BF16": (2, "<u2", "bfloat16", "H"), "I64": (8, "<i8", "int64", "q"), "I32": (4, "<i4", "int32", "i"),
    "I16": (2, "<i2", "int16", "h"), "I8": (1, "<i1", "int8", "b"), "U8": (1, "<u1", "uint8", "B"), "BOOL": (1, "|b1", "bool", "?"),
}
FRAMEWORKS = ("numpy", "torch", "python")


@dataclass(frozen=True)
class Tensor:
    """A tensor without NumPy. `values` are its numbers in order; of bf16 the upper halves of float32."""
    dtype: str
    shape: tuple[int, ...]
    values: memoryview


def load(path: str | os.PathLike, framework: str | None = None) -> dict[str, Any]:
    """Name -> tensor.

    framework   "torch"; "numpy", where bf16 becomes float32 of the same value; "python": Tensor. Default: numpy where it is installed.
    Raises IntegrityError for a file that contradicts itself, ModuleNotFoundError where the framework is not installed.
    """
    framework = framework or ("python" if arrays.numpy_or_none() is None else "numpy")
    if framework not in FRAMEWORKS:
        raise ValueError(f"framework must be one of {', '.join(FRAMEWORKS)}, got {framework}")
    converted = {"numpy": _to_numpy, "torch": _to_torch, "python": _to_python}[framework]
    with open(path, "rb") as file:
        entries, begin = _entries(file, pathlib.Path(path))
        if os.fstat(file.fileno()).st_size == begin:
            content = b""
        else:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        return {name: converted(content, begin + entry["data_offsets"][0], entry) for name, entry in entries.items()}


def _entries(file, path: pathlib.Path) -> tuple[dict[str, dict], int]:
    """The checked header, and where the tensors' bytes begin."""
    size = os.fstat(file.fileno()).st_size
    length = int.from_bytes(file.read(8), "little")
    if size < 8 or length > min(HEADER_BYTES_MAX, size - 8):
        raise IntegrityError(f"{path} is not a safetensors file: its header does not fit into it")
    try:
        header = json.loads(file.read(length))
        entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
        extents = sorted(_extent(path, name, entry) for name, entry in entries.items())
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise IntegrityError(f"{path} is not a safetensors file: its header is malformed ({error})") from error
    reached = 0
    for begin, end, name in extents:
        if begin < reached or end > size - 8 - length:
            raise IntegrityError(f"{path}: {name} overlaps another tensor or lies outside of the file")
        reached = end
    return entries, 8 + length


def _extent(path: pathlib.Path, name: str, entry: dict) -> tuple[int, int, str]:
    begin, end = entry["data_offsets"]
    shape = entry["shape"]
    if entry["dtype"] not in DTYPES:
        raise IntegrityError(f"{path}: {name} has the unknown data type {entry['dtype']}")
    if not all(isinstance(one, int) and one >= 0 for one in (begin, end, *shape)):
        raise IntegrityError(f"{path}: the shape or the place of {name} is malformed")
    if end - begin != math.prod(shape) * DTYPES[entry["dtype"]][0]:
        raise IntegrityError(f"{path}: {name} does not have the bytes that its shape {shape} needs")
    return begin, end, name


def _to_numpy(content: Any, begin: int, entry: dict) -> Any:
    import numpy
    count = math.prod(entry["shape"])
    found = numpy.frombuffer(content, dtype=DTYPES[entry["dtype"]][1], count=count, offset=begin if count else 0)
    if entry["dtype"] == "BF16":
        found = (found.astype("<u4") << 16).view("<f4")
    return found.reshape(entry["shape"])


def _to_torch(content: Any, begin: int, entry: dict) -> Any:
    import torch
    dtype, count = getattr(torch, DTYPES[entry["dtype"]][2]), math.prod(entry["shape"])
    if count == 0:
        return torch.empty(entry["shape"], dtype=dtype)
    return torch.frombuffer(content, dtype=dtype, count=count, offset=begin).reshape(entry["shape"])


def _to_python(content: Any, begin: int, entry: dict) -> Tensor:
    size, _, _, code = DTYPES[entry["dtype"]]
    count = math.prod(entry["shape"])
    return Tensor(entry["dtype"], tuple(entry["shape"]), memoryview(content)[begin:begin + count * size].cast(code))
