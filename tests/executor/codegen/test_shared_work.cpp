// Goal: no result depends on the number of workers or on the replicas that a worker holds.
// Method: for each row of shared_work a few graphs, computed with eight cores by 1, 2, 3, 4 and 8
// workers. Sums of bf16 are zero but for their rounding (telling_operands.h), which shows the order
// of additions; in f32 random numbers show it. The suite runs on each instruction set that the
// machine has.
#include "executor/codegen/shared_work.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "executor/codegen/lower.h"
#include "executor/codegen/telling_operands.h"
#include "executor/graph/op_table.h"
#include "executor/graph/ops.h"
#include "tests/executor/codegen/run_graph.h"

namespace slipway {
namespace {

constexpr int cores = 8;

/// A graph of two inputs, `x` of each core and `w` or `dy`, and in which dimension of each the
/// terms of its sums lie; none: any numbers will do.
struct Case {
    std::string name;
    Graph graph;
    std::optional<std::array<std::size_t, 2>> terms = {};
};

Tensor core_input(DType dtype, Dims dims, const char* name = "x") {
    return input({dtype, std::move(dims)}, Placement::per_core, name);
}

Tensor shared_input(DType dtype, Dims dims) {
    return input({dtype, std::move(dims)}, Placement::replicated, "w");
}

constexpr DType dtypes[] = {DType::f32, DType::bf16};

std::string label(DType dtype, std::int64_t rows, const char* what) {
    return fmt::format("{} {} {}", to_string(dtype), rows, what);
}

/// Rows of each core by weights that all share.
Case product(DType dtype, std::int64_t rows, std::int64_t terms, std::int64_t columns,
             bool turns_weights) {
    const Tensor x = core_input(dtype, {rows, terms});
    const Tensor w =
        shared_input(dtype, turns_weights ? Dims{columns, terms} : Dims{terms, columns});
    const Tensor y = dot_general(x, w, {{}, {}, {1}, {turns_weights ? 1 : 0}});
    return {label(dtype, rows, turns_weights ? "rows, turned weights" : "rows"),
            graph_of({tanh(y)}),
            {{1, turns_weights ? 1u : 0u}}};
}

std::vector<Case> rows_together() {
    std::vector<Case> cases;
    for (const DType dtype : dtypes)
        for (const std::int64_t rows : {1, 2, 3, 8, 16, 17, 64}) {
            cases.push_back(product(dtype, rows, 256, 192, false));
            cases.push_back(product(dtype, rows, 256, 192, true));
            cases.push_back(product(dtype, rows, 256, 10, rows % 2 == 0));
            cases.push_back(product(dtype, rows, 70, 130, rows % 2 == 1));
        }
    return cases;
}

std::vector<Case> lines_together() {
    std::vector<Case> cases;
    for (const DType dtype : dtypes)
        for (const std::int64_t rows : {1, 2, 3, 8, 15}) {
            cases.push_back(product(dtype, rows, 512, 256, true));
            cases.push_back(product(dtype, rows, 150, 171, true));
        }
    return cases;
}

struct Images {
    Dims x, weights;
    std::int64_t stride = 1;
    std::int64_t padding = 1;
};

/// A convolution, or the gradient of its images.
Case convolution_of(DType dtype, const Images& images, bool is_gradient) {
    const Tensor w = shared_input(dtype, images.weights);
    const Tensor y =
        convolution_2d(tanh(core_input(dtype, images.x)), w, images.stride, images.padding);
    const std::string name =
        label(dtype, images.x[0], is_gradient ? "images, gradient" : "images, forward") +
        fmt::format(" of {} channels", images.x[1]);
    if (!is_gradient) return {name, graph_of({tanh(y)}), {{1, 1}}};
    const Tensor dy = tanh(core_input(dtype, y.dims()));
    const Tensor dx = row_of(OpCode::convolution).gradient(y, dy)[0];
    return {name, graph_of({tanh(dx)}), {{1, 0}}};
}

std::vector<Case> convolutions(const std::vector<Images>& all) {
    std::vector<Case> cases;
    for (const DType dtype : dtypes)
        for (const Images& images : all)
            for (const bool is_gradient : {false, true})
                cases.push_back(convolution_of(dtype, images, is_gradient));
    return cases;
}

std::vector<Case> images_together() {
    return convolutions({{{1, 64, 4, 4}, {64, 64, 3, 3}},
                         {{2, 64, 2, 2}, {64, 64, 3, 3}},
                         {{3, 32, 4, 4}, {64, 32, 3, 3}, 2},
                         {{1, 96, 7, 7}, {128, 96, 3, 3}},
                         {{1, 256, 2, 2}, {512, 256, 1, 1}, 1, 0}});
}

std::vector<Case> filtered_together() {
    return convolutions({{{1, 64, 16, 16}, {64, 64, 3, 3}},
                         {{1, 32, 14, 14}, {64, 32, 3, 3}},
                         {{1, 128, 8, 8}, {128, 128, 3, 3}}});
}

std::vector<Case> patches_together() {
    return convolutions({{{8, 256, 2, 1}, {512, 256, 3, 3}}, {{4, 512, 2, 2}, {256, 512, 3, 3}}});
}

/// The gradient of weights of all cores' rows, in f32.
Case rows_gradient(DType dtype, std::int64_t rows, std::int64_t features, std::int64_t columns) {
    const Tensor x = core_input(dtype, {rows, features});
    const Tensor dy = core_input(dtype, {rows, columns}, "dy");
    DotAttributes attributes{{}, {}, {0}, {0}};
    attributes.result = DType::f32;
    return {label(dtype, rows, "rows"),
            graph_of({all_reduce(dot_general(x, dy, attributes)) * constant(0.5)}),
            {{0, 0}}};
}

std::vector<Case> gradients_of_rows(const std::vector<std::int64_t>& all_rows) {
    std::vector<Case> cases;
    for (const DType dtype : dtypes)
        for (const std::int64_t rows : all_rows) {
            cases.push_back(rows_gradient(dtype, rows, 200, 330));
        }
    return cases;
}

std::vector<Case> stacked_product() {
    return gradients_of_rows({1, 5, 64});
}

std::vector<Case> sum_of_products() {
    return gradients_of_rows({70, 257});
}

Case images_gradient(DType dtype, const Images& images) {
    const Tensor x = core_input(dtype, images.x);
    const Tensor y =
        convolution_2d(x, shared_input(dtype, images.weights), images.stride, images.padding);
    const Tensor gradient =
        row_of(OpCode::convolution).gradient(y, core_input(dtype, y.dims(), "dy"))[1];
    auto attributes = std::get<ConvolutionAttributes>(gradient.node().attributes);
    attributes.result = DType::f32;
    const Tensor wide = convolution(gradient.node().operands[0], gradient.node().operands[1],
                                    std::move(attributes));
    return {label(dtype, images.x[0], "images"), graph_of({all_reduce(wide) * constant(0.5)})};
}

std::vector<Case> joined_gradient() {
    std::vector<Case> cases;
    const Images all[] = {
        {{1, 64, 2, 2}, {64, 64, 3, 3}},      {{2, 64, 2, 2}, {96, 64, 1, 1}, 1, 0},
        {{1, 32, 14, 14}, {64, 32, 3, 3}},    {{1, 128, 8, 8}, {128, 128, 3, 3}},
        {{1, 128, 16, 16}, {128, 128, 3, 3}}, {{1, 64, 16, 16}, {64, 64, 3, 3}}};
    for (const DType dtype : dtypes)
        for (const Images& images : all)
            cases.push_back(images_gradient(dtype, images));
    return cases;
}

std::vector<Case> look_ups() {
    const Tensor words = input({DType::i32, {3, 2}}, Placement::per_core, "words");
    const Tensor x = core_input(DType::f32, {6, 64}), dy = core_input(DType::f32, {6, 40}, "dy");
    const Tensor table = scatter_add(dot_general(dy, x, {{}, {}, {0}, {0}}), words,
                                     tanh(core_input(DType::f32, {3, 2, 64}, "rows")));
    return {{"look-ups beside a product", graph_of({all_reduce(table)})}};
}

/// An update as of an optimizer: so many elements that workers share them, and some that are left.
std::vector<Case> element_loops() {
    std::vector<Case> cases;
    for (const std::int64_t elements : {16384, 40003}) {
        const Tensor w = shared_input(DType::f32, {elements});
        const Tensor g = all_reduce(core_input(DType::f32, {elements}));
        const Tensor root = sqrt(g * g + constant(1e-8));
        cases.push_back({fmt::format("{} elements", elements),
                         graph_of({w - g / root, exponential(w) * tanh(g), log(root) + erf(w),
                                   convert(w * g, DType::bf16)})});
    }
    return cases;
}

std::vector<Case> contributions() {
    std::vector<Case> cases;
    for (const DType dtype : dtypes) {
        const Tensor x = core_input(dtype, {37, 129});
        const Tensor wide = convert(x, DType::f32);
        cases.push_back(
            {label(dtype, 37, "rows"),
             graph_of({all_reduce(reduce(wide, {0}, Reduction::add)),
                       all_reduce(reduce(wide, {0, 1}, Reduction::add)), all_reduce(tanh(wide)),
                       all_reduce(reduce(wide, {0}, Reduction::maximum), Reduction::maximum)})});
    }
    return cases;
}

/// Weights that are made in the program, packed by all workers and multiplied by each.
std::vector<Case> packing() {
    std::vector<Case> cases;
    for (const DType dtype : dtypes) {
        const Tensor w = tanh(shared_input(dtype, {256, 512}));
        const Tensor x = core_input(dtype, {600, 256});
        cases.push_back({label(dtype, 600, "rows"), graph_of({tanh(matmul(x, w))}), {{1, 0}}});
        const Tensor filter = tanh(shared_input(dtype, {64, 64, 3, 3}));
        const Tensor y = convolution_2d(core_input(dtype, {4, 64, 16, 16}), filter, 1, 1);
        cases.push_back({label(dtype, 4, "images"), graph_of({tanh(y)}), {{1, 1}}});
    }
    return cases;
}

const std::map<std::string_view, std::vector<Case> (*)()> cases_of = {
    {"rows_together", rows_together},
    {"lines_together", lines_together},
    {"patches_together", patches_together},
    {"images_together", images_together},
    {"filtered_together", filtered_together},
    {"sum_of_products", sum_of_products},
    {"stacked_product", stacked_product},
    {"joined_gradient", joined_gradient},
    {"look_ups", look_ups},
    {"element_loops", element_loops},
    {"contributions", contributions},
    {"packing", packing},
};

std::vector<ReferenceValue> inputs_of(const Case& c) {
    std::vector<ReferenceValue> inputs = random_inputs(c.graph, cores, 11);
    if (!c.terms) return inputs;
    const TermPairs pairs(c.graph.inputs[0].dims()[(*c.terms)[0]]);
    WideNumbers numbers(5);
    for (const std::size_t i : {0u, 1u})
        for (Array& array : inputs[i])
            fill_operand(array.bytes(), array.shape().dtype, dense_view(array.shape().dims),
                         (*c.terms)[i], pairs, i == 0 ? Side::left : Side::right, numbers);
    return inputs;
}

class EachSharedWork : public testing::TestWithParam<SharedWork> {};

TEST_P(EachSharedWork, has_the_same_bits_on_any_number_of_workers) {
    const auto found = cases_of.find(GetParam().name);
    ASSERT_NE(found, cases_of.end()) << "no graphs show it";
    for (const Case& c : found->second()) {
        SCOPED_TRACE(c.name);
        expect_same_bits_on_any_workers(c.graph, inputs_of(c));
    }
}

INSTANTIATE_TEST_SUITE_P(Rows, EachSharedWork, testing::ValuesIn(shared_work),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(SharedWork, has_a_row_for_each_test) {
    EXPECT_EQ(cases_of.size(), shared_work.size());
}

/// Sums of the terms in their order and the other way round, rounded to bf16.
template <class Number>
std::array<std::vector<std::uint16_t>, 2> sums_in_two_orders(std::int64_t terms) {
    constexpr std::int64_t rows = 16, columns = 16;
    const DType dtype = std::is_same_v<Number, float> ? DType::f32 : DType::bf16;
    std::vector<Number> left(std::size_t(rows * terms)), right(std::size_t(terms * columns));
    const TermPairs pairs(terms);
    WideNumbers numbers(5);
    fill_operand(reinterpret_cast<std::byte*>(left.data()), dtype, dense_view({rows, terms}), 1,
                 pairs, Side::left, numbers);
    fill_operand(reinterpret_cast<std::byte*>(right.data()), dtype, dense_view({terms, columns}), 0,
                 pairs, Side::right, numbers);
    std::array<std::vector<std::uint16_t>, 2> sums;
    for (const bool backwards : {false, true})
        for (std::int64_t row = 0; row < rows; ++row)
            for (std::int64_t column = 0; column < columns; ++column) {
                float sum = 0;
                for (std::int64_t i = 0; i < terms; ++i) {
                    const std::int64_t term = backwards ? terms - 1 - i : i;
                    sum += float(left[std::size_t(row * terms + term)]) *
                           float(right[std::size_t(term * columns + column)]);
                }
                sums[std::size_t(backwards)].push_back(BFloat16(sum).bits());
            }
    return sums;
}

std::size_t differing(const std::array<std::vector<std::uint16_t>, 2>& sums) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < sums[0].size(); ++i)
        count += std::size_t(sums[0][i] != sums[1][i]);
    return count;
}

// Goal: another order of additions is seen in results that are rounded to bf16.
TEST(TellingOperands, show_another_order_in_most_results_in_bf16) {
    for (const std::int64_t terms : {64, 100, 784, 3001}) {
        EXPECT_GT(differing(sums_in_two_orders<BFloat16>(terms)), 128u) << terms << " terms";
        EXPECT_GT(differing(sums_in_two_orders<float>(terms)), 128u) << terms << " terms";
    }
}

TEST(TellingOperands, leave_nothing_of_an_exact_sum) {
    constexpr std::int64_t terms = 33;
    std::vector<float> left(terms), right(terms);
    const TermPairs pairs(terms);
    WideNumbers numbers(1);
    fill_operand(reinterpret_cast<std::byte*>(left.data()), DType::f32, dense_view({1, terms}), 1,
                 pairs, Side::left, numbers);
    fill_operand(reinterpret_cast<std::byte*>(right.data()), DType::f32, dense_view({terms, 1}), 0,
                 pairs, Side::right, numbers);
    std::map<double, int> products;
    for (std::size_t i = 0; i < left.size(); ++i)
        ++products[double(left[i]) * double(right[i])];
    for (const auto& [value, count] : products)
        EXPECT_TRUE(value == 0 || products[-value] == count) << value;
    EXPECT_EQ(std::ranges::count(left, 0.0F), 1) << "the term without a partner";
}

}    // namespace
}    // namespace slipway
