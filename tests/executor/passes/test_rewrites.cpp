#include <gtest/gtest.h>

#include <functional>

#include "executor/graph/ops.h"
#include "executor/graph/print.h"
#include "executor/passes/passes.h"

// Goal: each rule of simplify_algebra and fold_constants fires where it should and nowhere else.
namespace slipway {
namespace {

/// What a row does with x f32[2,3] and n i32[2,3], and the printed result.
struct RewriteCase {
    const char* name;
    Tensor (*before)(const Tensor& x, const Tensor& n);
    Tensor (*after)(const Tensor& x, const Tensor& n);
};

Tensor zeros() {
    return broadcast(constant(0), {2, 3});
}

const std::vector<RewriteCase> algebra{
    {"transpose_back",
     [](auto& x, auto&) {
         return transpose(transpose(x, {1, 0}), {1, 0});
     },
     [](auto& x, auto&) { return x; }},
    {"transpose_that_moves_nothing",
     [](auto& x, auto&) {
         return transpose(x, {0, 1});
     },
     [](auto& x, auto&) { return x; }},
    {"transpose_twice",
     [](auto& x, auto&) {
         return transpose(transpose(reshape(x, {1, 2, 3}), {2, 0, 1}), {2, 0, 1});
     },
     [](auto& x, auto&) {
         return transpose(reshape(x, {1, 2, 3}), {1, 2, 0});
     }},
    {"transpose_of_one_number",
     [](auto&, auto&) {
         return transpose(broadcast(constant(4), {3, 2}), {1, 0});
     },
     [](auto&, auto&) {
         return broadcast(constant(4), {2, 3});
     }},
    {"reshape_chain",
     [](auto& x, auto&) {
         return reshape(reshape(x, {6}), {3, 2});
     },
     [](auto& x, auto&) {
         return reshape(x, {3, 2});
     }},
    {"reshape_back",
     [](auto& x, auto&) {
         return reshape(reshape(x, {6}), {2, 3});
     },
     [](auto& x, auto&) { return x; }},
    {"reshape_of_one_number",
     [](auto&, auto&) {
         return reshape(broadcast(constant(4), {6}), {2, 3});
     },
     [](auto&, auto&) {
         return broadcast(constant(4), {2, 3});
     }},
    {"convert_to_itself", [](auto& x, auto&) { return convert(x, DType::f32); },
     [](auto& x, auto&) { return x; }},
    {"convert_by_a_wider_type",
     [](auto& x, auto&) { return convert(convert(x, DType::f64), DType::f32); },
     [](auto& x, auto&) { return x; }},
    {"convert_by_a_wider_integer",
     [](auto&, auto& n) { return convert(convert(n, DType::i64), DType::f32); },
     [](auto&, auto& n) { return convert(n, DType::f32); }},
    {"convert_by_a_narrower_type_stays",
     [](auto&, auto& n) { return convert(convert(n, DType::f32), DType::i32); },
     [](auto&, auto& n) { return convert(convert(n, DType::f32), DType::i32); }},
    {"convert_that_would_saturate_stays",
     [](auto&, auto& n) { return convert(convert(n, DType::f64), DType::u8); },
     [](auto&, auto& n) { return convert(convert(n, DType::f64), DType::u8); }},
    {"broadcast_chain",
     [](auto& x, auto&) {
         return broadcast_in_dim(broadcast_in_dim(x, {2, 1, 3}, {0, 2}), {4, 2, 5, 3}, {1, 2, 3});
     },
     [](auto& x, auto&) {
         return broadcast_in_dim(x, {4, 2, 5, 3}, {1, 3});
     }},
    {"broadcast_to_itself",
     [](auto& x, auto&) {
         return broadcast_in_dim(x, {2, 3}, {0, 1});
     },
     [](auto& x, auto&) { return x; }},
    {"reverse_back", [](auto& x, auto&) { return reverse(reverse(x, {1}), {1}); },
     [](auto& x, auto&) { return x; }},
    {"reverse_of_one_element",
     [](auto& x, auto&) {
         return reverse(reshape(x, {2, 3, 1, 1}), {2, 3});
     },
     [](auto& x, auto&) {
         return reshape(x, {2, 3, 1, 1});
     }},
    {"reverse_otherwise_stays", [](auto& x, auto&) { return reverse(reverse(x, {1}), {0}); },
     [](auto& x, auto&) { return reverse(reverse(x, {1}), {0}); }},
    {"negate_back", [](auto& x, auto&) { return negate(negate(x)); },
     [](auto& x, auto&) { return x; }},
    {"slice_of_all",
     [](auto& x, auto&) {
         return slice(x, {0, 0}, {2, 3}, {1, 1});
     },
     [](auto& x, auto&) { return x; }},
    {"pad_with_nothing",
     [](auto& x, auto&) {
         return pad(x, 1, {{0, 0}, {0, 0}, {0, 0}});
     },
     [](auto& x, auto&) { return x; }},
    {"pad_that_shifts_stays",
     [](auto& x, auto&) {
         return pad(x, 1, {{1, 0}, {-1, 0}, {0, 0}});
     },
     [](auto& x, auto&) {
         return pad(x, 1, {{1, 0}, {-1, 0}, {0, 0}});
     }},
    {"concatenate_of_one", [](auto& x, auto&) { return concatenate({x}, 0); },
     [](auto& x, auto&) { return x; }},
    {"reduce_over_nothing", [](auto& x, auto&) { return reduce(x, {}, Reduction::add); },
     [](auto& x, auto&) { return x; }},
    {"stop_gradient", [](auto& x, auto&) { return stop_gradient(x); },
     [](auto& x, auto&) { return x; }},
    {"times_one", [](auto& x, auto&) { return x * constant(1); }, [](auto& x, auto&) { return x; }},
    {"one_times", [](auto& x, auto&) { return constant(1) * x; }, [](auto& x, auto&) { return x; }},
    {"by_one", [](auto& x, auto&) { return x / constant(1); }, [](auto& x, auto&) { return x; }},
    {"one_by_stays", [](auto& x, auto&) { return constant(1) / x; },
     [](auto& x, auto&) { return constant(1) / x; }},
    {"plus_zero", [](auto& x, auto&) { return x + constant(0); }, [](auto& x, auto&) { return x; }},
    {"zero_plus", [](auto& x, auto&) { return zeros() + x; }, [](auto& x, auto&) { return x; }},
    {"minus_zero", [](auto& x, auto&) { return x - zeros(); }, [](auto& x, auto&) { return x; }},
    {"zero_minus_stays", [](auto& x, auto&) { return zeros() - x; },
     [](auto& x, auto&) { return zeros() - x; }},
    {"times_zero_stays", [](auto& x, auto&) { return x * zeros(); },
     [](auto& x, auto&) { return x * zeros(); }},
    {"integers_plus_zero", [](auto&, auto& n) { return n + constant(0, DType::i32); },
     [](auto&, auto& n) { return n; }},
    {"select_of_equals",
     [](auto& x, auto& n) { return select(compare(n, n, Comparison::eq), x, x); },
     [](auto& x, auto&) { return x; }},
    {"select_by_a_constant",
     [](auto& x, auto&) { return select(constant(0, DType::pred), negate(x), x); },
     [](auto& x, auto&) { return x; }},
    {"rules_meet",
     [](auto& x, auto&) {
         return transpose(transpose(x * constant(1), {1, 0}) + constant(0), {1, 0});
     },
     [](auto& x, auto&) { return x; }},
};

const std::vector<RewriteCase> constants{
    {"arithmetic", [](auto&, auto&) { return constant(2) * constant(3) + constant(0.5); },
     [](auto&, auto&) { return constant(6.5); }},
    {"rounded_to_its_type", [](auto&, auto&) { return constant(0.1) * constant(1); },
     [](auto&, auto&) { return constant(double(0.1F)); }},
    {"repeated_constants",
     [](auto&, auto&) {
         return negate(broadcast(constant(2), {2, 3}));
     },
     [](auto&, auto&) {
         return broadcast(constant(-2), {2, 3});
     }},
    {"conversion", [](auto&, auto&) { return convert(constant(2.9), DType::i32); },
     [](auto&, auto&) { return constant(2, DType::i32); }},
    {"comparison", [](auto&, auto&) { return compare(constant(1), constant(2), Comparison::lt); },
     [](auto&, auto&) { return constant(1, DType::pred); }},
    {"choice",
     [](auto&, auto&) { return select(constant(1, DType::pred), constant(5), constant(6)); },
     [](auto&, auto&) { return constant(5); }},
    {"input_stays", [](auto& x, auto&) { return x + constant(1); },
     [](auto& x, auto&) { return x + constant(1); }},
    {"too_large_for_a_constant_stays",
     [](auto&, auto&) { return constant(0x1p52, DType::i64) * constant(4, DType::i64); },
     [](auto&, auto&) { return constant(0x1p52, DType::i64) * constant(4, DType::i64); }},
};

void expect_rewrite(const RewriteCase& row, Graph (*pass)(const Graph&, const PassOptions&)) {
    const Tensor x = input({DType::f32, {2, 3}}, Placement::replicated, "x");
    const Tensor n = input({DType::i32, {2, 3}}, Placement::replicated, "n");
    const Graph rewritten = pass({{x, n}, {row.before(x, n)}, {}}, {});
    EXPECT_EQ(print(rewritten), print({{x, n}, {row.after(x, n)}, {}})) << row.name;
}

TEST(SimplifyAlgebra, rules_fire_where_they_should) {
    for (const RewriteCase& row : algebra)
        expect_rewrite(row, simplify_algebra);
}

TEST(FoldConstants, calculates_what_is_constant) {
    for (const RewriteCase& row : constants)
        expect_rewrite(row, fold_constants);
}

// A choice that is always the replicated value must stay one per core, or an all_reduce above it
// would be refused.
TEST(SimplifyAlgebra, placement_is_kept) {
    const Tensor x = input({DType::f32, {2}}, Placement::replicated, "x");
    const Tensor local = input({DType::f32, {2}}, Placement::per_core, "local");
    const Tensor chosen = all_reduce(select(constant(1, DType::pred), x, local));
    const Graph graph{{x, local}, {chosen}, {}};
    EXPECT_EQ(print(simplify_algebra(graph)), print(graph));
}

}    // namespace
}    // namespace slipway
