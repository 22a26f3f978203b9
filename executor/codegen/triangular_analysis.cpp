// Two facts about square matrices, found in two passes over the graph. Operands before users:
// what is zero above the diagonal (a select by a mask that compares a row's number with a
// column's, and what keeps zeros). Users before operands: what nobody reads there (operands of
// such a select, of a product that leaves the zeros out, and of element-wise operations that are
// unread themselves). Both look at the form of the graph, never at numbers, so they hold for all
// inputs. A mask that is an input, or made another way, is not found: the whole matrix is
// computed, which is correct. Matrices are cut into blocks of rows, not at the diagonal: a
// block's rows end together, so kernels stay rectangular.
#include "executor/codegen/triangular_analysis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "executor/codegen/fusion.h"

namespace slipway {

namespace {

// Measured with 256 tokens (gpt_small, f32): two to four blocks take 0.83, 0.84 and 0.80 of the
// time of whole products.
constexpr std::int64_t block_rows_min = 64;
constexpr std::int64_t blocks_max = 4;
// Whole vectors and whole tiles of the library's kernels.
constexpr std::int64_t block_rows_multiple = 16;

template <class Wanted>
const Wanted& attributes_of(const Tensor& x) {
    return std::get<Wanted>(x.node().attributes);
}

/// The rows of [..., n, n]; 0 of another shape.
std::int64_t square_rows(const Dims& dims) {
    const std::size_t rank = dims.size();
    return rank >= 2 && dims[rank - 2] == dims[rank - 1] ? dims[rank - 1] : 0;
}

/// The one number that all elements have, when x is a constant or a broadcast of one.
std::optional<double> uniform_number(const Tensor& x) {
    const Node* node = x.get();
    while (node->op == OpCode::broadcast_in_dim)
        node = node->operands[0].get();
    if (node->op != OpCode::constant) return {};
    return std::get<ConstantAttributes>(node->attributes).value;
}

/// Whether x counts along this dimension, without wrapping around.
bool counts_along(const Tensor& x, std::size_t dimension) {
    const bool is_wide = x.dtype() == DType::i32 || x.dtype() == DType::i64;
    return x.node().op == OpCode::iota && is_wide &&
           attributes_of<IotaAttributes>(x).dimension == std::int64_t(dimension);
}

bool compares_places(const Tensor& x) {
    const auto& operands = x.node().operands;
    const std::size_t columns = x.dims().size() - 1, rows = columns - 1;
    switch (attributes_of<CompareAttributes>(x).direction) {
        case Comparison::ge:
        case Comparison::gt:
            return counts_along(operands[0], rows) && counts_along(operands[1], columns);
        case Comparison::le:
        case Comparison::lt:
            return counts_along(operands[0], columns) && counts_along(operands[1], rows);
        default:
            return false;
    }
}

/// Whether the last two dimensions of a broadcast are those of its operand.
bool keeps_matrices(const Tensor& x) {
    const Dims& dimensions = attributes_of<BroadcastAttributes>(x).dimensions;
    const Dims& from = x.node().operands[0].dims();
    const std::size_t rank = x.dims().size();
    return from.size() >= 2 && dimensions[from.size() - 1] == std::int64_t(rank - 1) &&
           dimensions[from.size() - 2] == std::int64_t(rank - 2) &&
           square_rows(from) == square_rows(x.dims());
}

/// Whether a truth is false wherever the column is beyond the row.
bool is_false_above(const Tensor& x) {
    if (square_rows(x.dims()) == 0) return false;
    const auto& operands = x.node().operands;
    switch (x.node().op) {
        case OpCode::broadcast_in_dim:
            return keeps_matrices(x) && is_false_above(operands[0]);
        case OpCode::compare:
            return compares_places(x);
        case OpCode::logical_and:
            return is_false_above(operands[0]) || is_false_above(operands[1]);
        default:
            return false;
    }
}

bool hides_above(const Node& node) {
    return node.op == OpCode::select && is_false_above(node.operands[0]);
}

bool is_zero_above(const Tensor& x, const TriangularAnalysis& triangular) {
    const Node& node = x.node();
    const auto is_zero = [&](std::size_t i) {
        return triangular.zero.contains(node.operands[i].get());
    };
    const auto is_finite = [&](std::size_t i) {
        const std::optional<double> number = uniform_number(node.operands[i]);
        return number && std::isfinite(*number);
    };
    switch (node.op) {
        case OpCode::select:
            return hides_above(node) && uniform_number(node.operands[2]) == 0;
        case OpCode::convert:
            return is_zero(0);
        case OpCode::multiply:
            return (is_zero(0) && is_finite(1)) || (is_zero(1) && is_finite(0));
        default:
            return false;
    }
}

bool is_in_blocks(const Tensor& x) {
    const std::int64_t rows = square_rows(x.dims());
    return is_floating(x.dtype()) && rows > 0 && row_blocks(rows).size() > 1;
}

/// Which of a matrix' two dimensions a product contracts, when its batch is all the others.
std::optional<std::size_t> contracted_dimension(const Dims& dims, const Dims& batching,
                                                const Dims& contracting) {
    const auto rank = std::int64_t(dims.size());
    if (contracting.size() != 1 || std::int64_t(batching.size()) != rank - 2) return {};
    if (std::ranges::any_of(batching, [&](std::int64_t i) { return i >= rank - 2; })) return {};
    return std::size_t(contracting[0]);
}

/// Finds what is unread from the users up.
class UnreadFinder {
public:
    UnreadFinder(std::span<const Tensor> order, const Graph& graph, TriangularAnalysis& triangular)
        : order_(order), triangular_(triangular) {
        for (const Tensor& output : graph.outputs)
            read_.insert(output.get());
    }

    void run() {
        for (std::size_t i = order_.size(); i-- > 0;) {
            const Tensor& x = order_[i];
            if (!read_.contains(x.get()) && is_in_blocks(x)) triangular_.unread.insert(x.get());
            const Node& user = x.node();
            for (std::size_t k = 0; k < user.operands.size(); ++k)
                if (!ignores_beyond(user, k)) read_.insert(user.operands[k].get());
        }
    }

private:
    /// Whether the user's result, as far as somebody reads it, is the same whatever lies beyond the
    /// causal blocks of an operand. Integers are left out: not all their ops take any bits.
    bool ignores_beyond(const Node& user, std::size_t operand) const {
        if (user.op == OpCode::select && operand == 1 && hides_above(user)) return true;
        if (user.op == OpCode::dot_general) return operand_with_zeros(user, triangular_) == operand;
        return is_elementwise(user.op) && triangular_.unread.contains(&user);
    }

    std::span<const Tensor> order_;    // outlives the finder, as the analysis does
    TriangularAnalysis& triangular_;
    std::unordered_set<const Node*> read_;    ///< beyond the causal blocks
};

}    // namespace

std::vector<RowBlock> row_blocks(std::int64_t rows) {
    const std::int64_t count = std::clamp(rows / block_rows_min, std::int64_t{1}, blocks_max);
    const std::int64_t even = (rows + count - 1) / count;
    const std::int64_t size =
        (even + block_rows_multiple - 1) / block_rows_multiple * block_rows_multiple;
    std::vector<RowBlock> blocks;
    for (std::int64_t first = 0; first < rows; first += size)
        blocks.push_back({first, std::min(first + size, rows)});
    return blocks;
}

TriangularAnalysis analyze_triangular(const Graph& graph) {
    TriangularAnalysis triangular;
    const std::vector<Tensor> order = topological_order(graph);
    for (const Tensor& x : order)
        if (is_in_blocks(x) && is_zero_above(x, triangular)) triangular.zero.insert(x.get());
    UnreadFinder(order, graph, triangular).run();
    return triangular;
}

bool is_product_cut(const Node& product) {
    return product.operands[0].dtype() == DType::f32;
}

std::optional<std::size_t> operand_with_zeros(const Node& product,
                                              const TriangularAnalysis& triangular) {
    if (!is_product_cut(product)) return {};
    const auto& a = std::get<DotAttributes>(product.attributes);
    const std::array batching{a.lhs_batching, a.rhs_batching};
    const std::array contracting{a.lhs_contracting, a.rhs_contracting};
    for (std::size_t i = 0; i < 2; ++i) {
        const Tensor& operand = product.operands[i];
        if (triangular.zero.contains(operand.get()) &&
            contracted_dimension(operand.dims(), batching[i], contracting[i]))
            return i;
    }
    return {};
}

bool is_neutral_above(const Tensor& x, Reduction reduction) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (!is_floating(x.dtype()) || !hides_above(x.node())) return false;
    const std::optional<double> hidden = uniform_number(x.node().operands[2]);
    switch (reduction) {
        case Reduction::add:
            return hidden == 0;
        case Reduction::maximum:
            return hidden == -infinity;
        case Reduction::minimum:
            return hidden == infinity;
    }
    return false;
}

}    // namespace slipway
