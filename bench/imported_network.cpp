// What an imported network computes, for comparisons with torch: its result in an evaluation, and
// of a training step of one core without dropout the result, the mean cross-entropy, the gradients
// of all that trains and the new running statistics.
//
// usage: bench_imported_network FILE BATCH OUT
//   FILE   what torch.export has written (.pt2)
//   BATCH  a safetensors file: features f32 [n, ...], labels i32 [n], outputs i32 []: how many each
//          sample has
//   OUT    is written: evaluated, trained, loss, gradient.NAME, statistic.NAME
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "api/base/error.h"
#include "executor/autodiff/gradients.h"
#include "executor/checkpoint/safetensors.h"
#include "executor/engine/engine.h"
#include "executor/import/exported_program.h"
#include "executor/import/imported_network.h"
#include "executor/nn/loss.h"

namespace {

using namespace slipway;

const Array& found(const Safetensors& file, const char* name) {
    const auto at = std::ranges::find(file.tensors, name, &NamedArray::name);
    if (at == file.tensors.end())
        throw Error(ErrorCode::invalid_argument, fmt::format("there is no tensor {}", name));
    return at->array;
}

std::vector<NamedArray> computed(const char* path, const Safetensors& batch) {
    const importer::ExportedProgram program = importer::read_exported_program(path);
    const Array &features = found(batch, "features"), &labels = found(batch, "labels");
    const Dims& dims = features.shape().dims;
    ParameterList parameters;
    const auto outputs = found(batch, "outputs").as<std::int32_t>()[0];
    const auto network = importer::ImportedNetwork::create(
        parameters, std::make_shared<const importer::Network>(program.network), program.values,
        {.sample_dims = {dims.begin() + 1, dims.end()}, .outputs = outputs, .batch_size = dims[0]});
    Graph graph;
    std::vector<Value> values;
    std::vector<Tensor> trained;
    std::vector<std::string> names{"evaluated", "trained", "loss"};
    for (const auto* list : {&parameters.all(), &parameters.statistics()})
        for (const Parameter& parameter : *list) {
            graph.inputs.push_back(parameter.input);
            values.push_back({{parameter.value}});
            const bool trains = list == &parameters.all() && parameter.trains;
            if (trains) trained.push_back(parameter.input);
        }
    for (const Parameter& parameter : parameters.all())
        if (parameter.trains) names.push_back("gradient." + parameter.name);
    for (const Parameter& statistic : parameters.statistics())
        names.push_back("statistic." + statistic.name);
    graph.inputs.push_back(input(features.shape(), Placement::per_core, "features"));
    values.push_back({{features}});
    const Tensor x = graph.inputs.back();
    graph.inputs.push_back(input(labels.shape(), Placement::per_core, "labels"));
    values.push_back({{labels}});

    ForwardPass evaluation;
    ForwardPass training{.training = true, .core_share = constant(1)};
    const Tensor evaluated = network(x, evaluation), logits = network(x, training);
    const Tensor loss =
        cross_entropy_sum(logits, graph.inputs.back()) * constant(1 / double(dims[0]));
    graph.outputs = {evaluated, logits, loss};
    for (const Tensor& gradient : gradients(loss, trained))
        graph.outputs.push_back(sum_of_shares(gradient));
    for (const Tensor& statistic : new_statistics(parameters, training))
        graph.outputs.push_back(statistic);
    Engine engine({.cores = 1, .workers = 1});
    const std::vector<Value> results = engine.run(*engine.compile(graph), values);
    std::vector<NamedArray> named;
    for (std::size_t i = 0; i < names.size(); ++i)
        named.push_back({names[i], results[i].arrays[0]});
    return named;
}

}    // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        fmt::print(stderr, "usage: {} FILE BATCH OUT\n", argv[0]);
        return 2;
    }
    try {
        write_safetensors(argv[3], computed(argv[1], read_safetensors(argv[2]).value()));
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
