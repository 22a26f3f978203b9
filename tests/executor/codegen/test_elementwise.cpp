#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "api/base/error.h"
#include "executor/codegen/lower.h"
#include "executor/graph/op_table.h"
#include "executor/graph/ops.h"
#include "executor/passes/pipeline.h"
#include "tests/executor/codegen/run_graph.h"

namespace slipway {
namespace {

// libm's f32 functions are within 1 ulp of the true value, compositions within a few; the judge
// calculates in f64 and rounds once.
constexpr Tolerance few_ulps{.absolute = 1e-7, .relative = 6e-7};

Tensor core_input(Dims dims, DType dtype = DType::f32) {
    return input({dtype, std::move(dims)}, Placement::per_core, "x");
}

struct UnaryCase {
    const char* name;
    Tensor (*op)(const Tensor&);
    Tolerance tolerance;
};

const UnaryCase unary_cases[] = {
    {"negate", negate, exactly},
    {"abs", abs, exactly},
    {"sign", sign, exactly},
    {"exponential", exponential, few_ulps},
    {"log", [](const Tensor& x) { return log(x + constant(1.5)); }, few_ulps},
    {"sqrt", [](const Tensor& x) { return sqrt(abs(x)); }, exactly},
    {"rsqrt", [](const Tensor& x) { return rsqrt(x * x + constant(1)); }, few_ulps},
    {"tanh", tanh, few_ulps},
    {"logistic", logistic, few_ulps},
    {"exponential_minus_one", exponential_minus_one, few_ulps},
    {"log_plus_one", [](const Tensor& x) { return log_plus_one(abs(x)); }, few_ulps},
    {"erf", erf, few_ulps},
    {"sine", [](const Tensor& x) { return sine(x * constant(20)); }, few_ulps},
    {"cosine", [](const Tensor& x) { return cosine(x * constant(20)); }, few_ulps},
    {"floor", [](const Tensor& x) { return floor(x * constant(16)); }, exactly},
    {"log_of_nothing", log, {1e-5, 1e-4}},    // near 1 the logarithm cancels; below 0 it is NaN
};

class Unary : public testing::TestWithParam<UnaryCase> {};

TEST_P(Unary, is_what_the_reference_says) {
    for (const Dims& dims : {Dims{}, Dims{1}, Dims{7}, Dims{3, 1000}, Dims{0, 4}}) {
        const Tensor y = GetParam().op(core_input(dims));
        EXPECT_EQ(compare_with_reference(graph_of({y}), GetParam().tolerance, 1), "")
            << to_string(y.shape());
    }
}

INSTANTIATE_TEST_SUITE_P(Elementwise, Unary, testing::ValuesIn(unary_cases),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Elementwise, every_function_of_one_number_has_a_row) {
    std::set<OpCode> seen;
    for (const UnaryCase& row : unary_cases)
        for (const Tensor& x : topological_order(graph_of({row.op(core_input({2}))})))
            seen.insert(x.node().op);
    for (const OpRow& row : op_table())
        if (row.op >= OpCode::negate && row.op <= OpCode::floor) {
            EXPECT_TRUE(seen.contains(row.op)) << row.name;
        }
}

// Masks are the same however rows and vectors meet.
TEST(Dropout, is_what_the_reference_says) {
    const Tensor key = input({DType::u32, {2}}, Placement::replicated, "key");
    for (const Dims& dims :
         {Dims{3, 64}, Dims{2, 100}, Dims{2, 3, 48}, Dims{70}, Dims{2, 2, 5, 32}}) {
        const Tensor y =
            dropout(core_input(dims), constant(0.4), key, 7, core_input({}, DType::i32));
        const Graph graph = optimize(graph_of({y})).graph;
        EXPECT_EQ(compare_with_reference(graph, few_ulps, 2), "") << to_string(y.shape());
    }
}

struct BinaryCase {
    const char* name;
    Tensor (*op)(const Tensor&, const Tensor&);
    bool takes_integers;
    Tolerance tolerance;
};

const BinaryCase binary_cases[] = {
    {"add", add, true, exactly},
    {"subtract", subtract, true, exactly},
    {"multiply", multiply, true, exactly},
    {"divide", divide, false, exactly},
    {"maximum", maximum, true, exactly},
    {"minimum", minimum, true, exactly},
    {"power", [](const Tensor& x, const Tensor& y) { return power(abs(x), y); }, false, few_ulps},
};

class Binary : public testing::TestWithParam<BinaryCase> {};

// Goal: every way in which an operand may lie: dense, a scalar, repeated, transposed, reversed,
// cut.
TEST_P(Binary, is_what_the_reference_says_however_operands_lie) {
    const auto& op = GetParam().op;
    std::vector<DType> dtypes{DType::f32};
    if (GetParam().takes_integers) dtypes = {DType::f32, DType::i32, DType::i64, DType::u8};
    for (const DType dtype : dtypes) {
        const Tensor x = core_input({5, 33}, dtype);
        const Tensor y = input({dtype, {5, 33}}, Placement::replicated, "y");
        const Tensor row = input({dtype, {33}}, Placement::replicated, "row");
        const Tensor column = core_input({5}, dtype);
        const Tensor wide = input({dtype, {33, 5}}, Placement::replicated, "wide");
        const Tensor large = core_input({11, 40}, dtype);
        const Tensor scalar = input({dtype, {}}, Placement::replicated, "scalar");
        const Graph graph = graph_of({
            op(x, y),
            op(x, x),
            op(x, scalar),
            op(scalar, x),
            op(x, broadcast_in_dim(row, {5, 33}, {1})),
            op(broadcast_in_dim(column, {5, 33}, {0}), x),
            op(x, transpose(wide, {1, 0})),
            op(reverse(x, {0, 1}), y),
            op(reverse(x, {1}), reverse(x, {1})),
            op(slice(large, {1, 2}, {11, 35}, {2, 1}), x),
            op(slice(large, {1, 2}, {6, 35}, {1, 1}), transpose(wide, {1, 0})),
        });
        EXPECT_EQ(compare_with_reference(graph, GetParam().tolerance, 2), "") << to_string(dtype);
    }
}

INSTANTIATE_TEST_SUITE_P(Elementwise, Binary, testing::ValuesIn(binary_cases),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Elementwise, compares_selects_and_converts_every_type) {
    for (const DType dtype : {DType::f32, DType::i32, DType::i64, DType::u8, DType::pred}) {
        const Tensor x = core_input({40, 3}, dtype);
        const Tensor y = input({dtype, {40, 3}}, Placement::replicated, "y");
        const Tensor condition = core_input({40, 3}, DType::pred);
        std::vector<Tensor> outputs{
            select(condition, x, y), select(condition, x, constant(1, dtype)),
            select(transpose(core_input({3, 40}, DType::pred), {1, 0}), x, y)};
        for (const Comparison direction : {Comparison::eq, Comparison::ne, Comparison::lt,
                                           Comparison::le, Comparison::gt, Comparison::ge})
            outputs.push_back(compare(x, y, direction));
        for (const DType to : {DType::f32, DType::i32, DType::i64, DType::u8, DType::pred})
            outputs.push_back(convert(x, to));
        EXPECT_EQ(compare_with_reference(graph_of(outputs), exactly, 3), "") << to_string(dtype);
    }
}

TEST(Elementwise, converts_what_does_not_fit_to_the_nearest_number) {
    const Tensor x = core_input({64});
    const Tensor large = x * constant(1e20);
    const Tensor nothing = log(x - constant(2));
    EXPECT_EQ(compare_with_reference(
                  graph_of({convert(large, DType::i32), convert(large, DType::i64),
                            convert(large, DType::u8), convert(nothing, DType::i32),
                            maximum(nothing, x), maximum(x, nothing), minimum(x, nothing)}),
                  exactly, 4),
              "");
}

// Integers wrap around, so even long chains are exact.
TEST(Elementwise, runs_chains_of_any_length_and_shape) {
    Tensor x = core_input({3, 700}, DType::i32);
    const Tensor row = input({DType::i32, {700}}, Placement::replicated, "row");
    for (int i = 0; i < 40; ++i) {
        x = x * constant(77, DType::i32) + broadcast_in_dim(row, {3, 700}, {1});
        x = select(compare(x, constant(0, DType::i32), Comparison::gt), x * x, negate(x));
    }
    EXPECT_EQ(compare_with_reference(graph_of({x}), exactly, 5), "");
}

TEST(Elementwise, runs_a_chain_as_few_steps) {
    const Tensor x = core_input({8, 16});
    const Tensor bias = input({DType::f32, {16}}, Placement::replicated, "bias");
    const Tensor y = maximum(x + broadcast_in_dim(bias, {8, 16}, {1}), constant(0)) * x;
    EXPECT_EQ(lower(graph_of({y}), {}).steps.size(), 1u);
}

TEST(Elementwise, numbers_below_the_smallest_normal_one_are_zero) {
    const Tensor x = input({DType::f32, {4}}, Placement::replicated, "x");
    const Graph graph = graph_of({x * constant(2), exponential(x)});
    const Array values = array_of<float>({4}, {{0x1p-130F, -0x1p-130F, 0x1p-126F, -100}});
    const auto outputs = run_graph(graph, {{values}}, {1, 1});
    EXPECT_THAT(outputs[0][0].as<float>(), testing::ElementsAre(0, 0, 0x1p-125F, -200));
    EXPECT_THAT(outputs[1][0].as<float>(), testing::ElementsAre(1, 1, 1, 0));
}

TEST(Elementwise, refuses_double_precision) {
    EXPECT_THROW(lower(graph_of({exponential(core_input({3}, DType::f64))}), {}), Error);
    EXPECT_THROW(lower(graph_of({constant(1, DType::f64)}), {}), Error);
}

}    // namespace
}    // namespace slipway
