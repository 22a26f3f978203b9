"""Weights, checkpoints, and files that the service keeps of a dataset."""
import hashlib
import json
import struct

from corpus.edits import crc32c, cut


def tensors(header, data=b"", length=None):
    head = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(head) if length is None else length) + head + data


def safetensors():
    def one(dtype="F32", shape=(2, 2), offsets=(0, 16), **more):
        return {"a": {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets), **more}}
    good = tensors({"__metadata__": {"by": "hand"}, **one()}, bytes(16))
    yield "good", good
    yield "good_none", tensors({})
    yield "good_scalar_and_nothing", tensors({**one("I64", [], [0, 8]), "b": one("U8", [0, 5], [8, 8])["a"]}, bytes(8))
    yield "bad_bool", tensors(one("BOOL", [2], [0, 2]), b"\0\2")
    yield "bad_bytes_fewer", cut(good, 1)
    yield "bad_bytes_more", good + b"\0"
    yield "bad_count", tensors(one(shape=[3]), bytes(16))
    yield "bad_count_overflows", tensors(one(shape=[1 << 62, 4, 1 << 62]), bytes(16))
    yield "bad_deep", tensors(b"[" * 3000)
    yield "bad_empty", b""
    yield "bad_field", tensors(one(more=1), bytes(16))
    yield "bad_fraction", tensors(one(shape=[2.5]), bytes(16))
    yield "bad_json", tensors(b'{"a": ', bytes(16))
    yield "bad_key_twice", tensors(json.dumps(one()).encode()[:-1] + b", " + json.dumps(one()).encode()[1:], bytes(16))
    yield "bad_length_beyond", tensors({}, length=1000)
    yield "bad_length_huge", tensors({}, length=1 << 63)
    yield "bad_length_short", b"\2\0\0"
    yield "bad_list", tensors([])
    yield "bad_missing", tensors({"a": {"dtype": "F32", "shape": [4]}}, bytes(16))
    yield "bad_name_latin_1", tensors(json.dumps(one()).encode().replace(b'"a"', b'"\xe9"'), bytes(16))
    yield "bad_nul_and_more", tensors(json.dumps(one()).encode() + b'\0, "b": what a reader of bytes would see}', bytes(16))
    yield "bad_nul_padding", tensors(json.dumps(one()).encode() + b"\0\0", bytes(16))
    yield "bad_negative", tensors(one(shape=[-2, -2]), bytes(16))
    yield "bad_offsets_backwards", tensors(one(offsets=[16, 0]), bytes(16))
    yield "bad_overlap", tensors({**one(), "b": one()["a"]}, bytes(16))
    yield "bad_type", tensors(one("F8"), bytes(16))


def checkpoint():
    def listed(name, content):
        return {"name": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    nothing = b"\2\0\0\0\0\0\0\0{}"
    files = [listed("model.safetensors", nothing), listed("optimizer.safetensors", nothing)]
    state = {"step": 1, "epoch": 0, "samples": 8, "seed": 7, "sampler": {"epoch": 0, "batch": 1},
             "schedule": {"name": "constant", "learning_rate": 0.1}, "details": {}}

    def content(**changes):
        return json.dumps({"format_version": 1, "files": files, "state": state, **changes}).encode()

    def stated(**changes):
        return content(state={**state, **changes})
    yield "good", content()
    yield "good_more", content(files=files + [listed("tokenizer_spec.json", b"{}")])
    yield "bad_bytes", content(files=[{**files[0], "bytes": 11}, files[1]])
    yield "bad_checksum", content(files=[{**files[0], "sha256": "0" * 64}, files[1]])
    yield "bad_cut", cut(content(), 1)
    yield "bad_deep", b"[" * 2000 + b"]" * 2000
    yield "bad_details_list", stated(details=[1])
    yield "bad_details_number", stated(details=1)
    yield "bad_empty", b""
    yield "bad_file_itself", content(files=files + [listed("state.json", b"{}")])
    yield "bad_file_missing", content(files=files + [listed("vocab.txt", b"")])
    yield "bad_file_twice", content(files=files + files)
    yield "bad_file_upwards", content(files=files + [listed("../step_1/model.safetensors", nothing)])
    yield "bad_files_none", content(files=[])
    yield "bad_list", b"[]"
    yield "bad_missing", b"{}"
    yield "bad_sampler", stated(sampler=3)
    yield "bad_step_negative", stated(step=-1)
    yield "bad_step_text", stated(step="1")
    yield "bad_version", content(format_version=2)


def manifest():
    good = {"version": 1, "request": {"method": "kfold", "folds": 2, "seed": 0},
            "dataset": {"content_hash": "sha256:" + "0" * 64, "sample_list_hash": "sha256:" + "1" * 64, "samples": 3},
            "folds": 2, "training": "others", "validation": [[0, 1, 0]]}

    def said(**changes):
        return json.dumps({**good, **changes}).encode()
    yield "good", said()
    yield "good_nowhere", said(validation=[[0, 1, -1]])
    yield "bad_count", said(dataset={**good["dataset"], "samples": 4})
    yield "bad_cut", cut(said(), 1)
    yield "bad_empty", b""
    yield "bad_fold_beyond", said(validation=[[0, 1, 2]])
    yield "bad_fold_huge", said(validation=[[0, 1, 1 << 32]])
    yield "bad_fold_negative", said(validation=[[0, 1, -2]])
    yield "bad_folds_negative", said(folds=-2)
    yield "bad_folds_none", said(folds=0)
    yield "bad_hash_number", said(dataset={**good["dataset"], "content_hash": 1})
    yield "bad_list", b"[]"
    yield "bad_request", said(request={"method": "chance"})
    yield "bad_samples_negative", said(dataset={**good["dataset"], "samples": -3})
    yield "bad_training", said(training="all")
    yield "bad_uneven", said(validation=[[0, 0, 0], [1, 1, 1], [1, 1, 1]])
    yield "bad_validation", said(validation=[])
    yield "bad_version", said(version=2)


def pack():
    def images(entries, pixels, problems=b"[]", **head):
        head = {"magic": b"slippack", "version": 1, "count": len(entries), "text": len(problems)} | head
        return (head["magic"] + struct.pack("<QQQ", head["version"], head["count"], head["text"]) + bytes(64) +
                b"".join(struct.pack("<QQQQII", *one) for one in entries) + pixels + problems)
    pixels = bytes(range(12))
    one = (96 + 40, 3, 2, 2, crc32c(pixels), 0)
    complaint = json.dumps([{"sample": 0, "file": "a.png", "row": 0, "field": "", "message": "cut"}]).encode()
    yield "good", images([one], pixels)
    yield "good_none", images([], b"")
    yield "good_problem", images([(136, 0, 0, 0, 0, 1)], b"", complaint)
    yield "bad_cut", cut(images([one], pixels), 5)
    yield "bad_empty", b""
    yield "bad_magic", images([one], pixels, magic=b"slippick")
    yield "bad_many", images([one], pixels, count=1 << 61)
    yield "bad_offset", images([(1 << 63, *one[1:])], pixels)
    yield "bad_overflow", images([(136, 1 << 32, 1 << 32, 1 << 32, 0, 0)], pixels)
    yield "bad_problems", images([one], pixels, b"[{}]")
    yield "bad_problems_beyond", images([one], pixels, text=1 << 62)
    yield "bad_side", images([(136, 3, 2, 3, *one[4:])], pixels)
    yield "bad_state", images([(*one[:5], 9)], pixels)
    yield "bad_sum", images([(*one[:4], 7, 0)], pixels)
    yield "bad_version", images([one], pixels, version=2)
