// What a job's network says with given weights, evaluating, as safetensors: for comparisons with
// the same network elsewhere.
//
// usage: bench_network_logits JOB WEIGHTS FEATURES LOGITS [PADDING]
//   JOB       a job spec with model.num_classes or model.vocab_size
//   WEIGHTS   a checkpoint's folder or a safetensors file
//   FEATURES  a safetensors file of one tensor: f32 [n, ...] or tokens i32 [n, s]
//   LOGITS    is written: f32 [n, classes] or [n, s, vocabulary]
//   PADDING   the token that nothing looks at
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "api/base/error.h"
#include "executor/checkpoint/safetensors.h"
#include "executor/engine/engine.h"
#include "executor/main/run_folder.h"
#include "executor/train/initial_weights.h"

namespace {

using namespace slipway;

JobSpec read_job(const char* path) {
    std::ifstream stream(path, std::ios::binary);
    return read_job_spec({std::istreambuf_iterator<char>(stream), {}}).value();
}

Array logits_of(const JobSpec& spec, const char* weights, const Array& features,
                std::optional<std::int64_t> padding) {
    const auto outputs = spec.model.vocab_size ? spec.model.vocab_size : spec.model.num_classes;
    if (!outputs) {
        throw Error(ErrorCode::invalid_argument,
                    "the job says neither model.num_classes nor model.vocab_size");
    }
    const Dims& dims = features.shape().dims;
    Model model = build_model(spec, {dims.begin() + 1, dims.end()}, *outputs, Init::zeros(),
                              {.padding = padding});
    load_initial_weights(model, weights, {});
    Graph graph;
    std::vector<Value> values;
    for (const auto* list : {&model.parameters.all(), &model.parameters.statistics()})
        for (const Parameter& parameter : *list) {
            graph.inputs.push_back(parameter.input);
            values.push_back({{parameter.value}});
        }
    graph.inputs.push_back(input(features.shape(), Placement::replicated, "features"));
    values.push_back({{features}});
    ForwardPass pass;
    graph.outputs = {model.forward(graph.inputs.back(), pass)};
    Engine engine({.cores = 1, .workers = 1});
    return engine.run(*engine.compile(graph), values)[0].arrays[0];
}

}    // namespace

int main(int argc, char** argv) {
    if (argc != 5 && argc != 6) {
        fmt::print(stderr, "usage: {} JOB WEIGHTS FEATURES LOGITS [PADDING]\n", argv[0]);
        return 2;
    }
    try {
        const Safetensors features = read_safetensors(argv[3]).value();
        std::optional<std::int64_t> padding;
        if (argc == 6) padding = std::stoll(argv[5]);
        const std::vector<NamedArray> found{
            {"logits",
             logits_of(read_job(argv[1]), argv[2], features.tensors.at(0).array, padding)}};
        write_safetensors(argv[4], found);
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}: {}\n", argv[0], error.what());
        return 1;
    }
}
