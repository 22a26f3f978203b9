// Sizes, and what the program computes from them: known when a network is traced.
#include <fmt/format.h>
#include <array>

#include <cmath>
#include <functional>

#include "executor/import/operators/parts.h"
#include "executor/import/operators/rows.h"

namespace slipway::importer {

namespace {

Value lower_size(const Call& call) {
    const Tensor x = call.tensor("self");
    return {x.dims().at(std::size_t(call.dimension("dim", x.shape().rank())))};
}

Value lower_element_count(const Call& call) {
    return {call.tensor("self").shape().element_count()};
}

bool is_whole(const Value& value) {
    return !std::holds_alternative<double>(value.value);
}

/// The two operands have the names of Python's operator module.
struct Numbers {
    double x, y;
    bool whole;
};

Numbers numbers_of(const Call& call) {
    const char *x = call.has("a") ? "a" : "self", *y = call.has("b") ? "b" : "other";
    return {call.number(x), call.number(y),
            is_whole(call.argument(x)) && is_whole(call.argument(y))};
}

Value result(const Call& call, double value, bool whole) {
    if (!whole) return {value};
    constexpr double whole_max = 9.0e15;    // beyond 2^53 doubles skip numbers
    if (!(std::abs(value) < whole_max)) call.refuse("gives a size that no tensor has");
    return {std::int64_t(value)};
}

template <class Function>
Value computed(const Call& call) {
    const Numbers both = numbers_of(call);
    return result(call, Function()(both.x, both.y), both.whole);
}

Value lower_true_division(const Call& call) {
    const Numbers both = numbers_of(call);
    if (both.y == 0) call.refuse("divides by 0");
    return {both.x / both.y};
}

Value lower_floor_division(const Call& call) {
    const Numbers both = numbers_of(call);
    if (both.y == 0) call.refuse("divides by 0");
    return result(call, std::floor(both.x / both.y), both.whole);
}

Value lower_modulo(const Call& call) {
    const Numbers both = numbers_of(call);
    if (both.y == 0) call.refuse("divides by 0");
    return result(call, both.x - std::floor(both.x / both.y) * both.y, both.whole);
}

struct Smaller {
    double operator()(double x, double y) const { return std::min(x, y); }
};
struct Larger {
    double operator()(double x, double y) const { return std::max(x, y); }
};
struct Power {
    double operator()(double x, double y) const { return std::pow(x, y); }
};

template <class Function>
Value judged(const Call& call) {
    const Numbers both = numbers_of(call);
    return {bool(Function()(both.x, both.y))};
}

double only_number(const Call& call) {
    return call.number(call.has("a") ? "a" : (call.has("x") ? "x" : "self"));
}

Value lower_negative(const Call& call) {
    return result(call, -only_number(call), is_whole(call.argument(call.has("a") ? "a" : "self")));
}
Value lower_whole(const Call& call) {
    return result(call, std::trunc(only_number(call)), true);
}
Value lower_floor(const Call& call) {
    return result(call, std::floor(only_number(call)), true);
}
Value lower_ceiling(const Call& call) {
    return result(call, std::ceil(only_number(call)), true);
}
Value lower_floating(const Call& call) {
    return {only_number(call)};
}
Value lower_root(const Call& call) {
    return {std::sqrt(only_number(call))};
}

/// A tensor of one element that a number is made of depends on the data.
Value lower_scalar_tensor(const Call& call) {
    const Value& value = call.argument(call.has("s") ? "s" : "data");
    const DType dtype = type_argument(call, "dtype", is_whole(value) ? DType::i32 : DType::f32);
    return {constant(call.number(call.has("s") ? "s" : "data"), dtype)};
}

constexpr auto numbers_table = std::to_array<OperatorRow>({
    {"_operator.add", computed<std::plus<>>},
    {"_operator.eq", judged<std::equal_to<>>},
    {"_operator.floordiv", lower_floor_division},
    {"_operator.ge", judged<std::greater_equal<>>},
    {"_operator.gt", judged<std::greater<>>},
    {"_operator.le", judged<std::less_equal<>>},
    {"_operator.lt", judged<std::less<>>},
    {"_operator.mod", lower_modulo},
    {"_operator.mul", computed<std::multiplies<>>},
    {"_operator.ne", judged<std::not_equal_to<>>},
    {"_operator.neg", lower_negative},
    {"_operator.pow", computed<Power>},
    {"_operator.sub", computed<std::minus<>>},
    {"_operator.truediv", lower_true_division},
    {"aten.numel", lower_element_count},
    {"aten.scalar_tensor", lower_scalar_tensor},
    {"aten.sym_numel", lower_element_count},
    {"aten.sym_size", lower_size},
    {"math.ceil", lower_ceiling},
    {"math.floor", lower_floor},
    {"math.sqrt", lower_root},
    {"math.trunc", lower_whole},
    {"torch.sym_float", lower_floating},
    {"torch.sym_int", lower_whole},
    {"torch.sym_max", computed<Larger>},
    {"torch.sym_min", computed<Smaller>},
    {"torch.sym_not", judged<std::equal_to<>>},
    {"torch.sym_sqrt", lower_root},
});

}    // namespace

std::span<const OperatorRow> number_rows() {
    return numbers_table;
}

}    // namespace slipway::importer
