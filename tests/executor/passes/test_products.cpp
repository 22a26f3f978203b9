#include <gtest/gtest.h>

#include "executor/graph/ops.h"
#include "executor/graph/print.h"
#include "executor/passes/passes.h"

// Goal: canonicalize_products takes transposes out where that costs nothing, and nowhere else.
namespace slipway {
namespace {

Tensor input(Dims dims) {
    return input({DType::f32, std::move(dims)}, Placement::replicated, "x");
}

/// What a row does with x [2,3], z [4,3] and b [5,2,3].
struct ProductCase {
    const char* name;
    std::vector<Tensor> (*before)(const Tensor& x, const Tensor& z, const Tensor& b);
    std::vector<Tensor> (*after)(const Tensor& x, const Tensor& z, const Tensor& b);
};

const std::vector<ProductCase> cases{
    {"transposed_right_operand",
     [](auto& x, auto& z, auto&) -> std::vector<Tensor> {
         return {dot_general(x, transpose(z, {1, 0}), {{}, {}, {1}, {0}})};
     },
     [](auto& x, auto& z, auto&) -> std::vector<Tensor> {
         return {dot_general(x, z, {{}, {}, {1}, {1}})};
     }},
    {"transposed_twice",
     [](auto& x, auto&, auto& b) -> std::vector<Tensor> {
         return {dot_general(transpose(transpose(b, {1, 0, 2}), {2, 0, 1}), x, {{}, {}, {0}, {1}})};
     },
     [](auto& x, auto&, auto& b) -> std::vector<Tensor> {
         return {dot_general(transpose(b, {1, 0, 2}), x, {{}, {}, {2}, {1}})};
     }},
    {"order_of_what_is_left_stays",
     [](auto& x, auto&, auto& b) -> std::vector<Tensor> {
         return {dot_general(transpose(b, {1, 0, 2}), x, {{}, {}, {2}, {1}})};
     },
     [](auto& x, auto&, auto& b) -> std::vector<Tensor> {
         return {dot_general(transpose(b, {1, 0, 2}), x, {{}, {}, {2}, {1}})};
     }},
    {"swapped_result",
     [](auto& x, auto& z, auto&) -> std::vector<Tensor> {
         return {transpose(dot_general(x, z, {{}, {}, {1}, {1}}), {1, 0})};
     },
     [](auto& x, auto& z, auto&) -> std::vector<Tensor> {
         return {dot_general(z, x, {{}, {}, {1}, {1}})};
     }},
    {"swapped_result_of_two_left_dimensions",
     [](auto& x, auto&, auto& b) -> std::vector<Tensor> {
         return {transpose(dot_general(b, x, {{}, {}, {2}, {1}}), {2, 0, 1})};
     },
     [](auto& x, auto&, auto& b) -> std::vector<Tensor> {
         return {dot_general(x, b, {{}, {}, {1}, {2}})};
     }},
    {"batches_stay_in_front",
     [](auto&, auto&, auto& b) -> std::vector<Tensor> {
         return {transpose(dot_general(b, b, {{0}, {0}, {2}, {2}}), {0, 2, 1})};
     },
     [](auto&, auto&, auto& b) -> std::vector<Tensor> {
         return {dot_general(b, b, {{0}, {0}, {2}, {2}})};
     }},
    {"another_order_stays",
     [](auto&, auto&, auto& b) -> std::vector<Tensor> {
         return {transpose(dot_general(b, b, {{0}, {0}, {2}, {2}}), {1, 0, 2})};
     },
     [](auto&, auto&, auto& b) -> std::vector<Tensor> {
         return {transpose(dot_general(b, b, {{0}, {0}, {2}, {2}}), {1, 0, 2})};
     }},
    {"product_with_another_user_is_not_made_twice",
     [](auto& x, auto& z, auto&) -> std::vector<Tensor> {
         const Tensor product = dot_general(x, z, {{}, {}, {1}, {1}});
         return {transpose(product, {1, 0}), negate(product)};
     },
     [](auto& x, auto& z, auto&) -> std::vector<Tensor> {
         const Tensor product = dot_general(x, z, {{}, {}, {1}, {1}});
         return {transpose(product, {1, 0}), negate(product)};
     }},
};

TEST(CanonicalizeProducts, takes_transposes_out) {
    const Tensor x = input({2, 3});
    const Tensor z = input({4, 3});
    const Tensor b = input({5, 2, 3});
    for (const ProductCase& row : cases) {
        const Graph plain = canonicalize_products({{x, z, b}, row.before(x, z, b), {}});
        EXPECT_EQ(print(plain), print({{x, z, b}, row.after(x, z, b), {}})) << row.name;
    }
}

TEST(CanonicalizeProducts, type_of_the_result_stays) {
    const Tensor x = input({DType::bf16, {2, 3}}, Placement::replicated, "x");
    const Tensor product = dot_general(x, transpose(x, {1, 0}), {{}, {}, {1}, {0}, DType::f32});
    const Graph plain = canonicalize_products({{x}, {product}, {}});
    EXPECT_EQ(plain.outputs[0].dtype(), DType::f32);
    EXPECT_EQ(plain.outputs[0].node().operands[1], x);
}

}    // namespace
}    // namespace slipway
