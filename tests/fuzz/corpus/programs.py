"""Archives of torch.export: a small real one, and the same with one thing changed."""
import io
import json
import pathlib
import zipfile

from corpus.edits import cut

REAL = pathlib.Path(__file__).parents[2] / "executor" / "import" / "reference" / "points.pt2"
PROGRAM = "archive/models/model.json"
WEIGHTS = "archive/data/weights/model_weights_config.json"


def members():
    with zipfile.ZipFile(REAL) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(content):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED, 9)
    return stream.getvalue()


def edited(member, edit):
    content = members()
    document = json.loads(content[member])
    edit(document)
    return packed({**content, member: json.dumps(document, separators=(",", ":")).encode()})


def graph(document):
    return document["graph_module"]["graph"]


def with_node(position, **changes):
    return edited(PROGRAM, lambda document: graph(document)["nodes"][position].update(changes))


def sized(sizes):
    def edit(document):
        document["config"]["last.bias"]["tensor_meta"]["sizes"] = [{"as_int": size} for size in sizes]
        document["config"]["last.bias"]["tensor_meta"]["strides"] = [{"as_int": 1} for _ in sizes]
    return edited(WEIGHTS, edit)


def exported_program():
    good = REAL.read_bytes()
    yield "good", good
    yield "bad_empty", b""
    yield "bad_text", b"a network"
    yield "bad_cut", cut(good, 200)
    yield "bad_no_program", packed({name: data for name, data in members().items() if name != PROGRAM})
    yield "bad_no_weights", packed({name: data for name, data in members().items() if "/weights/" not in name})
    yield "bad_program_text", packed({**members(), PROGRAM: b"{"})
    yield "bad_program_list", packed({**members(), PROGRAM: b"[]"})
    yield "bad_schema", edited(PROGRAM, lambda document: document["schema_version"].update(major=7))
    yield "bad_operator", with_node(0, target="torch.ops.aten.nonzero.default")
    yield "bad_operator_of_others", with_node(0, target="os.system")
    yield "bad_argument", with_node(0, inputs=[{"name": "self", "arg": {"as_custom_obj": {}}, "kind": 1}])
    yield "bad_argument_absent", with_node(0, inputs=[])
    yield "bad_cycle", with_node(0, inputs=[{"name": "self", "arg": {"as_tensor": {"name": "linear_1"}}, "kind": 1}])
    yield "bad_output", edited(PROGRAM, lambda document: document["graph_module"]["signature"].update(output_specs=[]))
    yield "bad_two_of_a_name", edited(PROGRAM, lambda document: document["graph_module"]["signature"]["input_specs"][1]["parameter"].update(
        parameter_name="first.weight"))
    yield "bad_size_lies", sized([3])
    yield "bad_size_negative", sized([-1])
    yield "bad_size_huge", sized([1 << 40, 1 << 40])
    yield "bad_pickle", edited(WEIGHTS, lambda document: document["config"]["last.bias"].update(use_pickle=True))
    yield "bad_path", edited(WEIGHTS, lambda document: document["config"]["last.bias"].update(path_name="../../etc/passwd"))
