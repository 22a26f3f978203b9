#include "executor/import/operator_table.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "executor/import/operators/rows.h"

namespace slipway::importer {

namespace {

constexpr std::array families{activation_rows,  arithmetic_rows, attention_rows, comparison_rows,
                              convolution_rows, creation_rows,   index_rows,     normalization_rows,
                              number_rows,      pool_rows,       product_rows,   random_rows,
                              recurrent_rows,   reduction_rows,  resize_rows,    shape_rows,
                              view_rows};

std::vector<OperatorRow> all_rows() {
    std::vector<OperatorRow> rows;
    for (const auto family : families)
        rows.insert(rows.end(), family().begin(), family().end());
    std::ranges::sort(rows, {}, &OperatorRow::name);
    return rows;
}

const OperatorRow* find_row(std::string_view name) {
    const auto rows = operator_table();
    const auto found = std::ranges::lower_bound(rows, name, {}, &OperatorRow::name);
    return found != rows.end() && found->name == name ? &*found : nullptr;
}

/// "aten.add_.Tensor" -> "aten.add", and where the overload begins.
struct Parts {
    std::string base, overload;
    bool writes;
};

Parts parts_of(std::string_view op) {
    const std::size_t space = op.find('.');
    const std::size_t overload = space == std::string_view::npos ? space : op.find('.', space + 1);
    Parts parts{std::string(op.substr(0, overload)),
                overload == std::string_view::npos ? "" : std::string(op.substr(overload)), false};
    // "__and__" ends so, too, and writes nothing.
    if (parts.base.ends_with('_') && !parts.base.ends_with("__")) {
        parts.base.pop_back();
        parts.writes = true;
    }
    return parts;
}

}    // namespace

std::span<const OperatorRow> operator_table() {
    static const std::vector<OperatorRow> rows = all_rows();
    return rows;
}

const OperatorRow* find_operator(std::string_view op) {
    const Parts parts = parts_of(op);
    if (const OperatorRow* row = find_row(parts.base + parts.overload)) return row;
    return find_row(parts.base);
}

bool writes_operand(std::string_view op) {
    return parts_of(op).writes;
}

}    // namespace slipway::importer
