#include <algorithm>

#include "executor/graph/ops.h"
#include "executor/graph/ops/constraint.h"
#include "executor/graph/ops/dims.h"
#include "executor/graph/ops/loops.h"
#include "executor/graph/ops/rules.h"

/// Rows by number: gather and scatter_add, in the one form an embedding needs.
namespace slipway {

Tensor gather(const Tensor& table, const Tensor& indices) {
    return make_node({.op = OpCode::gather,
                      .attributes = NoAttributes{},
                      .operands = {table, indices},
                      .result = {}});
}

Tensor scatter_add(const Tensor& operand, const Tensor& indices, const Tensor& updates) {
    return make_node({.op = OpCode::scatter_add,
                      .attributes = NoAttributes{},
                      .operands = {operand, indices, updates},
                      .result = {}});
}

namespace {

bool is_index(DType dtype) {
    return dtype == DType::i32 || dtype == DType::i64;
}

/// The indices' dims, then those of one row.
Dims rows_dims(const Shape& table, const Shape& indices) {
    return concatenated(indices.dims, {table.dims.begin() + 1, table.dims.end()});
}

std::int64_t row_size(const Shape& table) {
    std::int64_t size = 1;
    for (std::size_t i = 1; i < table.dims.size(); ++i)
        size *= table.dims[i];
    return size;
}

/// Calls body(n, index) for each index, by its place n.
template <class Body>
void for_each_row(const Array& indices, Body&& body) {
    with_integer_type(indices.shape().dtype, [&]<class Index>() {
        const auto values = indices.as<Index>();
        for (std::size_t n = 0; n < values.size(); ++n)
            body(n, std::int64_t(values[n]));
        return 0;
    });
}

Tensor index_like(const Tensor& indices, std::int64_t value) {
    return constant(double(value), indices.dtype());
}

/// Indices that name a row of the table, as true or false for each element of `dims`.
Tensor are_in_table(const Tensor& indices, std::int64_t rows, const Dims& dims) {
    const Tensor inside = logical_and(compare(indices, index_like(indices, 0), Comparison::ge),
                                      compare(indices, index_like(indices, rows), Comparison::lt));
    return broadcast_in_dim(inside, dims, identity_permutation(indices.shape().rank()));
}

}    // namespace

namespace rules {

Shape infer_gather(const NodeRequest& request) {
    const Shape& table = request.operands[0].shape();
    const Shape& indices = request.operands[1].shape();
    require(table.rank() >= 1, request, 1, "the table must have a dimension of rows");
    require(is_index(indices.dtype), request, 2, "indices must be i32 or i64");
    require(table.dims[0] > 0 || indices.element_count() == 0, request, 3,
            "a table without rows has nothing to take");
    return {table.dtype, rows_dims(table, indices)};
}

Shape infer_scatter_add(const NodeRequest& request) {
    const Shape& operand = request.operands[0].shape();
    const Shape& indices = request.operands[1].shape();
    const Shape& updates = request.operands[2].shape();
    require(operand.rank() >= 1, request, 1, "the operand must have a dimension of rows");
    require(is_index(indices.dtype), request, 2, "indices must be i32 or i64");
    require(updates.dtype == operand.dtype && is_number(operand.dtype), request, 3,
            "operand and updates must be numbers of one dtype");
    require(updates.dims == rows_dims(operand, indices), request, 4,
            "there must be one row of updates per index: {}",
            to_string(rows_dims(operand, indices)));
    return operand;
}

/// Indices beyond the table were clamped on the way forward, so they are on the way back.
std::vector<Tensor> gradient_gather(const Tensor& y, const Tensor& dy) {
    const Tensor& table = y.node().operands[0];
    const Tensor& indices = y.node().operands[1];
    const Tensor zeros = broadcast(constant(0, table.dtype()), table.dims());
    const Tensor clamped =
        clamp(index_like(indices, 0), indices,
              index_like(indices, std::max<std::int64_t>(0, table.dims()[0] - 1)));
    return {scatter_add(zeros, clamped, dy), Tensor()};
}

/// An update that went nowhere gets nothing.
std::vector<Tensor> gradient_scatter_add(const Tensor& y, const Tensor& dy) {
    const Tensor& indices = y.node().operands[1];
    const Dims& dims = y.node().operands[2].dims();
    const Tensor inside = are_in_table(indices, y.dims()[0], dims);
    return {dy, Tensor(), select(inside, gather(dy, indices), constant(0, dy.dtype()))};
}

Array evaluate_gather(const Node& node, std::span<const Array> operands) {
    const Array& table = operands[0];
    const auto size = std::size_t(row_size(table.shape()));
    return with_any_type(node.shape.dtype, [&]<class T>() {
        Array result(node.shape);
        const auto from = table.as<T>();
        auto to = result.as<T>();
        for_each_row(operands[1], [&](std::size_t n, std::int64_t index) {
            const auto row = std::clamp<std::int64_t>(index, 0, table.shape().dims[0] - 1);
            std::copy_n(from.begin() + std::ptrdiff_t(std::size_t(row) * size), size,
                        to.begin() + std::ptrdiff_t(n * size));
        });
        return result;
    });
}

Array evaluate_scatter_add(const Node& node, std::span<const Array> operands) {
    const auto size = std::size_t(row_size(node.shape));
    return with_number_type(node.shape.dtype, [&]<class T>() {
        const auto start = operands[0].as<T>();
        const auto updates = operands[2].as<T>();
        std::vector<Sum<T>> sums(start.begin(), start.end());
        for_each_row(operands[1], [&](std::size_t n, std::int64_t index) {
            if (index < 0 || index >= node.shape.dims[0]) return;
            for (std::size_t i = 0; i < size; ++i)
                sums[std::size_t(index) * size + i] += Sum<T>(updates[n * size + i]);
        });
        Array result(node.shape);
        std::ranges::transform(sums, result.as<T>().begin(), [](Sum<T> sum) { return T(sum); });
        return result;
    });
}

}    // namespace rules

}    // namespace slipway
