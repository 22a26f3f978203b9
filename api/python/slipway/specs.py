"""Documents to send: from a dict or a file, with changes by dotted path, as `slipway submit --set`."""
from __future__ import annotations

import copy
import json
import os
import pathlib
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

Changes = Mapping[str, Any] | Iterable[str]


def load(source: Mapping[str, Any] | str | os.PathLike) -> dict[str, Any]:
    """A copy of a dict, or the object in a JSON or TOML file. Raises ValueError for anything else."""
    if isinstance(source, Mapping):
        return copy.deepcopy(dict(source))
    path = pathlib.Path(source)
    text = path.read_text(encoding="utf-8")
    try:
        value = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except ValueError as error:
        raise ValueError(f"{path} is not valid {'TOML' if path.suffix == '.toml' else 'JSON'}: {error}") from error
    if not isinstance(value, dict):
        raise ValueError(f"{path} does not hold an object")
    return value


def with_changes(document: dict[str, Any], changes: Changes) -> dict[str, Any]:
    """`document` with each field of `changes` set: {"train.epochs": 20}, or texts such as "train.epochs=20", whose value is JSON,
    or a text where it is no JSON. A number in a path is a place in a list; None removes the field."""
    pairs = list(changes.items()) if isinstance(changes, Mapping) else [_pair(text) for text in changes]
    for path, value in pairs:
        _set(document, path, value)
    return document


def _pair(text: str) -> tuple[str, Any]:
    path, equals, value = text.partition("=")
    if not equals or not path:
        raise ValueError(f"a change must be field=value, such as train.epochs=20, got {text}")
    try:
        return path, json.loads(value)
    except ValueError:
        return path, value


def _set(document: dict[str, Any], path: str, value: Any) -> None:
    *around, last = path.split(".")
    part: Any = document
    for depth, name in enumerate(around, 1):
        if isinstance(part, dict):
            part = part.setdefault(name, {})
        else:
            part = part[_place(part, name, path)]
        if not isinstance(part, (dict, list)):
            raise ValueError(f"{path} cannot be set: {'.'.join(around[:depth])} is {json.dumps(part)}, not an object")
    if isinstance(part, list):
        part[_place(part, last, path)] = value
    elif value is None:
        part.pop(last, None)
    else:
        part[last] = value


def _place(part: list, name: str, path: str) -> int:
    if not name.isdigit() or int(name) >= len(part):
        raise ValueError(f"{path} cannot be set: the list has {len(part)} items, counted from 0, and no `{name}`")
    return int(name)
