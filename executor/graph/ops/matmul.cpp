#include <algorithm>
#include <utility>

#include "executor/graph/ops.h"
#include "executor/graph/ops/constraint.h"
#include "executor/graph/ops/dims.h"
#include "executor/graph/ops/loops.h"
#include "executor/graph/ops/product.h"
#include "executor/graph/ops/rules.h"

/// dot_general and matmul.
namespace slipway {

Tensor dot_general(const Tensor& lhs, const Tensor& rhs, DotAttributes attributes) {
    if (attributes.result == lhs.dtype()) attributes.result.reset();    // one spelling
    return make_node({.op = OpCode::dot_general,
                      .attributes = std::move(attributes),
                      .operands = {lhs, rhs},
                      .result = {}});
}

Tensor matmul(const Tensor& lhs, const Tensor& rhs) {
    const std::vector<Tensor> operands{lhs, rhs};
    if (lhs.dims().empty() || rhs.dims().size() != 2) {
        refuse("matmul", 1, operands, "operands must be [..., m, k] and [k, n]");
    }
    if (lhs.dims().back() != rhs.dims().front()) {
        refuse("matmul", 2, operands,
               fmt::format("inner sizes differ: {} and {}", lhs.dims().back(), rhs.dims().front()));
    }
    return dot_general(lhs, rhs,
                       {.lhs_batching = {},
                        .rhs_batching = {},
                        .lhs_contracting = {lhs.shape().rank() - 1},
                        .rhs_contracting = {0}});
}

namespace {

/// One operand of a product: what is batched, contracted and left over.
struct Side {
    Tensor tensor;
    Dims batching, contracting, free;
};

std::pair<Side, Side> sides_of(const Node& node) {
    const auto& a = std::get<DotAttributes>(node.attributes);
    const auto free = [](const Tensor& tensor, const Dims& batching, const Dims& contracting) {
        return other_dimensions(tensor.shape().rank(), concatenated(batching, contracting));
    };
    const Tensor& lhs = node.operands[0];
    const Tensor& rhs = node.operands[1];
    return {{lhs, a.lhs_batching, a.lhs_contracting, free(lhs, a.lhs_batching, a.lhs_contracting)},
            {rhs, a.rhs_batching, a.rhs_contracting, free(rhs, a.rhs_batching, a.rhs_contracting)}};
}

/// The gradient of `side`: dy times the other operand, contracted over what the other left free.
/// dy_other are the dimensions of dy that came from `other`.
Tensor gradient_of_side(const Side& side, const Side& other, const Tensor& dy,
                        const Dims& dy_other) {
    const Dims batching = identity_permutation(std::int64_t(side.batching.size()));
    // The contracted dimensions come out in the order in which they lie in `other`.
    Dims contracted;
    for (const std::int64_t i :
         other_dimensions(other.tensor.shape().rank(), concatenated(other.batching, other.free))) {
        const auto at = std::ranges::find(other.contracting, i) - other.contracting.begin();
        contracted.push_back(side.contracting[std::size_t(at)]);
    }
    // Of the two operand orders, take the one whose result needs no transpose, if there is one.
    const Dims dy_first = concatenated(concatenated(side.batching, side.free), contracted);
    const Dims other_first = concatenated(concatenated(side.batching, contracted), side.free);
    if (std::ranges::is_sorted(other_first) && !std::ranges::is_sorted(dy_first)) {
        return dot_general(other.tensor, dy, {other.batching, batching, other.free, dy_other});
    }
    const Tensor product =
        dot_general(dy, other.tensor, {batching, other.batching, dy_other, other.free});
    if (std::ranges::is_sorted(dy_first)) return product;
    return transpose(product, inverse_permutation(dy_first));
}

}    // namespace

namespace rules {

Shape infer_dot_general(const NodeRequest& request) {
    const auto& a = std::get<DotAttributes>(request.attributes);
    const Shape& lhs = request.operands[0].shape();
    const Shape& rhs = request.operands[1].shape();
    require(a.lhs_batching.size() == a.rhs_batching.size(), request, 1,
            "lhs_batching {} and rhs_batching {} must be equally long", to_string(a.lhs_batching),
            to_string(a.rhs_batching));
    require(a.lhs_contracting.size() == a.rhs_contracting.size(), request, 2,
            "lhs_contracting {} and rhs_contracting {} must be equally long",
            to_string(a.lhs_contracting), to_string(a.rhs_contracting));
    const Dims lhs_taken = concatenated(a.lhs_batching, a.lhs_contracting);
    const Dims rhs_taken = concatenated(a.rhs_batching, a.rhs_contracting);
    require(are_distinct_dimensions(lhs_taken, lhs.rank()), request, 3,
            "lhs dimensions {} must be in range, none twice", to_string(lhs_taken));
    require(are_distinct_dimensions(rhs_taken, rhs.rank()), request, 4,
            "rhs dimensions {} must be in range, none twice", to_string(rhs_taken));
    const Dims batch = picked(lhs.dims, a.lhs_batching);
    require(batch == picked(rhs.dims, a.rhs_batching), request, 5,
            "batch extents differ: {} and {}", to_string(batch),
            to_string(picked(rhs.dims, a.rhs_batching)));
    require(picked(lhs.dims, a.lhs_contracting) == picked(rhs.dims, a.rhs_contracting), request, 6,
            "contracted extents differ: {} and {}", to_string(picked(lhs.dims, a.lhs_contracting)),
            to_string(picked(rhs.dims, a.rhs_contracting)));
    require(lhs.dtype == rhs.dtype && is_floating(lhs.dtype), request, 7,
            "operands must have one floating dtype");
    const DType result = a.result.value_or(lhs.dtype);
    require(is_product_type(lhs.dtype, result), request, 8,
            "products of {} have that type, those of bf16 also f32, not {}", to_string(lhs.dtype),
            to_string(result));
    const Dims lhs_free = picked(lhs.dims, other_dimensions(lhs.rank(), lhs_taken));
    const Dims rhs_free = picked(rhs.dims, other_dimensions(rhs.rank(), rhs_taken));
    return {result, concatenated(concatenated(batch, lhs_free), rhs_free)};
}

/// In the type that the operands have.
std::vector<Tensor> gradient_dot_general(const Tensor& y, const Tensor& flow) {
    const auto [lhs, rhs] = sides_of(y.node());
    const Tensor dy = as_type(flow, lhs.tensor.dtype());
    const auto batch_count = std::int64_t(lhs.batching.size());
    const auto lhs_count = std::int64_t(lhs.free.size());
    Dims from_lhs = identity_permutation(lhs_count);
    Dims from_rhs = identity_permutation(std::int64_t(rhs.free.size()));
    for (std::int64_t& i : from_lhs)
        i += batch_count;
    for (std::int64_t& i : from_rhs)
        i += batch_count + lhs_count;
    return {gradient_of_side(lhs, rhs, dy, from_rhs), gradient_of_side(rhs, lhs, dy, from_lhs)};
}

Array evaluate_dot_general(const Node& node, std::span<const Array> operands) {
    const auto [lhs, rhs] = sides_of(node);
    const Dims lhs_strides = strides_of(lhs.tensor.dims());
    const Dims rhs_strides = strides_of(rhs.tensor.dims());
    // One stride per result dimension (batch, lhs free, rhs free) for either operand.
    const Dims lhs_steps = concatenated(picked(lhs_strides, concatenated(lhs.batching, lhs.free)),
                                        Dims(rhs.free.size(), 0));
    const Dims rhs_steps =
        concatenated(concatenated(picked(rhs_strides, rhs.batching), Dims(lhs.free.size(), 0)),
                     picked(rhs_strides, rhs.free));
    std::vector<std::pair<std::size_t, std::size_t>> terms;
    for_each_index(picked(lhs.tensor.dims(), lhs.contracting), [&](const Dims& index) {
        terms.emplace_back(offset_of(index, picked(lhs_strides, lhs.contracting)),
                           offset_of(index, picked(rhs_strides, rhs.contracting)));
    });
    return with_product_types(
        operands[0].shape().dtype, node.shape.dtype, [&]<class T, class To>() {
            Array result(node.shape);
            const auto x = operands[0].as<T>();
            const auto y = operands[1].as<T>();
            auto to = result.as<To>();
            std::size_t n = 0;
            for_each_index(node.shape.dims, [&](const Dims& index) {
                const std::size_t x_begin = offset_of(index, lhs_steps);
                const std::size_t y_begin = offset_of(index, rhs_steps);
                double sum = 0;
                for (const auto& [x_offset, y_offset] : terms)
                    sum += double(x[x_begin + x_offset]) * double(y[y_begin + y_offset]);
                to[n++] = To(sum);
            });
            return result;
        });
}

}    // namespace rules

}    // namespace slipway
