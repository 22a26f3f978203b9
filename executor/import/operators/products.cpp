#include <fmt/format.h>
#include <array>

#include <algorithm>

#include "executor/import/operators/parts.h"
#include "executor/import/operators/rows.h"

namespace slipway::importer {

namespace {

Value lower_linear(const Call& call) {
    return {linear(as_floating(call.tensor("input")), call.tensor("weight"),
                   call.tensor_or_empty("bias"))};
}

/// [batch…, m, k] times [batch…, k, n], both with the same batch.
Tensor batched(const Tensor& x, const Tensor& y) {
    const std::int64_t rank = x.shape().rank();
    DotAttributes attributes;
    for (std::int64_t i = 0; i + 2 < rank; ++i) {
        attributes.lhs_batching.push_back(i);
        attributes.rhs_batching.push_back(i);
    }
    attributes.lhs_contracting = {rank - 1};
    attributes.rhs_contracting = {rank - 2};
    return dot_general(x, y, attributes);
}

/// As torch.matmul: vectors are rows or columns, batches are broadcast.
Tensor product(const Call& call, Tensor x, Tensor y) {
    x = as_floating(x);
    y = as_floating(y);
    const bool is_row = x.shape().rank() == 1, is_column = y.shape().rank() == 1;
    if (x.shape().rank() == 0 || y.shape().rank() == 0) call.refuse("needs vectors or matrices");
    if (is_row) x = with_dimension(x, 0);
    if (is_column) y = with_dimension(y, 1);
    Tensor result;
    if (y.shape().rank() == 2) {
        result = matmul(x, y);
    } else {
        const auto with_batch = [&](const Tensor& matrix, const Dims& batch) {
            Dims dims = batch;
            dims.insert(dims.end(), matrix.dims().end() - 2, matrix.dims().end());
            return expanded(call, matrix, dims);
        };
        const auto batch_of = [](const Tensor& matrix) {
            return Dims(matrix.dims().begin(), matrix.dims().end() - 2);
        };
        const Dims batch = common_dims(call, batch_of(x), batch_of(y));
        result = batched(with_batch(x, batch), with_batch(y, batch));
    }
    if (is_column) result = without_dimension(result, result.shape().rank() - 1);
    if (is_row) result = without_dimension(result, result.shape().rank() - (is_column ? 1 : 2));
    return result;
}

Value lower_matmul(const Call& call) {
    return {
        product(call, call.tensor("self"),
                call.tensor(call.has("other") ? "other" : (call.has("mat2") ? "mat2" : "vec")))};
}

/// beta * self + alpha * the product.
Value sum_with(const Call& call, const Tensor& product) {
    const double alpha = call.number("alpha", 1), beta = call.number("beta", 1);
    const Tensor scaled = alpha == 1 ? product : product * number_like(product, alpha);
    const Tensor self = as_floating(call.tensor("self"));
    const Operands both =
        operands(call, Value{beta == 1 ? self : self * number_like(self, beta)}, Value{scaled});
    return {both.x + both.y};
}

Value lower_addmm(const Call& call) {
    return sum_with(call, product(call, call.tensor("mat1"), call.tensor("mat2")));
}

Value lower_baddbmm(const Call& call) {
    return sum_with(call, product(call, call.tensor("batch1"), call.tensor("batch2")));
}

Value lower_outer(const Call& call) {
    const Tensor x = call.tensor("self"), y = call.tensor(call.has("vec2") ? "vec2" : "other");
    const Dims dims{x.dims().at(0), y.dims().at(0)};
    return {broadcast_in_dim(x, dims, {0}) * broadcast_in_dim(y, dims, {1})};
}

// ---- einsum ----

/// "bij,bjk->bik": one product of two operands, each letter at most once in each.
struct Subscripts {
    std::string x, y, result;
};

Subscripts subscripts_of(const Call& call, std::string equation) {
    std::erase(equation, ' ');
    const std::size_t comma = equation.find(','), arrow = equation.find("->");
    const auto repeats = [](std::string letters) {
        std::ranges::sort(letters);
        return std::ranges::adjacent_find(letters) != letters.end();
    };
    if (comma == std::string::npos || arrow == std::string::npos || arrow < comma ||
        equation.find(',', comma + 1) != std::string::npos ||
        equation.find('.') != std::string::npos)
        call.refuse(
            fmt::format("is lowered for two operands and a result in letters, got {}", equation));
    Subscripts letters{equation.substr(0, comma), equation.substr(comma + 1, arrow - comma - 1),
                       equation.substr(arrow + 2)};
    if (repeats(letters.x) || repeats(letters.y) || repeats(letters.result))
        call.refuse(fmt::format("is not lowered with a letter twice in one operand: {}", equation));
    return letters;
}

/// Dimensions that neither the other operand nor the result has are summed at once.
Tensor needed(const Tensor& x, std::string& letters, const std::string& other,
              const std::string& result) {
    Dims summed;
    std::string kept;
    for (std::size_t i = 0; i < letters.size(); ++i) {
        const bool is_needed = other.find(letters[i]) != std::string::npos ||
                               result.find(letters[i]) != std::string::npos;
        if (is_needed)
            kept += letters[i];
        else
            summed.push_back(std::int64_t(i));
    }
    letters = kept;
    return summed.empty() ? x : reduce(x, summed, Reduction::add);
}

Value lower_einsum(const Call& call) {
    Subscripts letters = subscripts_of(call, call.text("equation", ""));
    const std::vector<Tensor> given = call.tensors("tensors");
    if (given.size() != 2 || given[0].dims().size() != letters.x.size() ||
        given[1].dims().size() != letters.y.size())
        call.refuse("has operands that do not fit its equation");
    const Tensor x = needed(as_floating(given[0]), letters.x, letters.y, letters.result);
    const Tensor y = needed(as_floating(given[1]), letters.y, letters.x, letters.result);
    DotAttributes attributes;
    std::string batch, rest_x, rest_y;
    for (std::size_t i = 0; i < letters.x.size(); ++i) {
        const std::size_t other = letters.y.find(letters.x[i]);
        if (other == std::string::npos) {
            rest_x += letters.x[i];
            continue;
        }
        const bool stays = letters.result.find(letters.x[i]) != std::string::npos;
        if (stays) batch += letters.x[i];
        (stays ? attributes.lhs_batching : attributes.lhs_contracting).push_back(std::int64_t(i));
        (stays ? attributes.rhs_batching : attributes.rhs_contracting)
            .push_back(std::int64_t(other));
    }
    for (const char letter : letters.y)
        if (letters.x.find(letter) == std::string::npos) rest_y += letter;
    const std::string order = batch + rest_x + rest_y;
    Dims permutation;
    for (const char letter : letters.result) {
        const std::size_t place = order.find(letter);
        if (place == std::string::npos)
            call.refuse(fmt::format("has a letter in its result that no operand has: {}", letter));
        permutation.push_back(std::int64_t(place));
    }
    return {transpose(dot_general(x, y, attributes), permutation)};
}

constexpr auto products_table = std::to_array<OperatorRow>({
    {"aten.addmm", lower_addmm},
    {"aten.baddbmm", lower_baddbmm},
    {"aten.bmm", lower_matmul},
    {"aten.einsum", lower_einsum},
    {"aten.linear", lower_linear},
    {"aten.matmul", lower_matmul},
    {"aten.mm", lower_matmul},
    {"aten.mv", lower_matmul},
    {"aten.outer", lower_outer},
});

}    // namespace

std::span<const OperatorRow> product_rows() {
    return products_table;
}

}    // namespace slipway::importer
