#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "executor/codegen/lower.h"
#include "executor/codegen/onednn/matmul.h"
#include "executor/graph/ops.h"
#include "tests/executor/codegen/run_graph.h"

namespace slipway {
namespace {

using testing::HasSubstr;
using testing::Not;

Tensor core_input(Dims dims, DType dtype = DType::f32) {
    return input({dtype, std::move(dims)}, Placement::per_core, "x");
}
Tensor shared_input(Dims dims) {
    return input({DType::f32, std::move(dims)}, Placement::replicated, "w");
}

/// The gradient of a layer's weights: dy^T x, added up over the cores.
const DotAttributes over_rows{{}, {}, {0}, {0}};
const DotAttributes over_rows_of_bf16{{}, {}, {0}, {0}, DType::f32};

std::string steps_of(const Graph& graph) {
    std::string text;
    for (const Step& step : lower(graph, {}).steps)
        text += step.name + "\n";
    return text;
}

std::size_t sums_of(const Graph& graph) {
    std::size_t sums = 0;
    for (const Stage& stage : lower(graph, {}).stages)
        sums += stage.sums.size();
    return sums;
}

void expect_batched(const Graph& graph, std::int64_t rows) {
    EXPECT_THAT(steps_of(graph), HasSubstr("of all cores"));
    EXPECT_EQ(sums_of(graph), 0u);
    EXPECT_EQ(compare_with_reference(graph, sum_tolerance(4 * rows), 3), "");
    // More cores than a block has, the last block with fewer.
    const auto inputs = random_inputs(graph, 12, 3);
    const auto expected = evaluate(graph, inputs, 12);
    const auto actual = run_graph(graph, inputs, {12, 3});
    for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_EQ(difference(actual[i], expected[i], sum_tolerance(12 * rows)), "");
}

TEST(BatchedProducts, are_made_of_the_rows_of_all_cores) {
    const Tensor x = core_input({20, 136}), dy = core_input({20, 70});
    expect_batched(graph_of({all_reduce(dot_general(dy, x, over_rows)) * constant(0.5)}), 20);
}

// Goal: several blocks of rows, and rows of 4 KiB, of which more than 128 are in turns.
TEST(BatchedProducts, of_many_rows_and_terms) {
    const Tensor x = core_input({130, 1100}), dy = core_input({130, 400});
    expect_batched(graph_of({all_reduce(dot_general(x, dy, over_rows))}), 130);
}

TEST(BatchedProducts, of_what_the_cores_computed_in_several_dimensions) {
    const Tensor x = tanh(core_input({2, 5, 48}) + shared_input({2, 5, 48}));
    const Tensor dy = core_input({2, 5, 64});
    const Tensor product = dot_general(x, dy, {{}, {}, {0, 1}, {0, 1}});
    expect_batched(graph_of({all_reduce(product), x}), 10);
}

// Goal: a result that is wanted transposed is made so.
TEST(BatchedProducts, of_a_transposed_result) {
    const Tensor x = core_input({6, 64}), dy = core_input({6, 48});
    const Tensor sum = all_reduce(dot_general(x, dy, over_rows));
    expect_batched(graph_of({matmul(shared_input({5, 48}), transpose(sum, {1, 0}))}), 6 * 64);
}

// Goal: heads that lie side by side again were copied by their core, which keeps the copy.
TEST(BatchedProducts, of_an_operand_that_was_copied) {
    const Tensor heads = tanh(core_input({2, 4, 5, 16}));
    const Tensor x = reshape(transpose(heads, {0, 2, 1, 3}), {10, 64});
    const Tensor y = matmul(x, shared_input({64, 3}));
    const Tensor dy = core_input({10, 48});
    const Graph graph = graph_of({all_reduce(dot_general(x, dy, over_rows)), y, all_reduce(heads)});
    EXPECT_THAT(steps_of(graph), HasSubstr("of all cores"));
    EXPECT_EQ(compare_with_reference(graph, sum_tolerance(256), 5), "");
}

// Goal: blocks of rows, the last with fewer, and a transposed result. Products of bf16 are exact in
// f32, where they are summed.
TEST(BatchedProducts, of_bf16) {
    if (!multiplies_bf16()) GTEST_SKIP() << "the library has no bf16 on this processor";
    const Tensor x = core_input({20, 500}, DType::bf16), dy = core_input({20, 130}, DType::bf16);
    const Tensor sum = all_reduce(dot_general(x, dy, over_rows_of_bf16));
    expect_batched(graph_of({sum}), 20);
    expect_batched(graph_of({all_reduce(dot_general(dy, x, over_rows_of_bf16))}), 20);
    expect_batched(graph_of({matmul(shared_input({5, 130}), transpose(sum, {1, 0}))}), 20 * 130);
}

Graph gradient_of_weights(std::int64_t rows, Dims weights, DType dtype) {
    const Tensor x = core_input({rows, weights[1]}, dtype),
                 dy = core_input({rows, weights[0]}, dtype);
    return graph_of(
        {all_reduce(dot_general(dy, x, dtype == DType::bf16 ? over_rows_of_bf16 : over_rows))});
}

// Goal: up to 64 rows of a core are stacked for one product, in bf16 up to 256 if the result is
// small, in tiles up to 128.
TEST(BatchedProducts, of_stacked_rows) {
    const auto stacks = [](const Graph& graph) {
        return steps_of(graph).find("rows of all cores") != std::string::npos;
    };
    EXPECT_TRUE(stacks(gradient_of_weights(64, {260, 270}, DType::f32)));
    EXPECT_FALSE(stacks(gradient_of_weights(65, {260, 270}, DType::f32)));
    if (!multiplies_bf16()) GTEST_SKIP() << "the library has no bf16 on this processor";
    EXPECT_TRUE(stacks(gradient_of_weights(64, {1025, 1024}, DType::bf16)));
    EXPECT_FALSE(stacks(gradient_of_weights(65, {1025, 1024}, DType::bf16)));
    EXPECT_FALSE(stacks(gradient_of_weights(257, {260, 270}, DType::bf16)));
    for (const std::int64_t rows : {65, multiplies_bf16_in_tiles() ? 128 : 256}) {
        const Graph graph = gradient_of_weights(rows, {260, 270}, DType::bf16);
        EXPECT_TRUE(stacks(graph));
        expect_batched(graph, rows);
        expect_same_bits_on_any_workers(graph, random_inputs(graph, 8, 5));
    }
}

/// The gradient of a table that words are looked up in and that is multiplied as well.
Tensor gradient_of_table(const Tensor& logit_gradients, const Tensor& x) {
    const Tensor words = input({DType::i32, {3, 2}}, Placement::per_core, "words");
    const bool is_bf16 = x.dtype() == DType::bf16;
    const Tensor product = dot_general(logit_gradients, x, is_bf16 ? over_rows_of_bf16 : over_rows);
    return scatter_add(product, words, tanh(core_input({3, 2, 64})));
}

// Goal: what look-ups add goes into the batched product, core by core.
TEST(BatchedProducts, with_rows_that_are_added_to_them) {
    const Tensor gradient = gradient_of_table(core_input({6, 40}), core_input({6, 64}));
    expect_batched(graph_of({all_reduce(gradient) * constant(2.0)}), 20);
    if (!multiplies_bf16()) return;
    const Tensor of_bf16 =
        gradient_of_table(core_input({6, 40}, DType::bf16), core_input({6, 64}, DType::bf16));
    expect_batched(graph_of({all_reduce(of_bf16) * constant(2.0)}), 20);
}

// Goal: where the product cannot be batched, neither is what is added to it.
TEST(BatchedProducts, none_with_rows_added_where_an_operand_is_copied) {
    const Tensor turned = reverse(core_input({6, 40}), {0, 1});
    const Graph graph = graph_of({all_reduce(gradient_of_table(turned, core_input({6, 64})))});
    EXPECT_THAT(steps_of(graph), Not(HasSubstr("of all cores")));
    EXPECT_EQ(compare_with_reference(graph, sum_tolerance(80), 4), "");
}

// Goal: rows that all cores share are added by each.
TEST(BatchedProducts, none_with_shared_rows_added) {
    const Tensor words = input({DType::i32, {3}}, Placement::replicated, "words");
    const Tensor product = dot_general(core_input({6, 40}), core_input({6, 64}), over_rows);
    const Graph graph = graph_of({all_reduce(scatter_add(product, words, core_input({3, 64})))});
    EXPECT_THAT(steps_of(graph), Not(HasSubstr("of all cores")));
    EXPECT_EQ(compare_with_reference(graph, sum_tolerance(80), 4), "");
}

// Goal: of rows as wide as a vocabulary no copy is made; a block copies its features.
TEST(BatchedProducts, of_wide_rows_take_no_second_copy_of_them) {
    const Tensor x = core_input({8, 64}), dy = core_input({8, 5000});
    const Graph graph = graph_of({all_reduce(dot_general(dy, x, over_rows))});
    const Program program = lower(graph, {.workers = 2, .cores = 8});
    EXPECT_LT(program.arena_bytes[std::size_t(Region::shared)],
              graph.outputs[0].shape().byte_count() + 8 * dy.shape().byte_count() / 2);
    expect_batched(graph, 8);
}

// Goal: also of so few rows that a worker has one, which the library multiplies in another way.
TEST(BatchedProducts, have_the_same_bits_on_any_number_of_workers) {
    const Tensor x = core_input({7, 330}), dy = core_input({7, 200});
    const Tensor narrow_x = core_input({7, 800}, DType::bf16);
    const Tensor narrow_dy = core_input({7, 200}, DType::bf16);
    const Graph graph = graph_of({all_reduce(dot_general(dy, x, over_rows)),
                                  all_reduce(dot_general(x, dy, over_rows)),
                                  all_reduce(dot_general(core_input({7, 9}), dy, over_rows)),
                                  all_reduce(dot_general(core_input({7, 513}), dy, over_rows)),
                                  all_reduce(dot_general(narrow_x, narrow_dy, over_rows_of_bf16))});
    const auto inputs = random_inputs(graph, 8, 11);
    expect_same_bits_on_any_workers(graph, inputs);
}

struct Apart {
    const char* name;
    Tensor (*make)();
};

const Apart apart[] = {
    {"operands_larger_than_the_product",
     [] {
         return all_reduce(dot_general(core_input({40, 64}), core_input({40, 64}), over_rows));
     }},
    {"a_maximum",
     [] {
         const Tensor product = dot_general(core_input({4, 64}), core_input({4, 64}), over_rows);
         return all_reduce(product, Reduction::maximum);
     }},
    {"a_product_that_others_read",
     [] {
         const Tensor product = dot_general(core_input({4, 64}), core_input({4, 64}), over_rows);
         return all_reduce(product) + all_reduce(tanh(product));
     }},
    {"many_products_at_once",
     [] {
         return all_reduce(
             dot_general(core_input({2, 4, 64}), core_input({2, 4, 64}), {{0}, {0}, {1}, {1}}));
     }},
    {"an_operand_that_all_cores_share",
     [] {
         return all_reduce(dot_general(core_input({4, 64}), shared_input({4, 64}), over_rows));
     }},
    {"an_operand_that_is_to_be_copied_for_the_product",
     [] {
         return all_reduce(
             dot_general(reverse(core_input({4, 64}), {0, 1}), core_input({4, 64}), over_rows));
     }},
};

class ProductsApart : public testing::TestWithParam<Apart> {};

TEST_P(ProductsApart, are_what_the_reference_says) {
    const Graph graph = graph_of({GetParam().make()});
    EXPECT_THAT(steps_of(graph), Not(HasSubstr("of all cores")));
    EXPECT_GT(sums_of(graph), 0u);
    EXPECT_EQ(compare_with_reference(graph, sum_tolerance(160), 7), "");
}

INSTANTIATE_TEST_SUITE_P(BatchedProducts, ProductsApart, testing::ValuesIn(apart),
                         [](const auto& test) { return std::string(test.param.name); });

}    // namespace
}    // namespace slipway
