#include <gtest/gtest.h>

#include <set>

#include "api/base/error.h"
#include "executor/graph/composite_table.h"
#include "tests/support/gradcheck.h"

// Goal: the gradients of composites and of batch norm are their derivatives, those by rule and
// those through the decomposition. Method: central differences in f64 (tests/support/gradcheck.h).
namespace slipway {
namespace {

using Inputs = std::vector<Tensor>;

struct CompositeCase {
    const char* name;    ///< that of the composite, or that and what is special
    std::vector<Dims> inputs;
    Tensor (*expression)(const Inputs& x);
};

Tensor number(double value) {
    return constant(value, DType::f64);
}

/// Labels 0..2 and one that does not count.
Tensor some_labels() {
    const Tensor counted = iota({DType::i32, {4}}, 0);
    return select(compare(counted, constant(3, DType::i32), Comparison::eq),
                  constant(-100, DType::i32), counted);
}

/// All but the last key of each sample.
Tensor some_mask() {
    return compare(iota({DType::i32, {2, 3}}, 1), constant(2, DType::i32), Comparison::lt);
}

const std::vector<CompositeCase> cases{
    {"softmax", {{3, 4}}, [](const Inputs& x) { return softmax(x[0]); }},
    {"cross_entropy", {{4, 3}}, [](const Inputs& x) { return cross_entropy(x[0], some_labels()); }},
    {"binary_cross_entropy_with_logits",
     {{2, 3}, {2, 3}},
     [](const Inputs& x) { return binary_cross_entropy_with_logits(x[0], x[1]); }},
    {"layer_norm",
     {{2, 3, 4}, {4}, {4}},
     [](const Inputs& x) { return layer_norm(x[0], x[1], x[2], 0.1); }},
    {"layer_norm_grad",
     {{2, 4}, {4}, {2}, {2}, {2, 4}},
     [](const Inputs& x) { return make_composite("layer_norm_grad", x); }},
    {"gelu", {{2, 3}}, [](const Inputs& x) { return gelu(x[0], false); }},
    {"gelu_approximation", {{2, 3}}, [](const Inputs& x) { return gelu(x[0], true); }},
    {"dropout",
     {{3, 4}},
     [](const Inputs& x) {
         const Tensor key = iota({DType::u32, {2}}, 0);
         return dropout(x[0] * x[0], constant(0.5), key, 7, constant(5, DType::i32));
     }},
    {"linear", {{2, 3}, {4, 3}, {4}}, [](const Inputs& x) { return linear(x[0], x[1], x[2]); }},
    {"linear_of_itself", {{3, 3}}, [](const Inputs& x) { return linear(x[0], x[0], Tensor()); }},
    {"linear_of_what_depends_on_the_weight",
     {{3, 3}},
     [](const Inputs& x) { return linear(tanh(x[0]), x[0], Tensor()); }},
    {"attention",
     {{2, 2, 3, 2}, {2, 2, 3, 2}, {2, 2, 3, 2}},
     [](const Inputs& x) { return attention(x[0], x[1], x[2], 0.7, false, Tensor()); }},
    {"attention_causal_and_masked",
     {{2, 2, 3, 2}, {2, 2, 3, 2}, {2, 2, 3, 2}},
     [](const Inputs& x) { return attention(x[0], x[1], x[2], 0.7, true, some_mask()); }},
    {"attention_grad",
     {{1, 1, 3, 2}, {1, 1, 3, 2}, {1, 1, 3, 2}, {1, 1, 3, 2}, {1, 1, 3, 3}, {1, 1, 3, 2}},
     [](const Inputs& x) {
         return make_composite("attention_grad", x, {0.5, 0});
     }},
    {"batch_norm_training",
     {{3, 2, 2}, {2}, {2}},
     [](const Inputs& x) { return batch_norm_training(x[0], x[1], x[2], 0.1, 1).y; }},
    {"batch_norm_training_beside_its_stopped_mean",
     {{3, 2}, {2}, {2}},
     [](const Inputs& x) {
         const BatchNorm norm = batch_norm_training(x[0], x[1], x[2], 0.1, 1);
         const Tensor zero = stop_gradient(norm.mean) * number(0);
         return norm.y + broadcast_in_dim(zero, norm.y.dims(), {1});
     }},
    {"batch_norm_inference",
     {{3, 2, 2}, {2}, {2}, {2}, {2}},
     [](const Inputs& x) {
         return batch_norm_inference(x[0], x[1], x[2], x[3], x[4] * x[4], 0.5, 1);
     }},
    {"batch_norm_relu",
     {{4, 2}, {2}, {2}},
     [](const Inputs& x) { return batch_norm_relu(x[0], x[1], x[2], 0.1, 1).y; }},
    {"sgd_update",
     {{3}, {3}},
     [](const Inputs& x) {
         return sgd_update(x[0], x[1] * x[1], Tensor(), {number(0.1), number(0.2), {}}, false)
             .parameter;
     }},
    {"adam_update",
     {{3}, {3}},
     [](const Inputs& x) {
         const AdamScalars scalars{number(0.9),  number(0.1), number(0.99),
                                   number(0.01), number(0.1), number(0.2),
                                   number(3),    number(0.1), number(0.1)};
         const Tensor square = x[0] * x[0] + number(1);
         return adam_update(x[0], x[1], x[0], square, scalars, true).parameter;
     }},
    {"clip_by_global_norm",
     {{3}, {2, 2}},
     [](const Inputs& x) {
         return clip_by_global_norm({x[0], x[1]}, number(0.5)).gradients[0];
     }},
};

class CompositeGradients : public testing::TestWithParam<CompositeCase> {};

TEST_P(CompositeGradients, match_differences) {
    for (std::uint64_t round = 0; round < 4; ++round) {
        SCOPED_TRACE(fmt::format("SLIPWAY_TEST_SEED={} round {}", test_seed(), round));
        RandomStream random(test_seed(), 0, round);
        std::vector<Array> inputs;
        for (const Dims& dims : GetParam().inputs)
            inputs.push_back(random_values(random, dims, -2, 2));
        expect_gradients_match(GetParam().expression, inputs, random);
    }
}

INSTANTIATE_TEST_SUITE_P(EveryComposite, CompositeGradients, testing::ValuesIn(cases),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(CompositeGradients, every_composite_is_checked) {
    std::set<std::string_view> checked;
    for (const CompositeCase& row : cases)
        checked.insert(row.name);
    for (const CompositeRow& row : composite_table())
        EXPECT_TRUE(checked.contains(row.name)) << row.name;
}

TEST(CompositeGradients, further_results_have_none) {
    const Tensor x = input({DType::f32, {4, 2}}, Placement::replicated, "x");
    const Tensor scale = broadcast(constant(1), {2});
    const BatchNorm norm = batch_norm_training(x, scale, scale, 0.1, 1);
    const Tensor loss = reduce(norm.mean, {0}, Reduction::add);
    EXPECT_THROW(gradients(loss, {&x, 1}), Error);
}

// Mixed types: what flows to an operand of a product has that operand's type.
TEST(CompositeGradients, products_in_bf16_with_f32_results) {
    const Tensor x = input({DType::bf16, {2, 3}}, Placement::replicated, "x");
    const DotAttributes rows{{}, {}, {1}, {1}, DType::f32};
    const Tensor product = dot_general(x, x, rows);
    EXPECT_EQ(product.dtype(), DType::f32);
    const Tensor loss = reduce(product, {0, 1}, Reduction::add);
    EXPECT_EQ(gradients(loss, {&x, 1})[0].shape(), x.shape());
}

}    // namespace
}    // namespace slipway
