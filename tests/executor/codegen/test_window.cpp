#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/codegen/lower.h"
#include "executor/graph/ops.h"
#include "tests/executor/codegen/run_graph.h"

/// Windows over channels-last images; over other values see test_reduce.cpp.
namespace slipway {
namespace {

/// [n, c, h, w] whose channels lie innermost.
Tensor image(Dims dims, DType dtype) {
    const Tensor lying =
        input({dtype, {dims[0], dims[2], dims[3], dims[1]}}, Placement::per_core, "x");
    return transpose(lying, {0, 3, 1, 2});
}

struct WindowCase {
    const char* name;
    Dims dims;
    WindowDimension rows, columns;
};

const WindowCase window_cases[] = {
    {"two_by_two", {2, 17, 8, 6}, {.size = 2, .stride = 2}, {.size = 2, .stride = 2}},
    {"resnet",
     {2, 33, 9, 8},
     {.size = 3, .stride = 2, .padding_low = 1, .padding_high = 1},
     {.size = 3, .stride = 2, .padding_low = 1, .padding_high = 1}},
    {"overlapping", {1, 5, 7, 7}, {.size = 3}, {.size = 2, .padding_low = 1}},
    {"whole_image", {3, 20, 4, 5}, {.size = 4}, {.size = 5}},
    {"one_channel", {2, 1, 6, 6}, {.size = 2, .stride = 2}, {.size = 3, .stride = 3}},
    {"beyond_the_edge",
     {1, 4, 3, 3},
     {.size = 2, .padding_low = 3, .padding_high = 2},
     {.size = 2, .padding_low = 2, .padding_high = 3}},
};

class ImageWindows : public testing::TestWithParam<WindowCase> {};

TEST_P(ImageWindows, are_reduced_as_the_reference_says_without_copies) {
    const WindowCase& c = GetParam();
    const std::vector<WindowDimension> window{{}, {}, c.rows, c.columns};
    for (const DType dtype : {DType::f32, DType::bf16}) {
        const Tensor x = image(c.dims, dtype);
        const Tensor largest = reduce_window(x, window, Reduction::maximum);
        EXPECT_EQ(compare_with_reference(graph_of({largest}), exactly, 1), "");
        const Tensor sum = reduce_window(x, window, Reduction::add);
        // Sums in f32; bf16 rounds them once.
        const Tolerance tolerance =
            dtype == DType::f32 ? sum_tolerance(20) : Tolerance{1e-6, 1.0 / 128};
        EXPECT_EQ(compare_with_reference(graph_of({sum}), tolerance, 2), "");
        // Only the output is moved: it leaves the program row-major.
        EXPECT_LE(lower(graph_of({largest}), {}).steps.size(), 2u);
    }
}

TEST_P(ImageWindows, scatter_to_their_first_largest_element) {
    const WindowCase& c = GetParam();
    const std::vector<WindowDimension> window{{}, {}, c.rows, c.columns};
    for (const DType dtype : {DType::f32, DType::bf16}) {
        const Tensor x = image(c.dims, dtype);
        const Dims counts = reduce_window(x, window, Reduction::maximum).dims();
        const Tensor source = image(counts, dtype);
        const Tolerance tolerance =
            dtype == DType::f32 ? sum_tolerance(9) : Tolerance{1e-6, 1.0 / 128};
        EXPECT_EQ(
            compare_with_reference(graph_of({select_and_scatter(x, source, window)}), tolerance, 3),
            "");
        // Few values, so that many elements of a window are equal.
        const Tensor ties = image(c.dims, DType::i32);
        const Tensor terms = image(counts, DType::i32);
        EXPECT_EQ(
            compare_with_reference(graph_of({select_and_scatter(ties, terms, window)}), exactly, 4),
            "");
    }
}

// 0 / 0 in some places: the largest of its windows, and where their gradient goes.
TEST(ImageWindow, takes_not_a_number_for_the_largest) {
    const std::vector<WindowDimension> window{
        {}, {}, {.size = 3, .stride = 2, .padding_low = 1}, {.size = 2, .stride = 1}};
    const Tensor x = image({2, 21, 7, 6}, DType::f32);
    const Tensor nan =
        select(compare(x, constant(0.5), Comparison::gt), x * constant(0) / (x * constant(0)), x);
    const Tensor largest = reduce_window(nan, window, Reduction::maximum);
    const Tensor back = select_and_scatter(nan, image(largest.dims(), DType::f32), window);
    EXPECT_EQ(compare_with_reference(graph_of({largest, back}), sum_tolerance(9), 6), "");
}

INSTANTIATE_TEST_SUITE_P(Window, ImageWindows, testing::ValuesIn(window_cases),
                         [](const auto& row) { return std::string(row.param.name); });

}    // namespace
}    // namespace slipway
