// Random numbers inside a network come from the pass's dropout: counter-based, by site, step and
// sample, so that a run resumes to the bit on any number of cores. In an evaluation a draw is its
// mean: a Bernoulli mask that is then divided by its chance, as stochastic depth does, becomes 1.
#include <fmt/format.h>
#include <array>

#include "executor/import/operators/parts.h"
#include "executor/import/operators/rows.h"

namespace slipway::importer {

namespace {

/// The form that writes to its operand has another name for it.
Tensor drawn_for(const Call& call) {
    return as_floating(call.tensor(call.has("input") ? "input" : "self"));
}

Value lower_dropout(const Call& call) {
    const Tensor x = drawn_for(call);
    if (!call.flag("train", true)) return {x};
    return {dropped_at(call, x, call.number("p"))};
}

/// Whole channels: one draw for each of [n, c].
Value lower_feature_dropout(const Call& call) {
    const Tensor x = drawn_for(call);
    if (!call.flag("train", true)) return {x};
    if (x.dims().size() < 3) call.refuse("needs [n, c, …]");
    const Tensor ones = broadcast(constant(1), {x.dims().at(0), x.dims().at(1)});
    return {x * broadcast_in_dim(dropped_at(call, ones, call.number("p")), x.dims(), {0, 1})};
}

/// 1 with the chance p, else 0: a dropout of ones without its scale.
Value lower_bernoulli(const Call& call) {
    const Tensor x = call.tensor("self");
    if (!call.has("p"))
        call.refuse("is lowered with a chance that is a number, not with one for each element");
    const double chance = call.number("p");
    const Tensor mean = broadcast(constant(chance), x.dims());
    if (!call.trace().pass.training || chance >= 1) return {mean};
    if (chance <= 0) return {broadcast(constant(0), x.dims())};
    const Tensor drawn = dropped_at(call, mean, 1 - chance);
    // What is kept is chance / chance, up to rounding.
    return {convert(compare(drawn, number_like(drawn, chance / 2), Comparison::gt), DType::f32)};
}

constexpr auto random_table = std::to_array<OperatorRow>({
    {"aten.bernoulli", lower_bernoulli},
    {"aten.dropout", lower_dropout},
    {"aten.feature_dropout", lower_feature_dropout},
});

}    // namespace

std::span<const OperatorRow> random_rows() {
    return random_table;
}

}    // namespace slipway::importer
