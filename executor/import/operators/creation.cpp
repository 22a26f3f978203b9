#include <array>
#include <cmath>

#include "executor/import/operators/parts.h"
#include "executor/import/operators/rows.h"

namespace slipway::importer {

namespace {

Tensor filled(const Call& call, const Dims& dims, double value, DType dtype) {
    return broadcast(constant(value, dtype), checked_dims(call, dims));
}

template <int value>
Value lower_new(const Call& call) {
    return {filled(call, call.integers("size"), value, type_argument(call, "dtype", DType::f32))};
}

template <int value>
Value lower_like(const Call& call) {
    const Tensor x = call.tensor("self");
    return {filled(call, x.dims(), value, type_argument(call, "dtype", x.dtype()))};
}

template <int value>
Value lower_new_of(const Call& call) {
    const DType dtype = call.tensor("self").dtype();
    return {filled(call, call.integers("size"), value, type_argument(call, "dtype", dtype))};
}

DType type_of_number(const Call& call, std::string_view name) {
    const Value& value = call.argument(name);
    if (std::holds_alternative<bool>(value.value)) return DType::pred;
    return std::holds_alternative<std::int64_t>(value.value) ? DType::i32 : DType::f32;
}

Value lower_full(const Call& call) {
    const DType dtype = type_argument(call, "dtype", type_of_number(call, "fill_value"));
    return {filled(call, call.integers("size"), call.number("fill_value"), dtype)};
}

Value lower_full_like(const Call& call) {
    const Tensor x = call.tensor("self");
    return {
        filled(call, x.dims(), call.number("fill_value"), type_argument(call, "dtype", x.dtype()))};
}

Value lower_new_full(const Call& call) {
    const DType dtype = call.tensor("self").dtype();
    return {filled(call, call.integers("size"), call.number("fill_value"),
                   type_argument(call, "dtype", dtype))};
}

Value lower_fill(const Call& call) {
    const Tensor x = call.tensor("self");
    const Value& value = call.argument("value");
    if (const Tensor* tensor = value.tensor())
        return {expanded(call, as_type(*tensor, x.dtype()), x.dims())};
    return {filled(call, x.dims(), call.number("value"), x.dtype())};
}

Value lower_copy(const Call& call) {
    const Tensor x = call.tensor("self");
    return {expanded(call, as_type(call.tensor("src"), x.dtype()), x.dims())};
}

/// start, start + step, … below end.
Value lower_arange(const Call& call) {
    const double start = call.number("start", 0), step = call.number("step", 1),
                 end = call.number("end");
    const bool whole = start == std::floor(start) && step == std::floor(step) &&
                       !std::holds_alternative<double>(call.argument("end").value);
    const DType dtype = type_argument(call, "dtype", whole ? DType::i32 : DType::f32);
    const double steps = std::ceil((end - start) / step);
    constexpr double steps_max = 2147483647;    // places are i32
    if (!(steps <= steps_max)) call.refuse("has more numbers than a tensor holds");
    const auto count = std::int64_t(std::max(0.0, steps));
    const Tensor numbers = iota({DType::i32, {count}}, 0);
    if (is_floating(dtype)) {
        const Tensor x = convert(numbers, dtype);
        return {x * number_like(x, step) + number_like(x, start)};
    }
    const Tensor scaled = step == 1 ? numbers : numbers * number_like(numbers, step);
    return {start == 0 ? scaled : scaled + number_like(numbers, start)};
}

Value lower_linspace(const Call& call) {
    const std::int64_t steps = call.positive("steps", 1);
    const double start = call.number("start"), end = call.number("end");
    const Tensor numbers = convert(iota({DType::i32, {steps}}, 0), DType::f32);
    const double step = steps > 1 ? (end - start) / double(steps - 1) : 0;
    return {numbers * number_like(numbers, step) + number_like(numbers, start)};
}

Value lower_eye(const Call& call) {
    const std::int64_t rows = call.integer("n");
    const Shape places{DType::i32, checked_dims(call, {rows, call.integer("m", rows)})};
    return {convert(compare(iota(places, 0), iota(places, 1), Comparison::eq),
                    type_argument(call, "dtype", DType::f32))};
}

/// Where row - column keeps to one side of the diagonal.
template <Comparison direction>
Value triangle(const Call& call) {
    const Tensor x = call.tensor("self");
    const std::int64_t rank = x.shape().rank();
    const Shape places{DType::i32, x.dims()};
    const Tensor reach =
        iota(places, rank - 2) +
        broadcast(constant(double(call.integer("diagonal", 0)), DType::i32), x.dims());
    const Tensor kept = compare(iota(places, rank - 1), reach, direction);
    return {select(kept, x, broadcast(number_like(x, 0), x.dims()))};
}

Value lower_one_hot(const Call& call) {
    const std::int64_t classes = call.integer("num_classes", -1);
    if (classes < 1)
        call.refuse("needs num_classes: a number that depends on the data is not traced");
    const Tensor x = call.tensor("self");
    const Tensor flat = reshape(x, {x.shape().element_count()});
    Dims dims = x.dims();
    dims.push_back(classes);
    return {reshape(one_hot(flat, classes, DType::i32), dims)};
}

constexpr auto creation_table = std::to_array<OperatorRow>({
    {"aten.arange", lower_arange},
    {"aten.copy", lower_copy},
    {"aten.empty", lower_new<0>},
    {"aten.empty_like", lower_like<0>},
    {"aten.eye", lower_eye},
    {"aten.fill", lower_fill},
    {"aten.full", lower_full},
    {"aten.full_like", lower_full_like},
    {"aten.linspace", lower_linspace},
    {"aten.new_empty", lower_new_of<0>},
    {"aten.new_full", lower_new_full},
    {"aten.new_ones", lower_new_of<1>},
    {"aten.new_zeros", lower_new_of<0>},
    {"aten.one_hot", lower_one_hot},
    {"aten.ones", lower_new<1>},
    {"aten.ones_like", lower_like<1>},
    {"aten.tril", triangle<Comparison::le>},
    {"aten.triu", triangle<Comparison::ge>},
    {"aten.zero", lower_like<0>},
    {"aten.zeros", lower_new<0>},
    {"aten.zeros_like", lower_like<0>},
});

}    // namespace

std::span<const OperatorRow> creation_rows() {
    return creation_table;
}

}    // namespace slipway::importer
