#include <algorithm>

#include "executor/graph/ops.h"
#include "executor/graph/ops/constraint.h"
#include "executor/graph/ops/dims.h"
#include "executor/graph/ops/loops.h"
#include "executor/graph/ops/rules.h"

/// Ops that cut and join: slice, pad, concatenate.
namespace slipway {

Tensor slice(const Tensor& x, Dims start, Dims limit, Dims strides) {
    return make_node(
        {.op = OpCode::slice,
         .attributes = SliceAttributes{std::move(start), std::move(limit), std::move(strides)},
         .operands = {x},
         .result = {}});
}

Tensor pad(const Tensor& x, double value, PadAttributes padding) {
    return make_node({.op = OpCode::pad,
                      .attributes = std::move(padding),
                      .operands = {x, constant(value, x.dtype())},
                      .result = {}});
}

Tensor concatenate(std::vector<Tensor> parts, std::int64_t dimension) {
    return make_node({.op = OpCode::concatenate,
                      .attributes = ConcatenateAttributes{dimension},
                      .operands = std::move(parts),
                      .result = {}});
}

namespace rules {

Shape infer_slice(const NodeRequest& request) {
    const auto& [start, limit, strides] = std::get<SliceAttributes>(request.attributes);
    const Shape& x = request.operands[0].shape();
    const std::size_t rank = x.dims.size();
    require(start.size() == rank && limit.size() == rank && strides.size() == rank, request, 1,
            "start {}, limit {} and strides {} must each have {} entries", to_string(start),
            to_string(limit), to_string(strides), rank);
    Dims dims(rank);
    for (std::size_t i = 0; i < rank; ++i) {
        require(0 <= start[i] && start[i] <= limit[i] && limit[i] <= x.dims[i], request, 2,
                "dimension {}: 0 <= start <= limit <= {} does not hold for start {}, limit {}", i,
                x.dims[i], start[i], limit[i]);
        require(strides[i] >= 1, request, 3, "strides must be at least 1, got {}",
                to_string(strides));
        dims[i] = (limit[i] - start[i] + strides[i] - 1) / strides[i];
    }
    return {x.dtype, std::move(dims)};
}

Shape infer_pad(const NodeRequest& request) {
    const auto& [low, high, interior] = std::get<PadAttributes>(request.attributes);
    const Shape& x = request.operands[0].shape();
    const Node& value = request.operands[1].node();
    const std::size_t rank = x.dims.size();
    require(low.size() == rank && high.size() == rank && interior.size() == rank, request, 1,
            "low {}, high {} and interior {} must each have {} entries", to_string(low),
            to_string(high), to_string(interior), rank);
    require(value.op == OpCode::constant && value.shape.dtype == x.dtype, request, 2,
            "the value must be a constant of dtype {}", to_string(x.dtype));
    Dims dims(rank);
    for (std::size_t i = 0; i < rank; ++i) {
        require(interior[i] >= 0, request, 3, "interior padding must not be negative, got {}",
                to_string(interior));
        dims[i] =
            low[i] + x.dims[i] + std::max<std::int64_t>(0, x.dims[i] - 1) * interior[i] + high[i];
        require(dims[i] >= 0, request, 4, "dimension {} would get the extent {}", i, dims[i]);
    }
    return {x.dtype, std::move(dims)};
}

Shape infer_concatenate(const NodeRequest& request) {
    const std::int64_t dimension = std::get<ConcatenateAttributes>(request.attributes).dimension;
    require(!request.operands.empty(), request, 1, "there must be at least one operand");
    Shape result = request.operands[0].shape();
    require(dimension >= 0 && dimension < result.rank(), request, 2,
            "dimension must be in 0..{}, got {}", result.rank() - 1, dimension);
    std::int64_t& joined = result.dims[std::size_t(dimension)];
    joined = 0;
    for (const Tensor& part : request.operands) {
        Shape expected = part.shape();
        require(part.shape().rank() == result.rank(), request, 3,
                "operands must agree in dtype and in every extent but that of dimension {}",
                dimension);
        const std::int64_t extent = expected.dims[std::size_t(dimension)];
        expected.dims[std::size_t(dimension)] = joined;
        require(expected == result, request, 3,
                "operands must agree in dtype and in every extent but that of dimension {}",
                dimension);
        joined += extent;
    }
    return result;
}

std::vector<Tensor> gradient_slice(const Tensor& y, const Tensor& dy) {
    const auto& [start, limit, strides] = std::get<SliceAttributes>(y.node().attributes);
    const Dims& extents = y.node().operands[0].dims();
    PadAttributes padding{start, Dims(extents.size()), Dims(extents.size())};
    for (std::size_t i = 0; i < extents.size(); ++i) {
        const std::int64_t steps = std::max<std::int64_t>(0, dy.dims()[i] - 1);
        const std::int64_t covered = dy.dims()[i] + steps * (strides[i] - 1);
        padding.high[i] = extents[i] - start[i] - covered;
        padding.interior[i] = strides[i] - 1;
    }
    return {pad(dy, 0, std::move(padding))};
}

/// The elements of x are cut out of dy; the constant that fills the gaps gets nothing.
std::vector<Tensor> gradient_pad(const Tensor& y, const Tensor& dy) {
    const auto& [low, high, interior] = std::get<PadAttributes>(y.node().attributes);
    const std::size_t rank = low.size();
    PadAttributes undone{Dims(rank), Dims(rank), Dims(rank)};
    Dims strides(rank);
    for (std::size_t i = 0; i < rank; ++i) {
        undone.low[i] = -low[i];
        undone.high[i] = -high[i];
        strides[i] = interior[i] + 1;
    }
    const Tensor spread = pad(dy, 0, std::move(undone));
    return {slice(spread, Dims(rank), spread.dims(), std::move(strides)), Tensor()};
}

std::vector<Tensor> gradient_concatenate(const Tensor& y, const Tensor& dy) {
    const auto dimension =
        std::size_t(std::get<ConcatenateAttributes>(y.node().attributes).dimension);
    std::vector<Tensor> parts;
    Dims start(y.dims().size());
    for (const Tensor& part : y.node().operands) {
        Dims limit = y.dims();
        limit[dimension] = start[dimension] + part.dims()[dimension];
        parts.push_back(slice(dy, start, limit, Dims(start.size(), 1)));
        start[dimension] = limit[dimension];
    }
    return parts;
}

Array evaluate_slice(const Node& node, std::span<const Array> operands) {
    const auto& [start, limit, strides] = std::get<SliceAttributes>(node.attributes);
    const Dims operand_strides = strides_of(operands[0].shape().dims);
    return gathered(node.shape, operands[0], [&](const Dims& index) {
        Dims source = index;
        for (std::size_t i = 0; i < index.size(); ++i)
            source[i] = start[i] + index[i] * strides[i];
        return offset_of(source, operand_strides);
    });
}

Array evaluate_pad(const Node& node, std::span<const Array> operands) {
    const auto& [low, high, interior] = std::get<PadAttributes>(node.attributes);
    const Dims strides = strides_of(node.shape.dims);
    return with_any_type(node.shape.dtype, [&]<class T>() {
        Array result(node.shape);
        auto to = result.as<T>();
        std::ranges::fill(to, operands[1].as<T>()[0]);
        const auto from = operands[0].as<T>();
        std::size_t n = 0;
        for_each_index(operands[0].shape().dims, [&](const Dims& index) {
            const T value = from[n++];
            Dims target = index;
            for (std::size_t i = 0; i < index.size(); ++i) {
                target[i] = low[i] + index[i] * (interior[i] + 1);
                if (target[i] < 0 || target[i] >= node.shape.dims[i]) return;    // cut off
            }
            to[offset_of(target, strides)] = value;
        });
        return result;
    });
}

Array evaluate_concatenate(const Node& node, std::span<const Array> operands) {
    const auto dimension = std::size_t(std::get<ConcatenateAttributes>(node.attributes).dimension);
    const Dims strides = strides_of(node.shape.dims);
    return with_any_type(node.shape.dtype, [&]<class T>() {
        Array result(node.shape);
        auto to = result.as<T>();
        std::int64_t begin = 0;
        for (const Array& part : operands) {
            const auto from = part.as<T>();
            std::size_t n = 0;
            for_each_index(part.shape().dims, [&](const Dims& index) {
                Dims target = index;
                target[dimension] += begin;
                to[offset_of(target, strides)] = from[n++];
            });
            begin += part.shape().dims[dimension];
        }
        return result;
    });
}

}    // namespace rules

}    // namespace slipway
