#include <array>
#include <limits>

#include "executor/import/operators/parts.h"
#include "executor/import/operators/rows.h"

namespace slipway::importer {

namespace {

template <Comparison direction>
Value compared(const Call& call) {
    const Operands both = operands(call, "self", "other");
    return {compare(both.x, both.y, direction)};
}

template <Tensor (*function)(const Tensor&, const Tensor&)>
Value logical(const Call& call) {
    const Operands both = operands(call, "self", "other");
    return {function(as_type(both.x, DType::pred), as_type(both.y, DType::pred))};
}

/// & and | of flags; of whole numbers they are bit operations, which no network has shown.
template <Tensor (*function)(const Tensor&, const Tensor&)>
Value of_flags(const Call& call) {
    const Operands both = operands(call, "self", "other");
    if (both.x.dtype() != DType::pred) call.refuse("is lowered for flags, not for numbers");
    return {function(both.x, both.y)};
}

Value lower_not(const Call& call) {
    return {logical_not(as_type(call.tensor("self"), DType::pred))};
}

Value lower_where(const Call& call) {
    const Operands both = operands(call, "self", "other");
    const Tensor condition = as_type(call.tensor("condition"), DType::pred);
    const Dims dims = common_dims(call, condition.dims(), both.x.dims());
    return {select(expanded(call, condition, dims), expanded(call, both.x, dims),
                   expanded(call, both.y, dims))};
}

Value lower_masked_fill(const Call& call) {
    const Tensor mask = as_type(call.tensor("mask"), DType::pred);
    const Operands both = operands(call, "self", "value");
    const Dims dims = common_dims(call, mask.dims(), both.x.dims());
    return {select(expanded(call, mask, dims), expanded(call, both.y, dims),
                   expanded(call, both.x, dims))};
}

Value lower_is_nan(const Call& call) {
    const Tensor x = call.tensor("self");
    return {compare(x, x, Comparison::ne)};
}

Value lower_is_infinite(const Call& call) {
    const Tensor x = as_floating(call.tensor("self"));
    return {
        compare(abs(x), number_like(x, std::numeric_limits<double>::infinity()), Comparison::eq)};
}

constexpr auto comparisons_table = std::to_array<OperatorRow>({
    {"aten.__and__", of_flags<logical_and>},
    {"aten.__or__", of_flags<logical_or>},
    {"aten.__xor__", of_flags<logical_xor>},
    {"aten.bitwise_and", of_flags<logical_and>},
    {"aten.bitwise_not", lower_not},
    {"aten.bitwise_or", of_flags<logical_or>},
    {"aten.bitwise_xor", of_flags<logical_xor>},
    {"aten.eq", compared<Comparison::eq>},
    {"aten.ge", compared<Comparison::ge>},
    {"aten.greater", compared<Comparison::gt>},
    {"aten.gt", compared<Comparison::gt>},
    {"aten.isinf", lower_is_infinite},
    {"aten.isnan", lower_is_nan},
    {"aten.le", compared<Comparison::le>},
    {"aten.less", compared<Comparison::lt>},
    {"aten.logical_and", logical<logical_and>},
    {"aten.logical_not", lower_not},
    {"aten.logical_or", logical<logical_or>},
    {"aten.logical_xor", logical<logical_xor>},
    {"aten.lt", compared<Comparison::lt>},
    {"aten.masked_fill", lower_masked_fill},
    {"aten.ne", compared<Comparison::ne>},
    {"aten.where", lower_where},
});

}    // namespace

std::span<const OperatorRow> comparison_rows() {
    return comparisons_table;
}

}    // namespace slipway::importer
