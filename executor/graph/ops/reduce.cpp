#include <algorithm>

#include "executor/graph/ops.h"
#include "executor/graph/ops/constraint.h"
#include "executor/graph/ops/dims.h"
#include "executor/graph/ops/loops.h"
#include "executor/graph/ops/reducer.h"
#include "executor/graph/ops/rules.h"

/// reduce: sums, maxima and minima over whole dimensions.
namespace slipway {

Tensor reduce(const Tensor& x, Dims dimensions, Reduction reduction) {
    std::ranges::sort(dimensions);    // one spelling, so equal reductions hash equal
    return make_node({.op = OpCode::reduce,
                      .attributes = ReduceAttributes{std::move(dimensions), reduction},
                      .operands = {x},
                      .result = {}});
}

namespace rules {

Shape infer_reduce(const NodeRequest& request) {
    const Dims& dimensions = std::get<ReduceAttributes>(request.attributes).dimensions;
    const Shape& x = request.operands[0].shape();
    require(are_distinct_dimensions(dimensions, x.rank()), request, 1,
            "dimensions {} must be in 0..{}, none twice", to_string(dimensions), x.rank() - 1);
    require(is_number(x.dtype), request, 2, "the operand must be a number");
    return {x.dtype, picked(x.dims, other_dimensions(x.rank(), dimensions))};
}

/// A sum gives each element dy; a maximum or minimum shares dy equally among the elements that
/// reach it.
std::vector<Tensor> gradient_reduce(const Tensor& y, const Tensor& dy) {
    const auto& [dimensions, reduction] = std::get<ReduceAttributes>(y.node().attributes);
    const Tensor& x = y.node().operands[0];
    const Dims kept = other_dimensions(x.shape().rank(), dimensions);
    if (reduction == Reduction::add) return {broadcast_in_dim(dy, x.dims(), kept)};
    const Tensor reached = broadcast_in_dim(y, x.dims(), kept);
    const Tensor reaches = convert(compare(x, reached, Comparison::eq), x.dtype());
    const Tensor share = dy / reduce(reaches, dimensions, Reduction::add);
    return {reaches * broadcast_in_dim(share, x.dims(), kept)};
}

Array evaluate_reduce(const Node& node, std::span<const Array> operands) {
    const auto& [dimensions, reduction] = std::get<ReduceAttributes>(node.attributes);
    const Shape& x = operands[0].shape();
    // The stride of each operand dimension in the result: 0 for those that are reduced.
    const Dims kept = other_dimensions(x.rank(), dimensions);
    const Dims result_strides = strides_of(node.shape.dims);
    Dims steps(x.dims.size(), 0);
    for (std::size_t i = 0; i < kept.size(); ++i)
        steps[std::size_t(kept[i])] = result_strides[i];
    return with_number_type(x.dtype, [&]<class T>() {
        Array result(node.shape);
        auto to = result.as<T>();
        std::vector<Reducer<T>> reducers(to.size(), Reducer<T>(reduction));
        const auto from = operands[0].as<T>();
        std::size_t n = 0;
        for_each_index(
            x.dims, [&](const Dims& index) { reducers[offset_of(index, steps)].add(from[n++]); });
        for (std::size_t i = 0; i < to.size(); ++i)
            to[i] = reducers[i].result();
        return result;
    });
}

}    // namespace rules

}    // namespace slipway
