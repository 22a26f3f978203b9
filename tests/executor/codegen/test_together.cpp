#include "executor/codegen/together.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "executor/codegen/lower.h"
#include "executor/codegen/onednn/matmul.h"
#include "executor/graph/op_table.h"
#include "executor/graph/ops.h"
#include "executor/processor/instruction_set.h"
#include "tests/executor/codegen/run_graph.h"

namespace slipway {
namespace {

struct TogetherCase {
    const char* name;
    Dims images, weights;
    std::int64_t stride = 1;
    DType dtype = DType::f32;
};

const TogetherCase together_cases[] = {
    {"small_images", {1, 64, 4, 4}, {64, 64, 3, 3}},
    {"two_images", {2, 64, 2, 2}, {64, 64, 3, 3}},
    {"a_stride", {1, 32, 4, 4}, {64, 32, 3, 3}, 2},
    {"bf16", {1, 64, 4, 4}, {64, 64, 3, 3}, 1, DType::bf16},
    {"tiles", {1, 64, 16, 16}, {64, 64, 3, 3}},
    {"tiles_as_large_as_the_weights", {1, 32, 14, 14}, {64, 32, 3, 3}},
};

Tensor core_input(Dims dims, DType dtype) {
    return input({dtype, std::move(dims)}, Placement::per_core, "x");
}

/// A convolution between other work, and the gradient of its images.
Graph network(const TogetherCase& c) {
    const Tensor w = input({c.dtype, c.weights}, Placement::replicated, "w");
    const Tensor y = convolution_2d(tanh(core_input(c.images, c.dtype)), w, c.stride, 1);
    const Tensor dy = tanh(core_input(y.dims(), c.dtype));
    const Tensor dx = row_of(OpCode::convolution).gradient(y, dy)[0];
    // What is added up and read by others is each core's own for these.
    const Tensor sums = reduce(convert(y, DType::f32), {0, 2, 3}, Reduction::add);
    return graph_of({tanh(y), tanh(dx), all_reduce(sums), tanh(sums)});
}

/// On AVX2 more of the library's products depend on the number of rows, and fewer are joined.
bool joins_all() {
    return instruction_set() >= InstructionSet::avx512_core;
}

std::int64_t count_together(const Program& program) {
    return std::ranges::count_if(program.steps,
                                 [](const Step& step) { return bool(step.together); });
}

class Together : public testing::TestWithParam<TogetherCase> {};

// Four cores on two workers: two replicas together.
TEST_P(Together, is_what_the_reference_says) {
    if (GetParam().dtype == DType::bf16 && !multiplies_bf16())
        GTEST_SKIP() << "the library has no bf16 on this processor";
    const Graph graph = network(GetParam());
    const Program program = lower(graph, {.workers = 2, .cores = 4});
    if (joins_all()) {
        EXPECT_EQ(program.replicas_together, 2);
        EXPECT_EQ(count_together(program), 2) << print(program);
    }
    Tolerance tolerance = sum_tolerance(2 * 576);
    // A bf16 result is rounded once, near a tie perhaps to the other neighbour, and so is tanh.
    if (GetParam().dtype == DType::bf16)
        tolerance = {.absolute = 16.0 / 128, .relative = 2.0 / 128};
    // An element of a filtered convolution is off by 5e-5 of their root mean square, which is 8, at
    // most, and the errors of four cores' 256 positions walk: 2e-3 is four times what was seen.
    if (std::string_view(GetParam().name).starts_with("tiles")) tolerance = {.absolute = 2e-3};
    EXPECT_EQ(compare_with_reference(graph, tolerance, 3), "");
}

// Goal: the bits of one replica after the other, which eight workers compute.
TEST_P(Together, has_the_same_bits_on_any_number_of_workers) {
    if (GetParam().dtype == DType::bf16 && !multiplies_bf16())
        GTEST_SKIP() << "the library has no bf16 on this processor";
    const Graph graph = network(GetParam());
    const auto inputs = random_inputs(graph, 8, 11);
    expect_same_bits_on_any_workers(graph, inputs);
}

INSTANTIATE_TEST_SUITE_P(Cases, Together, testing::ValuesIn(together_cases),
                         [](const auto& test) { return std::string(test.param.name); });

struct RowsCase {
    const char* name;
    std::int64_t rows, terms, columns;
    bool turns_weights = false;    ///< they lie as [columns, terms]
    DType dtype = DType::f32;
};

// Of turned weights, whose terms lie one after the other, few rows are a line_product.
const RowsCase rows_cases[] = {
    {"two_rows", 2, 64, 128},
    {"two_rows_of_turned_weights", 2, 128, 64, true},
    {"rows_in_groups", 4, 128, 64, true},
    {"rows_that_fit_no_group", 8, 128, 64, true},
    {"one_row", 1, 128, 64, true},
    {"one_row_between_lines", 1, 150, 170, true},
    {"many_rows", 16, 160, 160},
    {"rows_of_a_transformer", 128, 256, 256},
    {"bf16_rows_of_a_transformer", 128, 256, 256, false, DType::bf16},
    {"rows_of_two_sequences", 256, 256, 256},
    {"bf16_rows_of_two_sequences", 256, 256, 256, false, DType::bf16},
    {"bf16", 2, 128, 128, false, DType::bf16},
    {"one_row_in_bf16", 1, 784, 512, true, DType::bf16},
    // Replicas lie apart: their rows do not fill lines of the cache.
    {"few_classes", 2, 64, 10},
    {"few_classes_of_turned_weights", 2, 128, 10, true},
    {"few_terms", 3, 10, 256},
    {"few_classes_in_bf16", 2, 256, 10, true, DType::bf16},
    {"few_terms_in_bf16", 2, 10, 256, false, DType::bf16},
};

/// A product of what the caller gives, one of what a core made, and one with others' gradients.
Graph perceptron(const RowsCase& c) {
    const Tensor w =
        input({c.dtype, c.turns_weights ? Dims{c.columns, c.terms} : Dims{c.terms, c.columns}},
              Placement::replicated, "w");
    const auto product = [&](const Tensor& x) {
        return dot_general(x, w,
                           {.lhs_batching = {},
                            .rhs_batching = {},
                            .lhs_contracting = {1},
                            .rhs_contracting = {c.turns_weights ? 1 : 0}});
    };
    const Tensor given = product(core_input({c.rows, c.terms}, c.dtype));
    const Tensor made = product(tanh(core_input({c.rows, c.terms}, c.dtype)));
    const Tensor sums = reduce(convert(made, DType::f32), {0}, Reduction::add);
    return graph_of({tanh(given), tanh(made), all_reduce(sums), tanh(sums)});
}

class RowsTogether : public testing::TestWithParam<RowsCase> {};

TEST_P(RowsTogether, are_what_the_reference_says) {
    if (GetParam().dtype == DType::bf16 && !multiplies_bf16())
        GTEST_SKIP() << "the library has no bf16 on this processor";
    const Graph graph = perceptron(GetParam());
    Tolerance tolerance = sum_tolerance(GetParam().terms + 8 * GetParam().rows);
    if (GetParam().dtype == DType::bf16)
        tolerance = {.absolute = 16.0 / 128, .relative = 2.0 / 128};
    EXPECT_EQ(compare_with_reference(graph, tolerance, 3), "");
}

TEST_P(RowsTogether, have_the_same_bits_on_any_number_of_workers) {
    if (GetParam().dtype == DType::bf16 && !multiplies_bf16())
        GTEST_SKIP() << "the library has no bf16 on this processor";
    const Graph graph = perceptron(GetParam());
    const auto inputs = random_inputs(graph, 8, 11);
    expect_same_bits_on_any_workers(graph, inputs);
}

INSTANTIATE_TEST_SUITE_P(Cases, RowsTogether, testing::ValuesIn(rows_cases),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(RunTogether, products_of_few_rows) {
    const Program program = lower(perceptron(rows_cases[0]), {.workers = 2, .cores = 8});
    EXPECT_EQ(program.replicas_together, 4);
    EXPECT_EQ(count_together(program), 2) << print(program);
    const Graph of_many_rows = perceptron({"", 512, 256, 256});
    EXPECT_EQ(lower(of_many_rows, {.workers = 2, .cores = 8}).replicas_together, 1);
}

// Goal: little is copied so that rows lie in a row, much is not.
TEST(RunTogether, products_of_rows_that_lie_apart) {
    const Graph few_classes = perceptron({"", 2, 128, 10, true});
    EXPECT_EQ(count_together(lower(few_classes, {.workers = 2, .cores = 8})), 2);
    const Graph many_rows = perceptron({"", 60, 512, 50});
    EXPECT_EQ(count_together(lower(many_rows, {.workers = 2, .cores = 8})), 0);
}

// Goal: rows that the library would multiply otherwise alone than together.
TEST(RunTogether, single_rows_of_turned_weights) {
    for (const std::int64_t rows : {1, 8, 15}) {
        const Graph graph = perceptron({"", rows, 784, 512, true});
        const Program program = lower(graph, {.workers = 2, .cores = 8});
        EXPECT_EQ(count_together(program), 2) << print(program);
    }
}

/// Layers of 128 rows a core; the way back needs what is inside each of them, 512 KiB for a core.
Graph layers(std::int64_t count) {
    const std::int64_t rows = 128, features = 256, columns = 1024;
    const auto weights = [](std::int64_t from, std::int64_t to) {
        return input({DType::f32, {from, to}}, Placement::replicated, "w");
    };
    std::vector<Tensor> inside;
    Tensor x = tanh(core_input({rows, features}, DType::f32));
    for (std::int64_t i = 0; i < count; ++i) {
        inside.push_back(tanh(matmul(x, weights(features, columns))));
        x = tanh(matmul(inside.back(), weights(columns, features)));
    }
    for (std::int64_t i = count; i-- > 0;)
        x = matmul(matmul(x, weights(features, columns)) * inside[std::size_t(i)],
                   weights(columns, features));
    return graph_of({x});
}

std::int64_t arena_bytes(const Program& program) {
    return (program.arena_bytes[std::size_t(Region::worker)] +
            program.arena_bytes[std::size_t(Region::core)]) *
           program.replicas_together;
}

/// Of 8 cores, or of 2, on two workers.
std::int64_t planned_bytes(const Program& program) {
    const auto arena = [&](Region region) { return program.arena_bytes[std::size_t(region)]; };
    const int copies = 2 * program.replicas_together;
    return copies * (arena(Region::worker) + arena(Region::core)) + arena(Region::shared) +
           2 * arena(Region::sum);
}

// Goal: what lives between two joined steps is there once, however large.
TEST(RunTogether, products_around_a_value_that_each_replica_has_in_turn) {
    Graph graph = perceptron(rows_cases[0]);
    const Tensor large = tanh(core_input({2048, 1024}, DType::f32));
    const Tensor w = input({DType::f32, {1024, 8}}, Placement::replicated, "w");
    graph.outputs.push_back(matmul(large, w));
    for (const int workers : {1, 2, 4}) {
        const Program program =
            lower(graph_of(graph.outputs), {.workers = workers, .cores = 8, .saves_memory = true});
        EXPECT_EQ(program.replicas_together, 8 / workers);
        EXPECT_LT(arena_bytes(program), std::int64_t{16} << 20);
    }
}

// Goal: a gradient that is written over its value takes the value's bytes, and no others.
TEST(RunTogether, values_that_a_gradient_replaces) {
    Graph graph = perceptron(rows_cases[0]);
    const Tensor table = input({DType::f32, {8, 1 << 18}}, Placement::replicated, "table");
    const Tensor logits = matmul(tanh(core_input({2, 8}, DType::f32)), table);
    const Tensor gradient = tanh(logits);
    graph.outputs.push_back(matmul(gradient, transpose(table, {1, 0})));
    graph.outputs.push_back(all_reduce(reduce(gradient, {0, 1}, Reduction::add)));
    const Program program = lower(graph_of(graph.outputs), {.workers = 2, .cores = 8});
    ASSERT_EQ(program.replicas_together, 4);
    const std::int64_t bytes = logits.shape().byte_count();
    EXPECT_GE(program.arena_bytes[std::size_t(Region::core)], bytes / 4);
    EXPECT_LT(program.arena_bytes[std::size_t(Region::core)], bytes + bytes / 4);
}

// Goal: contributions wait in the arena of the replicas, and take no memory of the workers.
TEST(RunTogether, contributions_wait_where_the_replicas_have_other_values) {
    const Program program = lower(network(together_cases[0]), {.workers = 2, .cores = 8});
    ASSERT_EQ(program.replicas_together, 4);
    EXPECT_EQ(bytes_of_partial(program), 0);
    for (const Stage& stage : program.stages)
        for (const Sum& sum : stage.sums) {
            ASSERT_TRUE(sum.waiting.has_value());
            const std::int64_t held = program.buffers[*sum.waiting].shape.byte_count() * 4;
            EXPECT_GE(held, 2 * program.buffers[sum.buffer].shape.byte_count());
        }
    const Program apart = lower(network(together_cases[0]), {.workers = 8, .cores = 8});
    EXPECT_GT(bytes_of_partial(apart), 0);
}

// Goal: of layers that would hold 12 MiB for each of four replicas instead of for one some are
// joined, the outer ones.
TEST(RunTogether, some_products_where_all_would_take_much_memory) {
    const Graph graph = layers(24);
    const LowerOptions options{.workers = 2, .cores = 8};
    const Program all = lower(graph, options);
    LowerOptions frugal = options;
    frugal.saves_memory = true;
    const Program some = lower(graph, frugal);
    const Program none = lower(graph, {.workers = 8, .cores = 8});
    EXPECT_GT(count_together(all), count_together(some)) << print(some);
    EXPECT_GT(count_together(some), 0) << print(some);
    EXPECT_LE(2 * arena_bytes(some), 2 * arena_bytes(none) + (std::int64_t{4} << 20));
    EXPECT_LE(2 * arena_bytes(all), 3 * arena_bytes(none));
    EXPECT_FALSE(bool(some.steps[some.steps.size() / 2].together));
}

TEST(RunTogether, some_products_have_the_same_bits_on_any_number_of_workers) {
    const Graph graph = layers(4);
    const auto inputs = random_inputs(graph, 8, 11);
    expect_same_bits_on_any_workers(graph, inputs);
}

/// Layers with the gradients of their weights, summed over the cores: those of a core's rows, or of
/// all cores' where a core has few.
Graph training(std::int64_t count, std::int64_t rows) {
    const std::int64_t features = 256, columns = 1024;
    const auto weights = [&] {
        return input({DType::f32, {features, columns}}, Placement::replicated, "w");
    };
    const DotAttributes turned{{}, {}, {1}, {1}}, over_rows{{}, {}, {0}, {0}};
    std::vector<Tensor> inside, outside{tanh(core_input({rows, features}, DType::f32))};
    std::vector<Tensor> up, down, gradients;
    for (std::int64_t i = 0; i < count; ++i) {
        up.push_back(weights());
        down.push_back(weights());
        inside.push_back(tanh(matmul(outside.back(), up.back())));
        outside.push_back(tanh(dot_general(inside.back(), down.back(), turned)));
    }
    Tensor dy = outside.back();
    for (auto i = std::size_t(count); i-- > 0;) {
        const Tensor d_inside = matmul(dy, down[i]) * inside[i];
        gradients.push_back(all_reduce(dot_general(dy, inside[i], over_rows)));
        gradients.push_back(all_reduce(dot_general(outside[i], d_inside, over_rows)));
        dy = dot_general(d_inside, up[i], turned) * outside[i];
    }
    return graph_of(gradients);
}

// Goal: all products (the images need no gradient) are joined in no more memory than that of two
// cores with the same batch.
TEST(RunTogether, takes_no_more_than_one_core_for_each_worker) {
    for (const std::int64_t rows : {64, 128}) {
        const Program joined = lower(training(8, rows), {.workers = 2, .cores = 8});
        const Program of_two = lower(training(8, 4 * rows), {.workers = 2, .cores = 2});
        EXPECT_EQ(count_together(joined), joins_all() ? 31 : 16) << rows << " rows";
        EXPECT_LE(planned_bytes(joined), planned_bytes(of_two)) << rows << " rows";
    }
}

// Goal: images that are the first ones of more lie apart from the next replica's.
TEST(RunTogether, no_part_of_a_value) {
    const Tensor w = input({DType::f32, {64, 64, 3, 3}}, Placement::replicated, "w");
    const Tensor images = tanh(core_input({3, 64, 4, 4}, DType::f32));
    const Tensor first = slice(images, {0, 0, 0, 0}, {1, 64, 4, 4}, {1, 1, 1, 1});
    const Graph graph = graph_of({tanh(convolution_2d(first, w, 1, 1)), tanh(images)});
    EXPECT_EQ(compare_with_reference(graph, sum_tolerance(576), 3), "");
    const auto inputs = random_inputs(graph, 8, 11);
    const auto once = run_graph(graph, inputs, {8, 8});
    const auto again = run_graph(graph, inputs, {8, 2});
    for (std::size_t i = 0; i < once.size(); ++i)
        EXPECT_EQ(difference(again[i], once[i], exactly), "");
}

// Goal: the bits do not depend on how many replicas share weights that each call transforms.
TEST(RunTogether, large_weights_are_transformed_slice_by_slice) {
    const Graph graph = network({"", {1, 160, 16, 16}, {128, 160, 3, 3}});
    const auto inputs = random_inputs(graph, 4, 11);
    const auto once = run_graph(graph, inputs, {4, 4});
    for (const int workers : {1, 2, 3}) {
        const auto again = run_graph(graph, inputs, {4, workers});
        for (std::size_t i = 0; i < once.size(); ++i)
            EXPECT_EQ(difference(again[i], once[i], exactly), "") << workers << " workers";
    }
}

// Goal: 16 tiles of one replica are too few, those of two are not, whoever computes them.
TEST(RunTogether, filters_images_of_several_replicas) {
    for (const Dims& weights : {Dims{64, 64, 3, 3}, Dims{128, 160, 3, 3}}) {
        const Graph graph = network({"", {1, weights[1], 16, 16}, weights});
        for (const int workers : {1, 2, 4}) {
            const std::string steps = print(lower(graph, {.workers = workers, .cores = 4}));
            EXPECT_THAT(steps, testing::HasSubstr("convolution filtered")) << workers << " workers";
        }
        const std::string of_one = print(lower(graph, {.workers = 1, .cores = 1}));
        EXPECT_THAT(of_one, testing::Not(testing::HasSubstr("convolution filtered")));
    }
}

// Goal: in bf16 images of few positions are multiplied as patches where the rows of four replicas
// are enough, whoever computes them.
TEST(RunTogether, products_of_patches) {
    if (!multiplies_bf16()) GTEST_SKIP() << "the library has no bf16 on this processor";
    const Tensor w = input({DType::bf16, {512, 256, 3, 3}}, Placement::replicated, "w");
    const Tensor y = convolution_2d(tanh(core_input({8, 256, 2, 1}, DType::bf16)), w, 1, 1);
    const Tensor dy = tanh(core_input(y.dims(), DType::bf16));
    const Tensor dx = row_of(OpCode::convolution).gradient(y, dy)[0];
    const Graph graph = graph_of({tanh(y), tanh(dx)});
    const Program program = lower(graph, {.workers = 2, .cores = 8});
    EXPECT_EQ(count_together(program), 2) << print(program);
    EXPECT_THAT(print(program), testing::HasSubstr("patches"));
    EXPECT_THAT(print(lower(graph, {.workers = 8, .cores = 8})), testing::HasSubstr("patches"));
    EXPECT_THAT(print(lower(graph, {.workers = 2, .cores = 2})),
                testing::Not(testing::HasSubstr("patches")));
    const auto inputs = random_inputs(graph, 8, 11);
    const auto expected = evaluate(graph, inputs, 8);
    const auto once = run_graph(graph, inputs, {8, 8});
    const Tolerance tolerance{.absolute = 16.0 / 128, .relative = 2.0 / 128};    // as above
    for (std::size_t i = 0; i < once.size(); ++i)
        EXPECT_EQ(difference(once[i], expected[i], tolerance), "") << "output " << i;
    for (const int workers : {1, 2, 3, 4}) {
        const auto again = run_graph(graph, inputs, {8, workers});
        for (std::size_t i = 0; i < once.size(); ++i)
            EXPECT_EQ(difference(again[i], once[i], exactly), "") << workers << " workers";
    }
}

// Goal: images up to an eighth larger than their weights are joined, and take no memory for it.
TEST(RunTogether, images_about_as_large_as_their_weights) {
    const auto square = [](std::int64_t extent) {
        const auto images = [&](std::int64_t channels) {
            return ordered_view({1, channels, extent, extent}, {0, 2, 3, 1});
        };
        return ConvolutionSpec{.kind = ConvolutionKind::forward,
                               .x = images(32),
                               .w = dense_view({1, 64, 32, 3, 3}),
                               .y = images(64),
                               .strides = {1, 1},
                               .dilations = {1, 1},
                               .padding_low = {1, 1},
                               .padding_high = {1, 1}};
    };
    EXPECT_TRUE(pays_together(square(13)) && is_worth_memory(square(13)));
    EXPECT_TRUE(pays_together(square(14)) && !is_worth_memory(square(14)));
    EXPECT_FALSE(pays_together(square(15)));
    const Graph graph = network({"", {1, 32, 14, 14}, {64, 32, 3, 3}});
    EXPECT_EQ(count_together(lower(graph, {.workers = 2, .cores = 8})), 2);
}

TEST(RunTogether, only_where_a_worker_has_several_replicas_and_the_weights_are_large) {
    const Graph graph = network(together_cases[0]);
    EXPECT_EQ(lower(graph, {.workers = 8, .cores = 8}).replicas_together, 1);
    EXPECT_EQ(lower(graph, {.workers = 1, .cores = 1}).replicas_together, 1);
    const Graph of_large_images = network({"", {4, 16, 16, 16}, {16, 16, 3, 3}});
    EXPECT_EQ(lower(of_large_images, {.workers = 2, .cores = 8}).replicas_together, 1);
}

}    // namespace
}    // namespace slipway
