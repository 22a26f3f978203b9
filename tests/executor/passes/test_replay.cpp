#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "api/base/sha256.h"
#include "executor/autodiff/gradients.h"
#include "executor/graph/ops.h"
#include "executor/graph/print.h"
#include "executor/nn/models/lenet.h"
#include "executor/nn/models/mlp.h"
#include "executor/passes/pipeline.h"
#include "executor/train/step.h"
#include "tests/executor/train/class_batch.h"
#include "tests/support/temp_folder.h"

// Goal: a refactor that changes a program is seen.
// Method: the texts of some optimized steps, by the first digits of their SHA-256, are written down
// in replay.txt. Where a change is meant, the test prints the line to write there instead;
// SLIPWAY_DUMP=1 prints the texts after each pass, to compare with those of the commit before.
namespace slipway {
namespace {

Graph step_of(const Model& model, const char* optimizer, Dims sample_dims) {
    return trace_train_step(model, class_task(), find_optimizer(optimizer),
                            class_batch(4, std::move(sample_dims)))
        .graph;
}

Graph mlp_step() {
    Model model;
    Init init(1);
    model.forward = without_pass(Mlp::create(model.parameters, init, 12, {8, 6}, 3));
    return step_of(model, "adam", {3, 4});
}

Graph lenet_step() {
    Model model;
    Init init(1);
    model.forward = without_pass(
        LeNet::create(model.parameters, init,
                      {.channels = 1, .height = 12, .width = 12, .classes = 10, .multiplier = 1}));
    return step_of(model, "sgd_momentum", {1, 12, 12});
}

/// One block of a transformer with its gradients.
Graph block_step() {
    std::vector<Tensor> inputs;
    const auto add_input = [&](Shape shape, Placement placement) {
        inputs.push_back(input(std::move(shape), placement, "x"));
        return inputs.back();
    };
    const auto weight = [&](Dims dims) {
        return add_input({DType::f32, std::move(dims)}, Placement::replicated);
    };
    const Tensor table = weight({7, 8});
    const Tensor scale = weight({8});
    const Tensor offset = weight({8});
    const Tensor inner = weight({8, 8});
    const std::vector<Tensor> parameters = inputs;
    const Tensor rate = add_input({DType::f32, {}}, Placement::replicated);
    const Tensor key = add_input({DType::u32, {2}}, Placement::replicated);
    const Tensor first = add_input({DType::i32, {}}, Placement::per_core);
    const Tensor tokens = add_input({DType::i32, {2, 5}}, Placement::per_core);
    const Tensor x = layer_norm(embedding(table, tokens), scale, offset, 1e-5);
    const Tensor heads = transpose(reshape(x, {2, 5, 2, 4}), {0, 2, 1, 3});
    const Tensor mixed = attention(heads, heads, heads, 0.5, true, Tensor());
    const Tensor joined = reshape(transpose(mixed, {0, 2, 1, 3}), {2, 5, 8});
    const Tensor hidden = dropout(gelu(linear(joined, inner, offset), true), rate, key, 1, first);
    const Tensor logits = linear(hidden, table, Tensor());
    const Tensor loss = reduce(cross_entropy(logits, tokens), {0, 1}, Reduction::add);
    Graph graph{inputs, {all_reduce(loss)}, {}};
    for (const Tensor& flow : gradients(loss, parameters))
        graph.outputs.push_back(all_reduce(flow));
    return graph;
}

/// "NAME PRECISION hash…", one hash for each pass.
std::string line_of(const std::string& name, const Graph& graph, PrecisionPolicy precision) {
    constexpr std::string_view names[] = {"f32", "bf16", "bf16_true"};
    OptimizeOptions options;
    options.passes.precision = precision;
    options.dump = true;
    std::string line = fmt::format("{} {}", name, names[std::size_t(precision)]);
    for (const PassRecord& pass : optimize(graph, options).passes) {
        if (std::getenv("SLIPWAY_DUMP") != nullptr)
            fmt::print("# {} after {}\n{}\n", line, pass.name, pass.text);
        line += fmt::format(" {}={}", pass.name, sha256_hex(pass.text).substr(0, 12));
    }
    return line + "\n";
}

TEST(Replay, programs_stay_the_same) {
    const std::map<std::string, Graph> graphs{
        {"mlp", mlp_step()}, {"lenet", lenet_step()}, {"block", block_step()}};
    std::string lines;
    for (const auto& [name, graph] : graphs)
        for (const PrecisionPolicy precision :
             {PrecisionPolicy::f32, PrecisionPolicy::bf16, PrecisionPolicy::bf16_true})
            lines += line_of(name, graph, precision);
    const std::filesystem::path file =
        std::filesystem::path(SLIPWAY_SOURCE_DIR) / "tests/executor/passes/replay.txt";
    if (std::getenv("SLIPWAY_UPDATE") != nullptr) std::ofstream(file) << lines;
    EXPECT_EQ(read_file(file), lines) << "programs changed; if that is meant, run this with "
                                         "SLIPWAY_UPDATE=1";
}

}    // namespace
}    // namespace slipway
