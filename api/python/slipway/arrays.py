"""Arrays of numbers: NumPy's where it is installed, `array.array` otherwise."""
from __future__ import annotations

import array
from collections.abc import Sequence
from typing import Any

KINDS = {"q": "int64", "d": "float64"}


def numpy_or_none():
    """The module, imported only when arrays are made: it takes longer than all of this package."""
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def make(kind: str, values: Sequence[Any]) -> Any:
    """kind   "q": whole numbers of 64 bits; "d": float64"""
    numpy = numpy_or_none()
    return array.array(kind, values) if numpy is None else numpy.array(values, dtype=KINDS[kind])
