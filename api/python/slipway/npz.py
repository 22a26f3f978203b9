"""Writes arrays as an .npz file, with NumPy's arrays, tensors of torch, or nested lists; NumPy is not needed for lists."""
from __future__ import annotations

import array
import io
import pathlib
import sys
import zipfile
from typing import Any


def write(path: pathlib.Path, arrays: dict[str, Any]) -> None:
    """name -> array. Raises ValueError for lists whose rows differ in length, or that hold other things than numbers or texts."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name, values in arrays.items():
            # The same arrays give the same bytes, so an upload can be continued.
            entry = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            with archive.open(entry, "w", force_zip64=True) as file:
                _write_npy(file, name, values)


def _write_npy(file, name: str, values: Any) -> None:
    if hasattr(values, "detach"):    # a tensor of torch
        values = values.detach().cpu().numpy()
    if hasattr(values, "__array__"):
        import numpy
        found = numpy.ascontiguousarray(values)
        if found.dtype.hasobject:
            raise ValueError(f"{name} holds Python objects; give numbers or texts of one kind")
        shape = tuple(numpy.shape(values))    # ascontiguousarray makes a list of a scalar
        descriptor, content = found.dtype.str, memoryview(found.reshape(-1).view("u1")) if found.size else b""
    else:
        shape, flat = _flat(name, values)
        descriptor, content = _packed(name, flat)
    header = io.BytesIO()
    text = repr({"descr": descriptor, "fortran_order": False, "shape": shape})
    header.write(b"\x93NUMPY\x01\x00")
    padded = text + " " * (63 - (10 + len(text)) % 64) + "\n"
    header.write(len(padded).to_bytes(2, "little") + padded.encode("latin-1"))
    file.write(header.getvalue())
    for begin in range(0, len(content), 1 << 24):
        file.write(content[begin:begin + (1 << 24)])


def _flat(name: str, values: Any) -> tuple[tuple[int, ...], list]:
    """The shape and the items of nested lists."""
    items, shape = [values], []
    while items and isinstance(items[0], (list, tuple, array.array)):
        length = len(items[0])
        if any(not isinstance(one, (list, tuple, array.array)) or len(one) != length for one in items):
            raise ValueError(f"{name}: the rows differ in length")
        shape.append(length)
        items = [item for one in items for item in one]
    return tuple(shape), items


def _packed(name: str, items: list) -> tuple[str, bytes]:
    kinds = {type(one) for one in items}
    if kinds <= {bool}:
        return "|b1", bytes(items)
    if kinds <= {int, bool}:
        return "<i8", _little(array.array("q", items))
    if kinds <= {int, float, bool}:
        return "<f8", _little(array.array("d", items))
    if kinds == {str}:
        longest = max(1, max(map(len, items)))
        return f"<U{longest}", b"".join(one.ljust(longest, "\0").encode("utf-32-le") for one in items)
    raise ValueError(f"{name} must hold numbers or texts, not {', '.join(sorted(kind.__name__ for kind in kinds))}")


def _little(numbers: array.array) -> bytes:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()
