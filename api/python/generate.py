#!/usr/bin/env python3
"""Writes slipway/api_types.py and slipway/endpoints.py from the OpenAPI document of a service.

usage: api/python/generate.py (FILE | http://127.0.0.1:8470) [--check]

Every schema becomes a TypedDict, every operation a method that takes and returns them, so the client knows each field and each
endpoint that the service has, and no more. The alternative, classes with fields, would have to be converted in both directions
and would drop what a newer service adds; a TypedDict is the JSON itself. Operations without JSON (streams, bytes of uploads) have
no method here: the modules written by hand do them.
"""
import argparse
import json
import keyword
import pathlib
import re
import sys
import textwrap
import urllib.request

FOLDER = pathlib.Path(__file__).resolve().parent / "slipway"
COLUMNS_MAX = 100
PRIMITIVES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
HEAD = '''"""{what}

Written by api/python/generate.py from the OpenAPI document; not edited by hand.
"""
from __future__ import annotations

'''


def camel(name):
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[^A-Za-z0-9]+", name))


def is_field_name(name):
    return name.isidentifier() and not keyword.iskeyword(name)


def argument_name(name):
    plain = re.sub(r"\W", "_", name)
    return plain + "_" if keyword.iskeyword(plain) else plain


def comment(text, indent):
    flat = " ".join(text.split())
    return textwrap.wrap(flat, COLUMNS_MAX, initial_indent=indent + "# ", subsequent_indent=indent + "# ",
                         break_long_words=False, break_on_hyphens=False)


def docstring(text, indent):
    flat = " ".join(text.split()).replace("\\", "\\\\")
    lines = textwrap.wrap(flat, COLUMNS_MAX - len(indent) - 6, break_long_words=False, break_on_hyphens=False)
    return [f'{indent}"""{lines[0]}', *(indent + line for line in lines[1:-1]), f'{indent}{lines[-1]}"""'] if len(lines) > 1 \
        else [f'{indent}"""{lines[0]}"""']


def unique(types):
    return list(dict.fromkeys(types))


class Types:
    """Names of the Python types of schemas; what they need is written to `definitions` in order."""

    def __init__(self, schemas):
        self.schemas = schemas
        self.definitions = []
        self.used = {camel(name) for name in schemas}

    def write_all(self):
        for name, schema in sorted(self.schemas.items()):
            self.define(camel(name), schema)
        return "\n\n\n".join(self.definitions) + "\n"

    def define(self, name, schema):
        if "properties" in schema:
            self.define_object(name, schema)
        else:
            value = self.name_of(schema, name)
            lines = comment(schema.get("description", ""), "")
            self.definitions.append("\n".join([*lines, *alias_lines(name, value)]))

    def define_object(self, name, schema):
        required = set(schema.get("required", ()))
        fields = []
        for field, content in sorted(schema["properties"].items()):
            kind = self.name_of(content, name + camel(field))
            fields.append((field, kind if field in required else f"NotRequired[{kind}]", content.get("description", "")))
        plain = all(is_field_name(field) for field, _, _ in fields)
        lines = [f"class {name}(TypedDict):"] if plain else [*comment(schema.get("description", name), ""),
                                                             f"{name} = TypedDict({json.dumps(name)}, {{"]
        if plain:
            text = schema.get("description") or ("" if fields else "An empty object.")
            lines += docstring(text, "    ") if text else []
        for field, kind, text in fields:
            lines += comment(text, "    ") if text else []
            lines.append(f"    {field}: {kind}" if plain else f"    {json.dumps(field)}: {json.dumps(kind)},")
        if not plain:
            lines.append("})")
        self.definitions.append("\n".join(lines))

    def fresh(self, name):
        number, tried = 2, name
        while tried in self.used:
            tried, number = f"{name}{number}", number + 1
        self.used.add(tried)
        return tried

    def name_of(self, schema, around):
        """The type of a schema; objects inside `around` get names of their own."""
        if "$ref" in schema:
            return camel(schema["$ref"].rsplit("/", 1)[1])
        if "const" in schema:
            return f"Literal[{schema['const']!r}]"
        if "enum" in schema:
            return f"Literal[{', '.join(repr(word) for word in schema['enum'])}]"
        for combination in ("oneOf", "anyOf"):
            choices = schema.get(combination)
            if choices and "properties" not in schema:
                return " | ".join(unique(self.name_of(one, around + variant(one)) for one in choices))
        kind = schema.get("type")
        if isinstance(kind, list):
            return " | ".join(unique(self.name_of({**schema, "type": one}, around) for one in kind))
        if kind == "array":
            return f"list[{self.name_of(schema.get('items', {}), around + 'Item')}]"
        if kind == "object" or "properties" in schema:
            return self.object_name(schema, around)
        return PRIMITIVES.get(kind, "Any")

    def object_name(self, schema, around):
        if "properties" in schema:
            name = self.fresh(around)
            self.define_object(name, schema)
            return name
        values = schema.get("additionalProperties")
        return f"dict[str, {self.name_of(values, around + 'Value')}]" if isinstance(values, dict) else "dict[str, Any]"


def variant(schema):
    """What tells this choice of several from the others: its constant, or the field it must have."""
    fields = schema.get("properties", {})
    constants = [content["const"] for content in fields.values() if isinstance(content.get("const"), str)]
    return camel((constants or schema.get("required") or sorted(fields) or [""])[0])


def alias_lines(name, value):
    """`name = value`, a choice a line when it is long. Names of later definitions are texts."""
    parts = value.split(" | ")
    if len(parts) == 1:
        return [f"{name} = {value}" if value.startswith(("dict[str, Any", "str", "Any", "Literal")) else f"{name} = {json.dumps(value)}"]
    if all(part in PRIMITIVES.values() for part in parts):
        return [f"{name} = {value}"]
    return [f"{name} = Union[", *(f"    {json.dumps(part)}," for part in parts), "]"]


def returned(operation, types):
    """(how the answer is read, type) of the 2xx answers; None where no method can give it."""
    kinds, content_of = [], {}
    for status, answer in sorted(operation["responses"].items()):
        if status.startswith("2"):
            content = answer.get("content", {})
            kinds += ["None"] if not content else [types.name_of(content["application/json"]["schema"], "")] \
                if "application/json" in content else []
            content_of.update(content)
    if kinds:
        return "call", " | ".join(unique(kinds))
    if set(content_of) <= {"text/event-stream"}:
        return None
    is_text = any(kind.startswith("text/") for kind in content_of)
    return ("call_text", "str") if is_text else ("call_bytes", "bytes")


def method(verb, path, operation, types):
    """The lines of a method, or None for an operation that is done by hand."""
    body = operation.get("requestBody", {}).get("content", {})
    answer = returned(operation, types)
    if answer is None or (body and "application/json" not in body):
        return None
    how, kind = answer
    given = operation.get("parameters", [])
    in_path = [one["name"] for one in given if one["in"] == "path"]
    in_query = [(one["name"], types.name_of(one["schema"], "")) for one in given if one["in"] == "query"]
    head = ["self", *(f"{argument_name(name)}: str | int" for name in in_path)]
    call = [json.dumps(verb.upper()), path_expression(path, in_path)]
    if body:
        is_needed = operation["requestBody"].get("required", False)
        head.append(f"body: {types.name_of(body['application/json']['schema'], '')}{'' if is_needed else ' | None = None'}")
        call.append("body=body")
    named = [f"{argument_name(name)}: {value} | None = None" for name, value in in_query]
    if in_query:
        call.append("query={" + ", ".join(f"{json.dumps(name)}: {argument_name(name)}" for name, _ in in_query) + "}")
    if any(one["name"] == "Idempotency-Key" for one in given):
        named.append("idempotency_key: str | None = None")
        call.append("idempotency_key=idempotency_key or new_key()")
    if "Prefer: wait" in operation.get("description", ""):
        named.append("wait_s: int | None = None")
        call.append("wait_s=wait_s")
    head += ["*", *named] if named else []
    text = operation.get("description") or operation["summary"]
    return [*wrapped(f"    def {operation['operationId']}(", head, f") -> {kind}:"),
            *docstring(re.sub(r"\n\nRequires", " Requires", text), "        "),
            *wrapped(f"        return self.{how}(", call, ")")]


def path_expression(path, names):
    for name in names:
        path = path.replace("{" + name + "}", "{quoted(" + argument_name(name) + ")}")
    return f'f"{path}"' if names else json.dumps(path)


def wrapped(begin, words, end):
    line = begin + ", ".join(words) + end
    if len(line) <= COLUMNS_MAX:
        return [line]
    indent = " " * (len(begin) - len(begin.lstrip()) + 8)
    return [begin, *(f"{indent}{word}," for word in words), " " * (len(begin) - len(begin.lstrip())) + end]


def imported(names, methods):
    """The import of those types that the methods name."""
    used = sorted(names & set(re.findall(r"\b[A-Z]\w+", "\n".join(methods))))
    return "\n".join(["from .api_types import (", *textwrap.wrap(", ".join(used), COLUMNS_MAX - 4, initial_indent="    ",
                                                                subsequent_indent="    "), ")"])


def documents(api):
    """File name -> text."""
    types = Types(api["components"]["schemas"])
    all_types = types.write_all()
    methods = []
    for path, verbs in sorted(api["paths"].items()):
        for verb, operation in sorted(verbs.items()):
            lines = method(verb, path, operation, types) if isinstance(operation, dict) and "operationId" in operation else None
            if lines:
                methods.append("\n".join(lines))
    return {
        "api_types.py": HEAD.format(what="The documents of the API as types: what is sent and what is answered.")
        + "from typing import Any, Literal, NotRequired, TypedDict, Union\n\n\n" + all_types,
        "endpoints.py": HEAD.format(what="One method per endpoint of the API; the transport below sends them.")
        + f"from typing import Any, Literal\n\n{imported(types.used, methods)}\n"
        "from .transport import Transport, new_key, quoted\n\n\n"
        "class Endpoints(Transport):\n" '    """Every endpoint that answers with a document, by the name it has in the API."""\n\n'
        + "\n\n".join(methods) + "\n",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", help="openapi.json, or the address of a service")
    parser.add_argument("--check", action="store_true", help="change nothing; fail when a file is not current")
    given = parser.parse_args()
    if given.source.startswith(("http://", "https://")):
        with urllib.request.urlopen(given.source.rstrip("/") + "/openapi.json", timeout=30) as answer:
            api = json.load(answer)
    else:
        api = json.loads(pathlib.Path(given.source).read_text())
    stale = []
    for name, text in documents(api).items():
        file = FOLDER / name
        if not file.exists() or file.read_text() != text:
            stale.append(file.name)
            if not given.check:
                file.write_text(text)
    if stale and given.check:
        print(f"not current: {', '.join(stale)}; renew with api/python/generate.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
