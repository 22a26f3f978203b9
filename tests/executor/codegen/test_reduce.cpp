#include <gtest/gtest.h>

#include "executor/graph/ops.h"
#include "tests/executor/codegen/run_graph.h"

namespace slipway {
namespace {

Tensor core_input(Dims dims, DType dtype = DType::f32) {
    return input({dtype, std::move(dims)}, Placement::per_core, "x");
}

struct ReduceCase {
    Dims dims, dimensions;
};

const ReduceCase reduce_cases[] = {
    {{}, {}},
    {{7}, {0}},
    {{1000}, {0}},
    {{33, 70}, {0}},
    {{33, 70}, {1}},
    {{33, 70}, {0, 1}},
    {{32, 6, 49}, {0, 2}},
    {{4, 5, 6, 7}, {1, 3}},
    {{4, 5, 6, 7}, {0, 1}},
    {{4, 1, 6}, {1}},
    {{5, 0}, {1}},
    {{0, 5}, {1}},
    {{3, 4}, {}},
};

TEST(Reduce, is_what_the_reference_says_over_any_dimensions) {
    for (const auto& [dims, dimensions] : reduce_cases) {
        const Tensor x = core_input(dims);
        Shape counted{DType::f32, dims};
        EXPECT_EQ(compare_with_reference(graph_of({reduce(x, dimensions, Reduction::add)}),
                                         sum_tolerance(counted.element_count()), 1),
                  "")
            << to_string(counted);
        EXPECT_EQ(compare_with_reference(graph_of({reduce(x, dimensions, Reduction::maximum),
                                                   reduce(x, dimensions, Reduction::minimum)}),
                                         exactly, 2),
                  "")
            << to_string(counted);
    }
}

TEST(Reduce, is_exact_for_integers) {
    for (const DType dtype : {DType::i32, DType::i64, DType::u8}) {
        const Tensor x = core_input({6, 70, 3}, dtype);
        std::vector<Tensor> outputs;
        for (const Reduction reduction : {Reduction::add, Reduction::maximum, Reduction::minimum})
            for (const Dims& dimensions : {Dims{0}, Dims{1}, Dims{2}, Dims{0, 2}, Dims{0, 1, 2}})
                outputs.push_back(reduce(x, dimensions, reduction));
        EXPECT_EQ(compare_with_reference(graph_of(outputs), exactly, 3), "") << to_string(dtype);
    }
}

TEST(Reduce, walks_operands_that_are_not_dense) {
    const Tensor x = core_input({40, 30});
    const Tensor row = core_input({30});
    EXPECT_EQ(compare_with_reference(
                  graph_of({reduce(transpose(x, {1, 0}), {0}, Reduction::add),
                            reduce(transpose(x, {1, 0}), {1}, Reduction::add),
                            reduce(reverse(x, {1}), {1}, Reduction::add),
                            reduce(broadcast_in_dim(row, {9, 30}, {1}), {0}, Reduction::add),
                            reduce(broadcast_in_dim(row, {30, 9}, {0}), {1}, Reduction::maximum),
                            reduce(slice(x, {3, 2}, {33, 30}, {2, 3}), {0}, Reduction::add)}),
                  sum_tolerance(40), 4),
              "");
}

TEST(Reduce, lets_not_a_number_through) {
    const Tensor x = log(core_input({3, 100}));
    EXPECT_EQ(compare_with_reference(
                  graph_of({reduce(x, {1}, Reduction::maximum), reduce(x, {0}, Reduction::minimum),
                            reduce(x, {0, 1}, Reduction::maximum)}),
                  {1e-6, 1e-6}, 5),
              "");
}

struct WindowCase {
    const char* name;
    Dims dims;
    std::vector<WindowDimension> window;
};

const WindowCase window_cases[] = {
    {"lenet_pool", {3, 6, 28, 28}, {{}, {}, {.size = 2, .stride = 2}, {.size = 2, .stride = 2}}},
    {"pool_of_the_narrowest", {5, 6, 2}, {{}, {.size = 2, .stride = 2}, {.size = 2, .stride = 2}}},
    {"pool_of_narrow_rows", {4, 4, 10}, {{}, {.size = 2, .stride = 2}, {.size = 2, .stride = 2}}},
    {"pool_of_middling_rows", {6, 22}, {{.size = 2, .stride = 2}, {.size = 2, .stride = 2}}},
    {"pool_of_wide_rows", {2, 8, 70}, {{}, {.size = 2, .stride = 2}, {.size = 2, .stride = 2}}},
    {"pool_of_rows_beyond_a_tile", {4, 2050}, {{.size = 2, .stride = 2}, {.size = 2, .stride = 2}}},
    {"pool_of_four_by_four", {2, 8, 12}, {{}, {.size = 4, .stride = 4}, {.size = 4, .stride = 4}}},
    {"rest_left_over", {2, 3, 7, 9}, {{}, {}, {.size = 2, .stride = 2}, {.size = 2, .stride = 2}}},
    {"overlapping", {2, 3, 9, 9}, {{}, {}, {.size = 3, .stride = 2}, {.size = 3, .stride = 1}}},
    {"padded",
     {2, 2, 7, 8},
     {{},
      {},
      {.size = 3, .stride = 2, .padding_low = 1, .padding_high = 1},
      {.size = 3, .stride = 2, .padding_low = 1, .padding_high = 2}}},
    {"cut", {9, 9}, {{.size = 2, .padding_low = -2}, {.size = 2, .stride = 3, .padding_high = -1}}},
    {"channels_last", {2, 8, 8, 5}, {{}, {.size = 2, .stride = 2}, {.size = 2, .stride = 2}, {}}},
    {"over_all_dimensions",
     {4, 5, 6},
     {{.size = 2}, {.size = 3, .stride = 2}, {.size = 2, .stride = 2}}},
    {"one_dimension", {50}, {{.size = 5, .stride = 3, .padding_low = 2, .padding_high = 2}}},
    {"windows_that_see_nothing",
     {6},
     {{.size = 1, .stride = 1, .padding_low = 3, .padding_high = 3}}},
    {"scalar", {}, {}},
};

class Windows : public testing::TestWithParam<WindowCase> {};

TEST_P(Windows, are_reduced_as_the_reference_says) {
    const auto& [name, dims, window] = GetParam();
    const Tensor x = core_input(dims);
    const Tensor largest = reduce_window(x, window, Reduction::maximum);
    EXPECT_EQ(compare_with_reference(
                  graph_of({largest, reduce_window(x, window, Reduction::minimum)}), exactly, 6),
              "");
    EXPECT_EQ(compare_with_reference(graph_of({reduce_window(x, window, Reduction::add)}),
                                     sum_tolerance(100), 7),
              "");
    const Tensor y = core_input(dims, DType::i32);
    EXPECT_EQ(compare_with_reference(graph_of({reduce_window(y, window, Reduction::maximum),
                                               reduce_window(y, window, Reduction::add)}),
                                     exactly, 8),
              "");
}

TEST_P(Windows, scatter_to_their_first_largest_element) {
    const auto& [name, dims, window] = GetParam();
    const Tensor x = core_input(dims);
    const Tensor largest = reduce_window(x, window, Reduction::maximum);
    const Tensor source = core_input(largest.dims());
    EXPECT_EQ(compare_with_reference(graph_of({select_and_scatter(x, source, window)}),
                                     sum_tolerance(30), 9),
              "");
    // Small integers have many equals, and logarithms of negative numbers are no numbers.
    const Tensor y = core_input(dims, DType::i32);
    const Tensor integers = core_input(largest.dims(), DType::i32);
    const Tensor odd = log(core_input(dims));
    EXPECT_EQ(compare_with_reference(
                  graph_of({select_and_scatter(y, integers, window),
                            select_and_scatter(odd, convert(integers, DType::f32), window)}),
                  exactly, 10),
              "");
}

INSTANTIATE_TEST_SUITE_P(Reduce, Windows, testing::ValuesIn(window_cases),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(ReduceWindow, knows_gaps_in_operand_and_window) {
    const Tensor x = core_input({5, 11});
    for (const std::int64_t base : {1, 2, 3}) {
        for (const std::int64_t dilation : {1, 2}) {
            const std::vector<WindowDimension> window{
                {.size = 2, .padding_low = 1, .base_dilation = base, .window_dilation = dilation},
                {.size = 3,
                 .stride = 2,
                 .padding_low = 2,
                 .padding_high = 1,
                 .base_dilation = base,
                 .window_dilation = dilation}};
            EXPECT_EQ(compare_with_reference(
                          graph_of({reduce_window(x, window, Reduction::maximum)}), exactly, 11),
                      "");
            EXPECT_EQ(compare_with_reference(graph_of({reduce_window(x, window, Reduction::add)}),
                                             sum_tolerance(6), 12),
                      "");
        }
    }
}

}    // namespace
}    // namespace slipway
