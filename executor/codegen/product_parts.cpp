#include "executor/codegen/product_parts.h"

#include <algorithm>

namespace slipway {

namespace {

/// The elements of all dimensions together that are neither batched nor contracted.
std::int64_t free_elements(const Tensor& x, const Dims& batching, const Dims& contracting) {
    std::int64_t elements = 1;
    for (std::int64_t i = 0; i < x.shape().rank(); ++i)
        if (std::ranges::count(batching, i) == 0 && std::ranges::count(contracting, i) == 0)
            elements *= x.dims()[std::size_t(i)];
    return elements;
}

ProductPart whole_product(const Tensor& product) {
    const auto& a = std::get<DotAttributes>(product.node().attributes);
    const Tensor& lhs = product.node().operands[0];
    const Tensor& rhs = product.node().operands[1];
    std::int64_t terms = 1;
    for (const std::int64_t i : a.lhs_contracting)
        terms *= lhs.dims()[std::size_t(i)];
    return {.rows = {0, free_elements(lhs, a.lhs_batching, a.lhs_contracting)},
            .columns = {0, free_elements(rhs, a.rhs_batching, a.rhs_contracting)},
            .terms = {0, terms}};
}

/// The terms that meet a block of the dimension that is kept: of the matrix' rows those up to the
/// diagonal, of its columns those from there on.
ProductPart::Range terms_of(const RowBlock& block, bool keeps_rows, std::int64_t terms) {
    if (keeps_rows) return {0, block.last};
    return {block.first, terms};
}

bool has_matrices(const Tensor& product) {
    const auto& a = std::get<DotAttributes>(product.node().attributes);
    return product.dims().size() == a.lhs_batching.size() + 2 &&
           product.node().operands[0].dims().size() ==
               a.lhs_batching.size() + a.lhs_contracting.size() + 1;
}

}    // namespace

std::vector<ProductPart> product_parts(const Tensor& product,
                                       const TriangularAnalysis& triangular) {
    const ProductPart whole = whole_product(product);
    std::vector<ProductPart> parts;
    if (const auto operand = operand_with_zeros(product.node(), triangular)) {
        const auto& a = std::get<DotAttributes>(product.node().attributes);
        const Dims& dims = product.node().operands[*operand].dims();
        const Dims& contracting = *operand == 0 ? a.lhs_contracting : a.rhs_contracting;
        const bool keeps_rows = contracting[0] == std::int64_t(dims.size()) - 1;
        for (const RowBlock& block : row_blocks(dims.back())) {
            ProductPart& part = parts.emplace_back(whole);
            (*operand == 0 ? part.rows : part.columns) = {block.first, block.last};
            part.terms = terms_of(block, keeps_rows, whole.terms.last);
        }
        return parts;
    }
    const bool is_cut = is_product_cut(product.node()) && has_matrices(product);
    if (is_cut && triangular.unread.contains(product.get())) {
        for (const RowBlock& block : row_blocks(product.dims().back())) {
            ProductPart& part = parts.emplace_back(whole);
            part.rows = {block.first, block.last};
            part.columns = {0, block.last};
        }
        return parts;
    }
    return {whole};
}

}    // namespace slipway
