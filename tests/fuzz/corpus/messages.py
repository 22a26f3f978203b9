"""What executors and agents send."""
import json


def agent_message():
    hello = {"type": "hello", "fence": "7-1", "after": 12}
    yield "good_heartbeat", b'{"type":"heartbeat"}'
    yield "good_hello", json.dumps(hello).encode()
    yield "good_stop", b'{"type":"stop","reason":"cancel"}'
    yield "bad_after_huge", json.dumps({**hello, "after": 2**64 - 1}).encode()
    yield "bad_after_negative", json.dumps({**hello, "after": -(2**63)}).encode()
    yield "bad_after_real", json.dumps({**hello, "after": 1e300}).encode()
    yield "bad_deep", b"[" * 2000
    yield "bad_fence_number", json.dumps({**hello, "fence": 7}).encode()
    yield "bad_list", json.dumps([hello]).encode()
    yield "bad_reason_list", b'{"type":"stop","reason":["cancel"]}'
    yield "bad_twice", b'{"type":"heartbeat","type":"stop","reason":"kill"}'
    yield "bad_utf8", b'{"type":"stop","reason":"\xff"}'


def frame():
    def line(**changes):
        return json.dumps({"n": 7, "type": "metric", "time": "2026-11-20T20:37:00Z", **changes}).encode()
    files = [{"name": "model.safetensors", "bytes": 300, "sha256": "0" * 64}]
    checkpoint = {"type": "checkpoint", "name": "step-10", "step": 10, "epoch": 1, "kinds": ["last"], "files": files}
    yield "good_checkpoint", line(**checkpoint, metric={"name": "val_loss", "value": 0.5})
    yield "good_done", line(type="done", outcome="succeeded", result={"steps": 10})
    yield "good_metric", line(step=10, epoch=1, values={"train_loss": 0.25})
    yield "good_progress", line(type="progress", step=10, steps_total=20)
    yield "good_state", line(type="state", state="running")
    yield "bad_bytes", line(**{**checkpoint, "files": [{"name": "a", "bytes": 2**63 - 1, "sha256": "ab"}, {"name": "b", "bytes": 2**63 - 1, "sha256": "ab"}]})
    yield "bad_bytes_sum", line(**{**checkpoint, "files": [{"name": "a", "bytes": 2**53, "sha256": "ab"}, {"name": "b", "bytes": 2**53, "sha256": "ab"}]})
    yield "bad_depth", b'{"n":7,"type":"log","x":' + b"[" * 5000 + b"]" * 5000 + b"}"
    yield "bad_empty", b""
    yield "bad_file_name", line(**{**checkpoint, "files": [{"name": "../a", "bytes": 1, "sha256": "ab"}]})
    yield "bad_kinds", line(**{**checkpoint, "kinds": 3})
    yield "bad_name", line(**{**checkpoint, "name": "../../etc"})
    yield "bad_negative", line(step=-1, values={"train_loss": 0.25})
    yield "bad_number", line(n=2**64 - 1, step=1, values={})
    yield "bad_number_text", line(n="7", step=1, values={})
    yield "bad_outcome", line(type="done", outcome="won", code=7)
    yield "bad_repeated_key", b'{"n":7,"n":8,"type":"log"}'
    yield "bad_step", line(step=1e300, values={"train_loss": 0.25})
    yield "bad_step_text", line(step="1", values={"train_loss": 0.25})
    yield "bad_type", line(type="hello\x1b[2J")
    yield "bad_utf8", b'{"n":7,"type":"log","message":"\xff"}'
