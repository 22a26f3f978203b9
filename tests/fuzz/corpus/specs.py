"""Bodies of requests."""
import json

from corpus.edits import cut


def job_spec():
    good = {"name": "n", "model": {"arch": "lenet"}, "task": {"type": "classification"},
            "data": {"dataset": "glyphs", "split": {"val_fraction": 0.2, "group_by": "family"}},
            "train": {"epochs": 2, "optimizer": {"name": "adam", "lr": 0.001}}, "accelerator": {"cores": 8}}

    def job(**changes):
        return json.dumps({**good, **changes}).encode()
    yield "good", job()
    block = {"type": "residual", "name": "b", "layers": [{"type": "linear", "out_features": 8}, {"type": "gelu"}],
             "shortcut": [{"type": "linear", "out_features": 8, "bias": False}]}
    layers = [{"type": "flatten", "name": "flat"}, block, {"type": "concat", "inputs": ["b", "flat"]}, {"type": "linear"}]
    yield "good_declared", job(model={"arch": "layers", "layers": layers, "tie": [["b.layers.0.weight", "3.weight"]]})
    yield "good_layers", job(model={"arch": "mlp", "hidden": [8, 4]})
    yield "bad_declared_input", job(model={"arch": "layers", "layers": [{"type": "add", "inputs": ["a", "0"]}, *layers]})
    yield "bad_declared_type", job(model={"arch": "layers", "layers": [{"type": "conv", "layers": layers}]})
    yield "bad_cores", job(accelerator={"cores": [9]})
    yield "bad_cut", cut(job(), 1)
    yield "bad_deep", b'{"a":' * 40 + b"1" + b"}" * 40
    yield "bad_empty", b""
    yield "bad_fraction", job(train={"epochs": 2.5, "optimizer": {"name": "adam", "lr": -1}})
    yield "bad_huge", job(train={"epochs": 10**30, "optimizer": {"name": "adam", "lr": 1}})
    yield "bad_infinite", job().replace(b"0.001", b"1e999")
    yield "bad_key_twice", job()[:-1] + b', "name": "m"}'
    yield "bad_latin_1", job().replace(b'"n"', b'"\xe9"')
    yield "bad_list", b"[]"
    yield "bad_missing", b"{}"
    yield "bad_more", job() + b"{}"
    yield "bad_null", job(model=None)
    yield "bad_surrogate", job().replace(b'"n"', b'"\\ud800"')
    yield "bad_type", job(name=7, train="fast")
    yield "bad_unknown", job(trian={})


def dataset():
    good = {"name": "d", "format": "csv", "source": {"path": "d"}, "options": {"label_column": "kind", "feature_columns": ["a"]}}

    def body(**changes):
        return json.dumps({**good, **changes}).encode()
    yield "good", body()
    yield "good_upload", body(source={"upload": "upl_" + "0" * 26})
    yield "bad_both_sources", body(source={"path": "d", "upload": "upl_" + "0" * 26})
    yield "bad_column_twice", body(options={"feature_columns": ["a", "a"]})
    yield "bad_cut", cut(body(), 1)
    yield "bad_empty", b""
    yield "bad_format", body(format="parquet")
    yield "bad_name", body(name="../d")
    yield "bad_option_of_another", body(options={"image_column": "i"})
    yield "bad_option_type", body(options={"label_column": 7})
    yield "good_path_upwards", body(source={"path": "../../etc"})
    yield "bad_source", body(source=None)
    yield "bad_std", body(options={"mean": [0.5], "std": [0]})
