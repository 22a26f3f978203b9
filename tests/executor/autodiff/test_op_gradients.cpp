#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "executor/graph/op_table.h"
#include "tests/support/gradcheck.h"

// Goal: the gradient rule of each op is its derivative.
// Method: central differences in f64 (tests/support/gradcheck.h) on random shapes and values.
namespace slipway {
namespace {

using Inputs = std::vector<Tensor>;

/// What an op's gradient is checked with.
struct GradientCase {
    const char* name;
    /// The inputs' values for one round; dims are made here too.
    std::vector<Array> (*inputs)(RandomStream& random);
    Tensor (*expression)(const Inputs& x);
};

Dims some_dims(RandomStream& random) {
    Dims dims;
    for (std::uint64_t rank = random.next_below(4); rank > 0; --rank)
        dims.push_back(1 + std::int64_t(random.next_below(3)));
    return dims;
}

template <int low_tenths, int high_tenths>
std::vector<Array> one(RandomStream& random) {
    return {random_values(random, some_dims(random), low_tenths / 10.0, high_tenths / 10.0)};
}

std::vector<Array> one_distinct(RandomStream& random) {
    return {distinct_values(random, some_dims(random))};
}

template <int low_tenths, int high_tenths>
std::vector<Array> two(RandomStream& random) {
    const Dims dims = some_dims(random);
    return {random_values(random, dims, low_tenths / 10.0, high_tenths / 10.0),
            random_values(random, dims, low_tenths / 10.0, high_tenths / 10.0)};
}

/// Two arrays of which no two elements are near each other.
std::vector<Array> two_distinct(RandomStream& random) {
    const Dims dims = some_dims(random);
    Dims both = dims;
    both.insert(both.begin(), 2);
    const Array values = distinct_values(random, both);
    const auto all = values.as<double>();
    return {array_of<double>(dims, all.first(all.size() / 2)),
            array_of<double>(dims, all.last(all.size() / 2))};
}

template <std::int64_t... extents>
std::vector<Array> of_dims(RandomStream& random) {
    return {random_values(random, {extents...}, -2, 2)};
}

std::vector<Array> rows_of_distinct(RandomStream& random) {
    return {distinct_values(random, {1 + std::int64_t(random.next_below(3)), 4, 2})};
}

Tensor weighted_rows(const Tensor& x) {
    return x * iota({DType::f64, x.dims()}, 1);
}

/// Quotients that stay clear of whole numbers, where the remainder jumps.
std::vector<Array> two_apart(RandomStream& random) {
    const Dims dims = some_dims(random);
    Array whole = random_values(random, dims, -3, 3);
    const Array divisor = random_values(random, dims, 1, 2);
    for (std::size_t i = 0; i < whole.as<double>().size(); ++i) {
        double& x = whole.as<double>()[i];
        x = (std::floor(x) + 0.5) * divisor.as<double>()[i];
    }
    return {whole, divisor};
}

/// Low, x and high, of which no two elements are near each other.
std::vector<Array> three_distinct(RandomStream& random) {
    const Dims dims = some_dims(random);
    Dims all_dims = dims;
    all_dims.insert(all_dims.begin(), 3);
    const Array values = distinct_values(random, all_dims);
    const auto all = values.as<double>();
    const std::size_t count = all.size() / 3;
    return {array_of<double>(dims, all.subspan(0, count)),
            array_of<double>(dims, all.subspan(count, count)),
            array_of<double>(dims, all.subspan(2 * count, count))};
}

Tensor whole(double value) {
    return constant(value, DType::i32);
}

/// [2, 3]: some rows of four twice, one below them, one beyond.
Tensor some_indices() {
    const Tensor counted = iota({DType::i32, {6}}, 0);
    return reshape(remainder(counted * whole(5), whole(7)) - whole(1), {2, 3});
}

const std::vector<GradientCase> cases{
    {"broadcast_in_dim", of_dims<2, 1, 3>,
     [](const Inputs& x) {
         return broadcast_in_dim(x[0], {2, 2, 4, 3}, {0, 2, 3});
     }},
    {"reshape", of_dims<2, 3>,
     [](const Inputs& x) {
         return reshape(x[0], {3, 1, 2});
     }},
    {"transpose", of_dims<2, 3, 4>,
     [](const Inputs& x) {
         return transpose(x[0], {2, 0, 1});
     }},
    {"slice", of_dims<5, 7>,
     [](const Inputs& x) {
         return slice(x[0], {1, 0}, {5, 6}, {2, 4});
     }},
    {"slice_of_nothing", of_dims<5>, [](const Inputs& x) { return slice(x[0], {2}, {2}, {3}); }},
    {"pad", of_dims<3, 4>,
     [](const Inputs& x) {
         return pad(x[0], 5, {{1, -1}, {2, -2}, {2, 1}});
     }},
    {"concatenate", of_dims<2, 3>,
     [](const Inputs& x) {
         return concatenate({x[0], negate(x[0]), slice(x[0], {0, 1}, {2, 2}, {1, 1})}, 1);
     }},
    {"reverse", of_dims<3, 4>, [](const Inputs& x) { return reverse(x[0], {1}) * x[0]; }},
    {"convert", of_dims<3>, [](const Inputs& x) { return convert(x[0], DType::f64) * x[0]; }},
    {"negate", one<-20, 20>, [](const Inputs& x) { return negate(x[0]); }},
    {"abs", one_distinct, [](const Inputs& x) { return abs(x[0]); }},
    {"sign", one_distinct, [](const Inputs& x) { return sign(x[0]) * x[0]; }},
    {"floor", one_distinct, [](const Inputs& x) { return floor(x[0]) * x[0]; }},
    {"exponential", one<-20, 20>, [](const Inputs& x) { return exponential(x[0]); }},
    {"log", one<5, 30>, [](const Inputs& x) { return log(x[0]); }},
    {"sqrt", one<5, 30>, [](const Inputs& x) { return sqrt(x[0]); }},
    {"rsqrt", one<5, 30>, [](const Inputs& x) { return rsqrt(x[0]); }},
    {"tanh", one<-20, 20>, [](const Inputs& x) { return tanh(x[0]); }},
    {"logistic", one<-20, 20>, [](const Inputs& x) { return logistic(x[0]); }},
    {"exponential_minus_one", one<-20, 20>,
     [](const Inputs& x) { return exponential_minus_one(x[0]); }},
    {"log_plus_one", one<-5, 30>, [](const Inputs& x) { return log_plus_one(x[0]); }},
    {"erf", one<-20, 20>, [](const Inputs& x) { return erf(x[0]); }},
    {"sine", one<-50, 50>, [](const Inputs& x) { return sine(x[0]); }},
    {"cosine", one<-50, 50>, [](const Inputs& x) { return cosine(x[0]); }},
    {"add", two<-20, 20>, [](const Inputs& x) { return x[0] + x[1] + x[0]; }},
    {"add_scalar", of_dims<3>,
     [](const Inputs& x) { return x[0] + reduce(x[0], {0}, Reduction::add); }},
    {"subtract", two<-20, 20>, [](const Inputs& x) { return x[0] - x[1]; }},
    {"multiply", two<-20, 20>, [](const Inputs& x) { return x[0] * x[1]; }},
    {"square", one<-20, 20>, [](const Inputs& x) { return x[0] * x[0]; }},
    {"divide", two<5, 30>, [](const Inputs& x) { return x[0] / x[1]; }},
    {"maximum", two_distinct, [](const Inputs& x) { return maximum(x[0], x[1]); }},
    {"minimum", two_distinct, [](const Inputs& x) { return minimum(x[0], x[1]); }},
    {"power", two<5, 30>, [](const Inputs& x) { return power(x[0], x[1]); }},
    {"power_of_negative_to_whole", one_distinct,
     [](const Inputs& x) { return power(x[0], constant(3, DType::f64)); }},
    {"remainder", two_apart, [](const Inputs& x) { return remainder(x[0], x[1]); }},
    {"clamp", three_distinct, [](const Inputs& x) { return clamp(x[0], x[1], x[2]); }},
    {"select", two_distinct,
     [](const Inputs& x) {
         return select(compare(x[0], constant(0, DType::f64), Comparison::gt), x[0] * x[0], x[1]);
     }},
    {"stop_gradient", one<-20, 20>,
     [](const Inputs& x) { return x[0] + stop_gradient(constant(3, DType::f64)); }},
    {"reduce_add", of_dims<2, 3, 4>,
     [](const Inputs& x) {
         return reduce(x[0], {0, 2}, Reduction::add);
     }},
    {"reduce_maximum", rows_of_distinct,
     [](const Inputs& x) { return reduce(x[0], {1}, Reduction::maximum); }},
    {"reduce_minimum", rows_of_distinct,
     [](const Inputs& x) {
         return reduce(x[0], {0, 1}, Reduction::minimum);
     }},
    {"optimization_barrier", one<-20, 20>,
     [](const Inputs& x) { return optimization_barrier(x[0] * x[0]); }},
    {"dynamic_slice", of_dims<4, 5>,
     [](const Inputs& x) {
         return dynamic_slice(x[0], {whole(1), whole(9)}, {2, 3});
     }},
    {"dynamic_update_slice", of_dims<4, 4>,
     [](const Inputs& x) {
         const Tensor update = slice(x[0], {0, 0}, {2, 3}, {1, 1});
         return dynamic_update_slice(x[0], update * update, {whole(1), whole(-1)});
     }},
    {"gather", of_dims<4, 3>, [](const Inputs& x) { return gather(x[0] * x[0], some_indices()); }},
    {"scatter_add", of_dims<4, 3>,
     [](const Inputs& x) {
         const Tensor updates = broadcast_in_dim(x[0] * x[0], {2, 4, 3}, {1, 2});
         return scatter_add(x[0], some_indices(),
                            reshape(slice(updates, {0, 0, 0}, {2, 3, 3}, {1, 1, 1}), {2, 3, 3}));
     }},
    {"relu", one_distinct, [](const Inputs& x) { return relu(x[0]); }},
    {"log_softmax", of_dims<3, 4>,
     [](const Inputs& x) { return log_softmax(weighted_rows(x[0])); }},
};

class OpGradients : public testing::TestWithParam<GradientCase> {};

TEST_P(OpGradients, match_differences) {
    for (std::uint64_t round = 0; round < 8; ++round) {
        SCOPED_TRACE(fmt::format("SLIPWAY_TEST_SEED={} round {}", test_seed(), round));
        RandomStream random(test_seed(), 0, round);
        const std::vector<Array> inputs = GetParam().inputs(random);
        expect_gradients_match(GetParam().expression, inputs, random);
    }
}

INSTANTIATE_TEST_SUITE_P(EveryOp, OpGradients, testing::ValuesIn(cases),
                         [](const auto& row) { return std::string(row.param.name); });

/// Checked in test_window_gradients.cpp, test_composite_gradients.cpp and test_gradients.cpp.
const std::set<std::string_view> checked_elsewhere{
    "dot_general",         "convolution",          "reduce_window", "all_reduce",
    "batch_norm_training", "batch_norm_inference", "composite"};

TEST(OpGradients, every_rule_is_checked) {
    std::set<std::string_view> checked = checked_elsewhere;
    for (const GradientCase& row : cases)
        checked.insert(row.name);
    checked.insert("reduce");
    for (const OpRow& row : op_table())
        EXPECT_TRUE(row.gradient == nullptr || checked.contains(row.name)) << row.name;
}

}    // namespace
}    // namespace slipway
