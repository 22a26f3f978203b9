// A table of local rules by operation: each looks at a node whose operands are already
// simplified and returns what it equals, or the node. One pass from operands to users reaches
// what rules enable for each other, since a rule's result is built of simplified nodes; it is
// not repeated to a fixed point. No rule changes a bit, but for the sign of a zero that is added
// to.
#include <algorithm>
#include <array>

#include "executor/graph/ops.h"
#include "executor/passes/passes.h"
#include "executor/passes/rewrite.h"

namespace slipway {

namespace {

/// The operand itself where the op changes nothing, an empty handle where it does.
Tensor operand_if(bool changes_nothing, const Tensor& x) {
    return changes_nothing ? x.node().operands[0] : Tensor();
}

template <class Wanted>
const Wanted& attributes_of(const Tensor& x) {
    return std::get<Wanted>(x.node().attributes);
}

bool is_all(const Dims& dims, std::int64_t value) {
    return std::ranges::all_of(dims, [&](std::int64_t d) { return d == value; });
}

Dims picked(const Dims& dims, const Dims& which) {
    Dims result;
    for (const std::int64_t i : which)
        result.push_back(dims[std::size_t(i)]);
    return result;
}

/// The scalar that x repeats, when x is a broadcast of a scalar.
Tensor repeated_scalar(const Tensor& x) {
    if (x.node().op != OpCode::broadcast_in_dim) return {};
    return operand_if(x.node().operands[0].dims().empty(), x);
}

/// Whether M holds every value of A.
bool holds_all(DType m, DType a) {
    if (m == a || a == DType::pred) return true;
    switch (a) {
        case DType::u8:
            return m != DType::pred;
        case DType::u32:
            return m == DType::i64 || m == DType::f64;
        case DType::i32:
            return m == DType::i64 || m == DType::f64;
        case DType::bf16:
            return m == DType::f32 || m == DType::f64;
        case DType::f32:
            return m == DType::f64;
        default:
            return false;
    }
}

/// transpose(transpose(x)); a transpose that moves nothing; of a repeated scalar.
Tensor simpler_transpose(const Tensor& x) {
    const Dims& outer = attributes_of<TransposeAttributes>(x).permutation;
    const Tensor& operand = x.node().operands[0];
    if (std::ranges::is_sorted(outer)) return operand;
    if (const Tensor scalar = repeated_scalar(operand); !scalar.empty())
        return broadcast(scalar, x.dims());
    if (operand.node().op != OpCode::transpose) return {};
    const Dims& inner = attributes_of<TransposeAttributes>(operand).permutation;
    return transpose(operand.node().operands[0], picked(inner, outer));
}

Tensor simpler_reshape(const Tensor& x) {
    const Tensor& operand = x.node().operands[0];
    if (x.dims() == operand.dims()) return operand;
    if (const Tensor scalar = repeated_scalar(operand); !scalar.empty() && !x.dims().empty())
        return broadcast(scalar, x.dims());
    if (operand.node().op != OpCode::reshape) return {};
    return reshape(operand.node().operands[0], x.dims());
}

/// convert(convert(x)) goes straight when the type in the middle holds all of the first. From
/// integer to integer by way of a floating type is another matter: that way saturates, the straight
/// way wraps around.
Tensor simpler_convert(const Tensor& x) {
    const Tensor& operand = x.node().operands[0];
    if (x.dtype() == operand.dtype()) return operand;
    if (operand.node().op != OpCode::convert) return {};
    const Tensor& origin = operand.node().operands[0];
    const bool could_saturate = is_integer(origin.dtype()) && is_floating(operand.dtype()) &&
                                is_integer(x.dtype()) && !holds_all(x.dtype(), origin.dtype());
    if (could_saturate || !holds_all(operand.dtype(), origin.dtype())) return {};
    return convert(origin, x.dtype());
}

Tensor simpler_broadcast(const Tensor& x) {
    const Tensor& operand = x.node().operands[0];
    if (x.dims() == operand.dims()) return operand;
    if (operand.node().op != OpCode::broadcast_in_dim) return {};
    const Dims& inner = attributes_of<BroadcastAttributes>(operand).dimensions;
    const Dims& outer = attributes_of<BroadcastAttributes>(x).dimensions;
    return broadcast_in_dim(operand.node().operands[0], x.dims(), picked(outer, inner));
}

Tensor simpler_reverse(const Tensor& x) {
    const Tensor& operand = x.node().operands[0];
    const Dims& dimensions = attributes_of<ReverseAttributes>(x).dimensions;
    if (is_all(picked(x.dims(), dimensions), 1)) return operand;
    const bool undoes = operand.node().op == OpCode::reverse &&
                        attributes_of<ReverseAttributes>(operand).dimensions == dimensions;
    return undoes ? operand.node().operands[0] : Tensor();
}

Tensor simpler_negate(const Tensor& x) {
    const Tensor& operand = x.node().operands[0];
    return operand.node().op == OpCode::negate ? operand.node().operands[0] : Tensor();
}

Tensor simpler_slice(const Tensor& x) {
    return operand_if(x.dims() == x.node().operands[0].dims(), x);
}

Tensor simpler_pad(const Tensor& x) {
    const auto& [low, high, interior] = attributes_of<PadAttributes>(x);
    return operand_if(is_all(low, 0) && is_all(high, 0) && is_all(interior, 0), x);
}

Tensor simpler_concatenate(const Tensor& x) {
    return operand_if(x.node().operands.size() == 1, x);
}

Tensor simpler_reduce(const Tensor& x) {
    return operand_if(attributes_of<ReduceAttributes>(x).dimensions.empty(), x);
}

Tensor without_stop_gradient(const Tensor& x) {
    return x.node().operands[0];
}

/// The other operand, when one side is `neutral` everywhere.
Tensor without_neutral(const Tensor& x, double neutral, bool either_side) {
    const auto& operands = x.node().operands;
    if (uniform_value(operands[1]) == neutral) return operands[0];
    if (either_side && uniform_value(operands[0]) == neutral) return operands[1];
    return {};
}

Tensor simpler_add(const Tensor& x) {
    return without_neutral(x, 0, true);
}

Tensor simpler_subtract(const Tensor& x) {
    return without_neutral(x, 0, false);
}

Tensor simpler_multiply(const Tensor& x) {
    return without_neutral(x, 1, true);
}

Tensor simpler_divide(const Tensor& x) {
    return without_neutral(x, 1, false);
}

Tensor simpler_select(const Tensor& x) {
    const auto& operands = x.node().operands;
    if (operands[1] == operands[2]) return operands[1];
    const std::optional<double> condition = uniform_value(operands[0]);
    if (!condition) return {};
    return operands[*condition != 0 ? 1 : 2];
}

struct Rule {
    OpCode op;
    Tensor (*simpler)(const Tensor& x);    ///< an empty handle where it has nothing to say
};

constexpr std::array rules{
    Rule{OpCode::broadcast_in_dim, simpler_broadcast},
    Rule{OpCode::reshape, simpler_reshape},
    Rule{OpCode::transpose, simpler_transpose},
    Rule{OpCode::slice, simpler_slice},
    Rule{OpCode::pad, simpler_pad},
    Rule{OpCode::concatenate, simpler_concatenate},
    Rule{OpCode::reverse, simpler_reverse},
    Rule{OpCode::convert, simpler_convert},
    Rule{OpCode::negate, simpler_negate},
    Rule{OpCode::add, simpler_add},
    Rule{OpCode::subtract, simpler_subtract},
    Rule{OpCode::multiply, simpler_multiply},
    Rule{OpCode::divide, simpler_divide},
    Rule{OpCode::select, simpler_select},
    Rule{OpCode::reduce, simpler_reduce},
    Rule{OpCode::stop_gradient, without_stop_gradient},
};

/// Until no rule applies: each one leads to fewer nodes below, so this ends.
Tensor simplified(const Tensor& original) {
    Tensor x = original;
    for (;;) {
        const auto rule = std::ranges::find(rules, x.node().op, &Rule::op);
        if (rule == rules.end()) return x;
        const Tensor simpler = rule->simpler(x);
        // A choice that is always the replicated one stays: its users count on a value per core.
        if (simpler.empty() || simpler.node().placement != x.node().placement) return x;
        x = simpler;
    }
}

}    // namespace

Graph simplify_algebra(const Graph& graph, const PassOptions&) {
    return rewrite_nodes(graph, simplified);
}

}    // namespace slipway
