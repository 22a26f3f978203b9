#include "executor/import/exported_program/program.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <set>
#include <string_view>

#include "executor/import/exported_program/archive.h"

namespace slipway::importer {

namespace {

constexpr int schema_major = 8;

// ---- arguments ----

double number_of(const Json& value) {
    if (value.is_number()) return value.get<double>();
    const std::string word = value.get<std::string>();
    if (word == "Infinity") return std::numeric_limits<double>::infinity();
    if (word == "-Infinity") return -std::numeric_limits<double>::infinity();
    return std::numeric_limits<double>::quiet_NaN();
}

Argument argument_of(const Json& json);

template <class Read>
Argument list_of(const Json& items, Read read) {
    std::vector<Argument> list;
    for (const Json& item : items)
        list.push_back(read(item));
    return {std::move(list)};
}

Argument value_name(const Json& named) {
    return {ValueName{named.at("name").get<std::string>()}};
}

/// A size, a flag or a number that may be computed by the graph.
Argument symbolic(const Json& json) {
    if (json.contains("as_name")) return {ValueName{json.at("as_name").get<std::string>()}};
    return argument_of(json);
}

/// How each kind of argument of the schema is read.
struct ArgumentRow {
    std::string_view kind;
    Argument (*read)(const Json& value);
};

constexpr auto read_integer = [](const Json& value) -> Argument {
    return {value.get<std::int64_t>()};
};
constexpr auto read_flag = [](const Json& value) -> Argument { return {value.get<bool>()}; };
constexpr auto read_number = [](const Json& value) -> Argument { return {number_of(value)}; };
constexpr auto read_string = [](const Json& value) -> Argument {
    return {value.get<std::string>()};
};
constexpr auto read_none = [](const Json&) -> Argument { return {}; };

constexpr std::array argument_rows{
    ArgumentRow{"as_none", read_none},
    ArgumentRow{"as_tensor", value_name},
    ArgumentRow{"as_tensors", [](const Json& value) { return list_of(value, value_name); }},
    ArgumentRow{"as_int", read_integer},
    ArgumentRow{"as_ints", [](const Json& value) { return list_of(value, read_integer); }},
    ArgumentRow{"as_float", read_number},
    ArgumentRow{"as_floats", [](const Json& value) { return list_of(value, read_number); }},
    ArgumentRow{"as_bool", read_flag},
    ArgumentRow{"as_bools", [](const Json& value) { return list_of(value, read_flag); }},
    ArgumentRow{"as_string", read_string},
    ArgumentRow{"as_strings", [](const Json& value) { return list_of(value, read_string); }},
    ArgumentRow{"as_sym_int", symbolic},
    ArgumentRow{"as_sym_ints", [](const Json& value) { return list_of(value, symbolic); }},
    ArgumentRow{"as_sym_float", symbolic},
    ArgumentRow{"as_sym_floats", [](const Json& value) { return list_of(value, symbolic); }},
    ArgumentRow{"as_sym_bool", symbolic},
    ArgumentRow{"as_sym_bools", [](const Json& value) { return list_of(value, symbolic); }},
    ArgumentRow{"as_scalar_type", read_integer},
    ArgumentRow{"as_memory_format", read_none},
    ArgumentRow{"as_layout", read_none},
    ArgumentRow{"as_device", read_none},
    ArgumentRow{"as_optional_tensor", argument_of},
    ArgumentRow{"as_optional_tensors",
                [](const Json& value) { return list_of(value, argument_of); }}};

Argument argument_of(const Json& json) {
    if (json.is_object() && json.size() == 1) {
        const auto kind = json.begin();
        for (const ArgumentRow& row : argument_rows)
            if (row.kind == kind.key()) return row.read(kind.value());
        refuse_program(
            fmt::format("the program has an argument of kind {}, which is not read", kind.key()));
    }
    refuse_program("the program has an argument without a kind");
}

// ---- nodes ----

/// "torch.ops.aten.conv2d.default" -> "aten.conv2d.default".
std::string op_name(const std::string& target) {
    constexpr std::string_view prefix = "torch.ops.";
    return target.starts_with(prefix) ? target.substr(prefix.size()) : target;
}

/// The innermost module: "L__self__,,Net;L__self___conv1,conv1,Conv2d" -> "conv1".
std::string module_of(const Json& node) {
    if (!node.contains("metadata")) return {};
    const Json& metadata = node.at("metadata");
    if (!metadata.is_object() || !metadata.contains("nn_module_stack")) return {};
    const std::string stack = metadata.at("nn_module_stack").get<std::string>();
    const std::size_t last = stack.rfind(';');
    const std::string entry = last == std::string::npos ? stack : stack.substr(last + 1);
    const std::size_t begin = entry.find(',');
    if (begin == std::string::npos) return {};
    const std::string path = entry.substr(begin + 1, entry.find(',', begin + 1) - begin - 1);
    return path;
}

void add_results(const Json& output, std::vector<std::string>& results) {
    if (output.contains("as_tensor")) {
        results.push_back(output.at("as_tensor").at("name").get<std::string>());
        return;
    }
    if (output.contains("as_tensors")) {
        for (const Json& one : output.at("as_tensors"))
            results.push_back(one.at("name").get<std::string>());
        return;
    }
    for (const char* kind : {"as_sym_int", "as_sym_float", "as_sym_bool"}) {
        if (!output.contains(kind)) continue;
        results.push_back(output.at(kind).at("as_name").get<std::string>());
        return;
    }
    results.emplace_back();
}

NetworkNode node_of(const Json& json) {
    NetworkNode node{.op = op_name(json.at("target").get<std::string>()),
                     .name = {},
                     .module = module_of(json),
                     .arguments = {},
                     .results = {}};
    for (const Json& input : json.at("inputs"))
        node.arguments.push_back(
            {input.at("name").get<std::string>(), argument_of(input.at("arg"))});
    for (const Json& output : json.at("outputs"))
        add_results(output, node.results);
    if (json.contains("name") && json.at("name").is_string())
        node.name = json.at("name").get<std::string>();
    else if (!node.results.empty())
        node.name = node.results.front();
    return node;
}

// ---- signature ----

/// The input that a specification of the signature says; its type and dims stand in the graph.
NetworkInput input_of(const Json& spec) {
    NetworkInput input;
    if (spec.contains("parameter")) {
        input.kind = InputKind::parameter;
        input.target = spec.at("parameter").at("parameter_name").get<std::string>();
        input.name = spec.at("parameter").at("arg").at("name").get<std::string>();
    } else if (spec.contains("buffer")) {
        const Json& buffer = spec.at("buffer");
        input.kind = InputKind::buffer;
        input.target = buffer.at("buffer_name").get<std::string>();
        input.name = buffer.at("arg").at("name").get<std::string>();
        input.persistent = buffer.value("persistent", true);
    } else if (spec.contains("tensor_constant")) {
        const Json& constant = spec.at("tensor_constant");
        input.kind = InputKind::constant;
        input.target = constant.at("tensor_constant_name").get<std::string>();
        input.name = constant.at("arg").at("name").get<std::string>();
        input.persistent = false;
    } else if (spec.contains("user_input") &&
               spec.at("user_input").at("arg").contains("as_tensor")) {
        input.name = spec.at("user_input").at("arg").at("as_tensor").at("name").get<std::string>();
        input.target = input.name;
    } else {
        refuse_program(
            fmt::format("the program has an input that is neither a tensor nor a part of the "
                        "module: {}; pass tensors alone",
                        spec.dump().substr(0, 200)));
    }
    return input;
}

std::vector<NetworkInput> inputs_of(const Json& graph, const Json& signature) {
    std::vector<NetworkInput> inputs;
    std::set<std::string> targets;
    for (const Json& spec : signature.at("input_specs")) {
        NetworkInput input = input_of(spec);
        if (!graph.at("tensor_values").contains(input.name))
            refuse_program(
                fmt::format("the program does not say what the input {} is", input.name));
        const Json& meta = graph.at("tensor_values").at(input.name);
        input.dims = stored_dims(meta, input.name);
        input.dtype = stored_type(meta, input.name).dtype;
        input.requires_grad = meta.value("requires_grad", false);
        if (!targets.insert(input.target).second)
            refuse_program(fmt::format("the program has two inputs named {}", input.target));
        inputs.push_back(std::move(input));
    }
    return inputs;
}

std::vector<Argument> outputs_of(const Json& signature) {
    std::vector<Argument> outputs;
    for (const Json& spec : signature.at("output_specs"))
        if (spec.contains("user_output"))
            outputs.push_back(argument_of(spec.at("user_output").at("arg")));
    return outputs;
}

}    // namespace

Network network_of(const Json& program) {
    const int major = program.at("schema_version").at("major").get<int>();
    if (major != schema_major)
        refuse_program(
            fmt::format("the file has version {} of torch.export's schema, and version {} is "
                        "read; export it with a torch from 2.9 on that writes it",
                        major, schema_major));
    const Json& module = program.at("graph_module");
    const Json& graph = module.at("graph");
    Network network{.source = "torch " + program.value("torch_version", std::string("of old")),
                    .inputs = inputs_of(graph, module.at("signature")),
                    .nodes = {},
                    .outputs = outputs_of(module.at("signature"))};
    constexpr std::size_t nodes_max = 100'000;
    if (graph.at("nodes").size() > nodes_max)
        refuse_program(fmt::format("the program has more than {} nodes", nodes_max));
    for (const Json& node : graph.at("nodes"))
        network.nodes.push_back(node_of(node));
    return network;
}

}    // namespace slipway::importer
