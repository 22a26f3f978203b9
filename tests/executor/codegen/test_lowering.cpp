#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/error.h"
#include "executor/codegen/analysis.h"
#include "executor/codegen/lower.h"
#include "executor/graph/op_table.h"
#include "executor/graph/ops.h"
#include "tests/executor/codegen/run_graph.h"

namespace slipway {
namespace {

using testing::IsEmpty;

Tensor core_input(Dims dims = {8, 8}) {
    return input({DType::f32, std::move(dims)}, Placement::per_core, "x");
}
Tensor shared_input(Dims dims = {8, 8}) {
    return input({DType::f32, std::move(dims)}, Placement::replicated, "w");
}

std::vector<bool> stage_kinds(const Program& program) {
    std::vector<bool> kinds;
    for (const Stage& stage : program.stages)
        kinds.push_back(stage.per_core);
    return kinds;
}

TEST(Stages, alternate_with_the_placements) {
    const Tensor w = shared_input();
    const Tensor x = core_input();
    const Tensor v = tanh(w);
    const Tensor mean = all_reduce(matmul(x, v)) * constant(0.125);
    const Tensor y = x - mean;
    const Tensor total = all_reduce(y * y);
    const Graph graph = graph_of({total + w});
    const Program program = lower(graph, {});
    EXPECT_EQ(stage_kinds(program), (std::vector<bool>{false, true, false, true, false}));
    EXPECT_EQ(compare_with_reference(graph, sum_tolerance(200), 1), "");
}

TEST(Stages, do_replicated_work_once_even_copies) {
    const Tensor w = shared_input({6, 5, 4});
    const Tensor x = core_input({4, 6});
    const Tensor y = dot_general(x, w, {{}, {}, {0}, {2}});    // [6, 6, 5]
    const Tensor z = dot_general(core_input({7, 24}), reshape(transpose(w, {0, 2, 1}), {24, 5}),
                                 {{}, {}, {1}, {0}});
    const Graph graph = graph_of({y, z});
    const Program program = lower(graph, {});
    ASSERT_EQ(stage_kinds(program), (std::vector<bool>{false, true}));
    EXPECT_EQ(program.stages[0].step_count, 1u);
    EXPECT_EQ(program.stages[1].step_count, 2u);
    EXPECT_EQ(compare_with_reference(graph, sum_tolerance(24), 2), "");
}

// Goal: a view that cannot be had without a copy is copied in its stage and read in a later one.
TEST(Stages, keep_a_copy_that_a_later_one_reads) {
    const Tensor x = tanh(core_input({4, 6, 5}));
    const Tensor flat = reshape(transpose(x, {2, 0, 1}), {5, 24});
    const Tensor total = all_reduce(flat);
    const Graph graph = graph_of({flat * total, matmul(flat, shared_input({24, 3}))});
    EXPECT_EQ(compare_with_reference(graph, sum_tolerance(24), 6), "");
}

TEST(AllReduce, takes_its_contribution_from_anywhere) {
    const Tensor x = core_input();
    const Tensor product = matmul(x, shared_input());
    const Graph graph = graph_of({
        all_reduce(x),                              // an input
        all_reduce(transpose(x, {1, 0})),           // a view
        all_reduce(product),                        // a result
        all_reduce(product, Reduction::maximum),    // the same once more
        all_reduce(reshape(product, {64})),         // and under another shape
        all_reduce(tanh(x), Reduction::minimum),
        all_reduce(broadcast_in_dim(core_input({8}), {8, 8}, {0})),
        product,    // which is an output too
        x - all_reduce(product),
    });
    EXPECT_EQ(compare_with_reference(graph, sum_tolerance(64), 3), "");
}

TEST(AllReduce, keeps_values_that_later_stages_read_for_each_core) {
    const Tensor x = core_input();
    const Tensor y = matmul(x, x);
    const Tensor sum = all_reduce(y);
    const Tensor z = y - sum;
    const Graph graph = graph_of({z, transpose(y, {1, 0}) * sum, all_reduce(z * y)});
    EXPECT_EQ(compare_with_reference(graph, sum_tolerance(5000), 4), "");
}

TEST(Outputs, may_be_anything) {
    const Tensor x = core_input();
    const Tensor w = shared_input();
    const Tensor y = tanh(w);
    const Graph graph =
        graph_of({x, w, w, transpose(w, {1, 0}), y, y, reshape(y, {64}), constant(3),
                  iota({DType::i32, {4}}, 0), all_reduce(x), slice(x, {0, 0}, {1, 8}, {1, 1}),
                  broadcast_in_dim(constant(2), {3}, {})});
    EXPECT_EQ(compare_with_reference(graph, {1e-6, 1e-6}, 5), "");
}

TEST(Outputs, may_be_none) {
    EXPECT_THAT(lower(graph_of({}), {}).steps, IsEmpty());
}

/// Donates input i to output i for the first `count` inputs; returns the program's arena for
/// replicated temporaries.
std::int64_t check_donation(Graph graph, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        graph.donations.push_back({.output = i, .input = i});
    EXPECT_EQ(compare_with_reference(graph, {1e-6, 1e-6}, 6), "");
    return lower(graph, {}).arena_bytes[std::size_t(Region::shared)];
}

Graph with_inputs(std::vector<Tensor> inputs, std::vector<Tensor> outputs) {
    return {std::move(inputs), std::move(outputs), {}};
}

TEST(Donation, overwrites_a_input_that_nobody_reads_any_more) {
    const Tensor w = shared_input();
    const Tensor gradient = shared_input();
    EXPECT_EQ(check_donation(with_inputs({w, gradient}, {w - gradient * constant(0.1)}), 1), 0);
}

TEST(Donation, works_for_momentum_without_temporaries) {
    const Tensor w = shared_input();
    const Tensor velocity = shared_input();
    const Tensor gradient = shared_input();
    const Tensor next = velocity * constant(0.9) + gradient;
    EXPECT_EQ(
        check_donation(with_inputs({w, velocity, gradient}, {w - next * constant(0.1), next}), 2),
        0);
}

TEST(Donation, waits_for_readers_of_the_old_value) {
    const Tensor w = shared_input();
    const Tensor next = w * constant(2);
    const Tensor late = matmul(w, next);
    EXPECT_GT(check_donation(with_inputs({w}, {next, late}), 1), 0);
    EXPECT_GT(check_donation(with_inputs({w}, {next, w}), 1), 0);
    EXPECT_GT(check_donation(with_inputs({w}, {matmul(w, w)}), 1), 0);
    EXPECT_GT(check_donation(with_inputs({w}, {w + transpose(w, {1, 0})}), 1), 0);
    const Tensor x = core_input();
    EXPECT_GT(check_donation(with_inputs({w, x}, {next, all_reduce(x * w)}), 1), 0);
}

TEST(Donation, may_give_a_input_back_or_swap_two) {
    const Tensor w = shared_input();
    const Tensor v = shared_input();
    EXPECT_EQ(check_donation(with_inputs({w}, {w}), 1), 0);
    EXPECT_GT(check_donation(with_inputs({w, v}, {v, w}), 2), 0);
    EXPECT_GT(check_donation(with_inputs({w, v}, {transpose(w, {1, 0}), w}), 2), 0);
    // One kernel reads both before it writes both.
    EXPECT_EQ(check_donation(with_inputs({w, v}, {w + v, w - v}), 2), 0);
    const Tensor same = w * v;
    EXPECT_GT(check_donation(with_inputs({w, v}, {same, same}), 2), 0);
    EXPECT_GE(check_donation(with_inputs({w, v}, {broadcast(constant(1), {8, 8}), w}), 2), 0);
}

TEST(BufferPlan, lets_temporaries_share_bytes) {
    Tensor x = core_input({100, 100});
    const Tensor w = shared_input({100, 100});
    for (int i = 0; i < 20; ++i)
        x = matmul(x, w);
    const Program program = lower(graph_of({x}), {});
    std::int64_t largest_scratch = 0;
    for (const Buffer& buffer : program.buffers)
        if (buffer.shape.dtype == DType::u8)
            largest_scratch = std::max(largest_scratch, buffer.shape.byte_count());
    EXPECT_LE(program.arena_bytes[std::size_t(Region::worker)], 2 * 40064 + largest_scratch + 64);
}

TEST(BufferPlan, lets_results_take_their_operands_place) {
    const Tensor x = core_input({100, 100});
    const Tensor y = matmul(x, x);
    const Tensor z = tanh(y) + constant(1);    // y ends here
    const Tensor both = z * z;
    const Program program = lower(graph_of({reduce(z, {0, 1}, Reduction::add),
                                            reduce(transpose(both, {1, 0}), {0}, Reduction::add)}),
                                  {});
    std::int64_t scratch = 0;
    for (const Buffer& buffer : program.buffers)
        if (buffer.shape.dtype == DType::u8) scratch += buffer.shape.byte_count() + 64;
    EXPECT_LE(program.arena_bytes[std::size_t(Region::worker)], 40064 + 512 + scratch);
}

TEST(Lowering, is_the_same_every_time) {
    const Tensor x = core_input();
    const Graph graph = graph_of({all_reduce(matmul(tanh(x), shared_input())), x * x});
    EXPECT_EQ(print(lower(graph, {})), print(lower(graph, {})));
}

TEST(Lowering, counts_the_code_of_each_kernel_once) {
    const Tensor x = core_input(), w = shared_input();
    const Tensor once = matmul(tanh(matmul(x, w)), w);
    const Tensor twice = matmul(tanh(once), w);
    const std::int64_t bytes = lower(graph_of({once}), {}).code_bytes;
    EXPECT_GT(bytes, 0);
    EXPECT_EQ(lower(graph_of({twice}), {}).code_bytes, bytes);
    EXPECT_GT(lower(graph_of({matmul(exponential(once), w)}), {}).code_bytes, bytes);
    EXPECT_EQ(lower(graph_of({matmul(x, w)}), {}).code_bytes, 0);
}

// What has no kernel is an answer to whoever asked for it, not the end of the process.
TEST(Lowering, refuses_what_it_has_no_kernel_for) {
    const Tensor x = core_input();
    const std::vector<Tensor> refused{
        softmax(x),
        batch_norm_training(x, shared_input({8}), shared_input({8}), 0.1, 1).mean,
        erf(input({DType::f64, {8}}, Placement::per_core, "exact")),
    };
    for (const Tensor& tensor : refused) {
        try {
            lower(graph_of({tensor}), {});
            ADD_FAILURE() << "was not refused: " << name_of(tensor.node());
        } catch (const Error& problem) {
            EXPECT_EQ(problem.code(), ErrorCode::invalid_argument) << problem.what();
        }
    }
}

}    // namespace
}    // namespace slipway
