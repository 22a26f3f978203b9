#include "executor/import/imported_network.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "api/base/error.h"
#include "api/base/plural.h"
#include "executor/import/lowering.h"
#include "executor/import/operators/parts.h"

namespace slipway::importer {

namespace {

[[noreturn]] void refuse_network(const std::string& message) {
    throw Error(ErrorCode::invalid_argument, message);
}

void require_operators(const Network& network) {
    const auto missing = missing_operators(network);
    if (missing.empty()) return;
    std::vector<std::string> lines;
    for (const MissingOperator& one : missing)
        lines.push_back(
            fmt::format("{} ({}, first {})", one.op, counted(one.nodes, "node"), one.first));
    refuse_network(
        fmt::format("the network has operators that are not lowered: {}. Export it again with "
                    "exported.run_decompositions() for these, or write the module without them",
                    fmt::join(lines, "; ")));
}

/// The batch is free, and the rest is what the dataset has.
void require_sample(const NetworkInput& sample, const Dims& dims) {
    if (sample.dims.empty() || sample.dims[0] != -1)
        refuse_network(
            fmt::format("the network was exported for a batch of {}; export it with a free "
                        "one: dynamic_shapes={{\"{}\": {{0: torch.export.Dim.DYNAMIC}}}}, and "
                        "an example of at least 2 samples",
                        sample.dims.empty() ? 0 : sample.dims[0], sample.target));
    const std::span<const std::int64_t> wanted = std::span(sample.dims).subspan(1);
    bool fits = wanted.size() == dims.size();
    for (std::size_t i = 0; fits && i < dims.size(); ++i)
        fits = wanted[i] == -1 || wanted[i] == dims[i];
    if (!fits)
        refuse_network(
            fmt::format("the network takes samples of [{}], and those of the dataset are [{}]; "
                        "export it with an example of that shape, or set data.image_size",
                        fmt::join(wanted, ", "), fmt::join(dims, ", ")));
}

const NetworkInput& only_sample(const Network& network) {
    const NetworkInput* sample = nullptr;
    for (const NetworkInput& input : network.inputs) {
        if (input.kind != InputKind::sample) continue;
        if (sample != nullptr)
            refuse_network(
                fmt::format("the network takes {} and {}; one input is trained: the features "
                            "of a sample",
                            sample->target, input.target));
        sample = &input;
    }
    if (sample == nullptr) refuse_network("the network takes no input");
    if (!is_floating(sample->dtype))
        refuse_network(
            fmt::format("the network takes whole numbers as {}; features are floating numbers",
                        sample->target));
    return *sample;
}

/// Names of the graph that stand for running statistics which a batch norm moves, and counts.
struct Moving {
    std::set<std::string> statistics, counts;
};

Moving moving_buffers(const Network& network) {
    Moving moving;
    for (const NetworkNode& node : network.nodes) {
        if (!node.op.starts_with("aten.batch_norm.")) continue;
        const auto argument = [&](std::string_view name) -> const Argument* {
            const auto found = std::ranges::find(node.arguments, name, &NamedArgument::name);
            return found == node.arguments.end() ? nullptr : &found->argument;
        };
        const Argument* training = argument("training");
        if (training == nullptr || training->value != Argument{true}.value) continue;
        for (const char* name : {"running_mean", "running_var"})
            if (const Argument* given = argument(name))
                if (const auto* value = std::get_if<ValueName>(&given->value))
                    moving.statistics.insert(value->name);
    }
    for (const NetworkInput& input : network.inputs)
        if (input.kind == InputKind::buffer && input.dtype == DType::i64 && input.dims.empty() &&
            input.target.ends_with("num_batches_tracked"))
            moving.counts.insert(input.name);
    return moving;
}

Array value_of(const NetworkInput& input, std::span<const NamedArray> values) {
    const auto found = std::ranges::find(values, input.target, &NamedArray::name);
    if (found != values.end()) return found->array;
    if (!values.empty()) refuse_network(fmt::format("there is no value for {}", input.target));
    return Array(Shape{input.dtype, input.dims});
}

/// Adds the tensors of the network to the list; gives the value of each name of the graph.
std::unordered_map<std::string, Value> add_tensors(ParameterList& parameters,
                                                   const Network& network,
                                                   std::span<const NamedArray> values) {
    const Moving moving = moving_buffers(network);
    for (const NetworkInput& input : network.inputs)
        if (!input.shares.empty()) parameters.tie(input.shares, input.target);
    std::unordered_map<std::string, Value> tensors;
    for (const NetworkInput& input : network.inputs) {
        if (input.kind == InputKind::sample) continue;
        if (input.number) {
            tensors[input.name] = {constant(*input.number, array_type(input.dtype))};
        } else if (moving.counts.contains(input.name)) {
            // The trainer counts; where the program adds to it nothing is traced from it.
            parameters.add_batch_count(input.target);
            if (!values.empty())
                parameters.batch_counts().back().value =
                    value_of(input, values).as<std::int64_t>()[0];
            tensors[input.name] = {constant(0, DType::i32)};
        } else if (moving.statistics.contains(input.name)) {
            tensors[input.name] = {parameters.add_statistic(input.target, value_of(input, values))};
        } else {
            const bool trains = input.kind == InputKind::parameter && input.requires_grad &&
                                is_floating(input.dtype);
            const Tensor tensor = trains
                                      ? parameters.add(input.target, value_of(input, values))
                                      : parameters.add_fixed(input.target, value_of(input, values),
                                                             !input.persistent);
            tensors[input.name] = {as_type(tensor, array_type(tensor.dtype()))};
        }
    }
    return tensors;
}

std::optional<bool> flag_of(const NetworkNode& node, std::string_view name) {
    const auto found = std::ranges::find(node.arguments, name, &NamedArgument::name);
    if (found == node.arguments.end()) return std::nullopt;
    const auto* flag = std::get_if<bool>(&found->argument.value);
    return flag == nullptr ? std::nullopt : std::optional(*flag);
}

/// A module that was exported after module.eval() trains otherwise than in PyTorch.
std::string warning_of(const Network& network) {
    std::int64_t norms = 0, drops = 0;
    for (const NetworkNode& node : network.nodes) {
        const bool is_norm = node.op.starts_with("aten.batch_norm.");
        const bool is_drop = node.op.starts_with("aten.dropout");
        const auto trains = flag_of(node, is_norm ? "training" : "train");
        if ((is_norm || is_drop) && trains.value_or(true)) return {};
        norms += is_norm;
        drops += is_drop;
    }
    if (norms + drops == 0) return {};
    return fmt::format(
        "the network was exported in evaluation mode: {} {} statistics as they are, "
        "and {} nothing; to train it as PyTorch does, export it after "
        "module.train()",
        counted(norms, "batch norm"), norms == 1 ? "keeps its" : "keep their",
        drops == 1 ? "1 dropout does" : counted(drops, "dropout") + " do");
}

/// The layer whose weight makes the result: what model.head.replace replaces.
std::string head_of(const Network& network) {
    const auto* name =
        network.outputs.empty() ? nullptr : std::get_if<ValueName>(&network.outputs[0].value);
    if (name == nullptr) return {};
    for (const NetworkNode& node : network.nodes) {
        if (std::ranges::find(node.results, name->name) == node.results.end()) continue;
        for (const NamedArgument& one : node.arguments) {
            const auto* given = std::get_if<ValueName>(&one.argument.value);
            if (one.name != "weight" || given == nullptr) continue;
            const auto input = std::ranges::find(network.inputs, given->name, &NetworkInput::name);
            if (input != network.inputs.end() && input->target.ends_with(".weight"))
                return input->target.substr(0, input->target.rfind('.'));
        }
    }
    return {};
}

Tensor logits_of(const std::vector<Value>& outputs, std::int64_t samples, std::int64_t wanted) {
    const Tensor* first = outputs.empty() ? nullptr : outputs.front().tensor();
    if (first == nullptr) refuse_network("the network's first result is no tensor");
    const Dims expected{samples, wanted};
    if (first->dims() == expected) return as_floating(*first);
    if (wanted == 1 && first->dims() == Dims{samples})
        return reshape(as_floating(*first), expected);
    refuse_network(
        fmt::format("the network's result is [{}] for {} samples, and the job needs [{}]: an "
                    "output for each class or label; give its last layer {}, or set "
                    "model.num_classes",
                    fmt::join(first->dims(), ", "), samples, fmt::join(expected, ", "),
                    counted(wanted, "output")));
}

}    // namespace

ImportedNetwork ImportedNetwork::create(ParameterList& parameters,
                                        std::shared_ptr<const Network> network,
                                        std::span<const NamedArray> values,
                                        const Options& options) {
    require_operators(*network);
    const NetworkInput& sample = only_sample(*network);
    require_sample(sample, options.sample_dims);
    ImportedNetwork imported{.forward = {},
                             .dropout = highest_dropout(*network),
                             .warning = warning_of(*network),
                             .head = head_of(*network)};
    if (imported.dropout >= 1)
        refuse_network("the network drops everything: a dropout has the rate 1");
    imported.forward = [network, tensors = add_tensors(parameters, *network, values),
                        name = sample.name, outputs = options.outputs, dropout = imported.dropout,
                        sync_norms = options.sync_norms](const Tensor& x, ForwardPass& pass) {
        Trace trace{.pass = pass,
                    .batch = x.dims()[0],
                    .highest_dropout = dropout,
                    .sync_norms = sync_norms};
        auto inputs = tensors;
        inputs[name] = {x};
        return logits_of(lower_network(*network, trace, std::move(inputs)), x.dims()[0], outputs);
    };
    // What does not fit is said before anything is compiled.
    Dims dims = options.sample_dims;
    dims.insert(dims.begin(), options.batch_size);
    ForwardPass pass{.training = true, .core_share = constant(1)};
    imported(input({DType::f32, dims}, Placement::per_core, sample.name), pass);
    return imported;
}

}    // namespace slipway::importer
