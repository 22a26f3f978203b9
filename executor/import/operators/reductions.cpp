#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "executor/import/operators/parts.h"
#include "executor/import/operators/rows.h"

namespace slipway::importer {

namespace {

struct Over {
    Tensor x;
    Dims dimensions;
    bool keeps;
};

Over over(const Call& call) {
    const Tensor x = call.tensor("self");
    return {x, call.dimensions("dim", x.shape().rank()), call.flag("keepdim", false)};
}

Value lower_sum(const Call& call) {
    Over given = over(call);
    if (given.x.dtype() == DType::pred) given.x = convert(given.x, DType::i32);
    return {reduced(given.x, given.dimensions, Reduction::add, given.keeps)};
}

Value lower_mean(const Call& call) {
    const Over given = over(call);
    return {mean_of(as_floating(given.x), given.dimensions, given.keeps)};
}

template <Reduction reduction>
Value lower_extreme(const Call& call) {
    const Over given = over(call);
    return {reduced(given.x, given.dimensions, reduction, given.keeps)};
}

/// Values and places along one dimension, or the one value of all.
template <Reduction reduction>
Value lower_extreme_and_place(const Call& call) {
    const Tensor x = call.tensor("self");
    if (!call.has("dim")) {
        Dims all = call.dimensions("dim", x.shape().rank());
        return {reduced(x, all, reduction, false)};
    }
    const std::int64_t dimension = call.dimension("dim", x.shape().rank());
    const bool keeps = call.flag("keepdim", false);
    const Tensor signed_x = reduction == Reduction::maximum ? x : negate(x);
    Tensor place = argmax(exchanged(signed_x, dimension, x.shape().rank() - 1));
    // What was last stands where the reduced dimension was.
    if (dimension != x.shape().rank() - 1) {
        place = with_dimension(place, place.shape().rank());
        place = exchanged(place, dimension, x.shape().rank() - 1);
        place = without_dimension(place, dimension);
    }
    if (keeps) place = with_dimension(place, dimension);
    return list_of(reduced(x, {dimension}, reduction, keeps), place);
}

template <Reduction reduction>
Value lower_place(const Call& call) {
    const Tensor x = call.tensor("self");
    const Tensor signed_x = reduction == Reduction::maximum ? x : negate(x);
    if (!call.has("dim")) return {argmax(reshape(signed_x, {x.shape().element_count()}))};
    const std::int64_t last = x.shape().rank() - 1;
    const std::int64_t dimension = call.dimension("dim", x.shape().rank());
    Tensor place = with_dimension(argmax(exchanged(signed_x, dimension, last)), last);
    place = exchanged(place, dimension, last);
    return {call.flag("keepdim", false) ? place : without_dimension(place, dimension)};
}

struct Moments {
    Tensor mean, variance;    ///< with extents of 1
};

Moments moments(const Call& call, const Over& given) {
    const Tensor x = as_floating(given.x);
    std::int64_t count = 1;
    for (const std::int64_t dimension : given.dimensions)
        count *= x.dims().at(std::size_t(dimension));
    const double correction =
        call.has("correction") ? call.number("correction") : (call.flag("unbiased", true) ? 1 : 0);
    const Tensor mean = mean_of(x, given.dimensions, true);
    const Tensor centered = x - expanded(call, mean, x.dims());
    const Tensor sum = reduced(centered * centered, given.dimensions, Reduction::add, true);
    return {mean, sum * number_like(sum, 1 / std::max(0.0, double(count) - correction))};
}

/// As asked for: with the reduced dimensions or without.
Tensor kept(const Over& given, const Tensor& x) {
    if (given.keeps) return x;
    Dims dims;
    for (std::int64_t i = 0; i < x.shape().rank(); ++i)
        if (std::ranges::find(given.dimensions, i) == given.dimensions.end())
            dims.push_back(x.dims().at(std::size_t(i)));
    return reshape(x, dims);
}

Value lower_var(const Call& call) {
    const Over given = over(call);
    return {kept(given, moments(call, given).variance)};
}

Value lower_std(const Call& call) {
    const Over given = over(call);
    return {kept(given, sqrt(moments(call, given).variance))};
}

Value lower_var_mean(const Call& call) {
    const Over given = over(call);
    const Moments both = moments(call, given);
    return list_of(kept(given, both.variance), kept(given, both.mean));
}

/// torch's gradient of a norm of 0 is 0: the root is taken of a number that is not.
Tensor safe_root(const Tensor& square) {
    const Tensor zero = broadcast(number_like(square, 0), square.dims());
    const Tensor is_zero = compare(square, zero, Comparison::le);
    const Tensor one = broadcast(number_like(square, 1), square.dims());
    return select(is_zero, zero, sqrt(select(is_zero, one, square)));
}

Tensor norm_of(const Call& call, const Tensor& x, const Dims& dimensions, double order,
               bool keeps) {
    if (order == std::numeric_limits<double>::infinity())
        return reduced(abs(x), dimensions, Reduction::maximum, keeps);
    if (order == 1) return reduced(abs(x), dimensions, Reduction::add, keeps);
    if (order != 2) call.refuse("is lowered for the orders 1, 2 and infinity");
    return safe_root(reduced(x * x, dimensions, Reduction::add, keeps));
}

Value lower_norm(const Call& call) {
    const Over given = over(call);
    const double order = call.has("ord") ? call.number("ord") : call.number("p", 2);
    return {norm_of(call, as_floating(given.x), given.dimensions, order, given.keeps)};
}

Value lower_logsumexp(const Call& call) {
    const Over given = over(call);
    const Tensor x = as_floating(given.x);
    const Tensor largest = stop_gradient(reduced(x, given.dimensions, Reduction::maximum, true));
    const Tensor powers = exponential(x - expanded(call, largest, x.dims()));
    return {kept(given, log(reduced(powers, given.dimensions, Reduction::add, true)) + largest)};
}

/// The sum of all elements up to each place, as a product with a triangle of ones.
Value lower_cumsum(const Call& call) {
    const Tensor x = call.tensor("self");
    if (x.shape().rank() == 0) return {x};
    const std::int64_t last = x.shape().rank() - 1;
    const std::int64_t dimension = call.dimension("dim", x.shape().rank());
    const std::int64_t extent = x.dims().at(std::size_t(dimension));
    const Shape places{DType::i32, {extent, extent}};
    const Tensor ones =
        convert(compare(iota(places, 0), iota(places, 1), Comparison::le), DType::f32);
    // Whole numbers are exact in f32 up to 2^24.
    const Tensor sums = matmul(exchanged(as_floating(x), dimension, last), ones);
    const Tensor result = exchanged(sums, dimension, last);
    return {is_floating(x.dtype())
                ? result
                : convert(result, x.dtype() == DType::pred ? DType::i32 : x.dtype())};
}

/// Whether any, or all, are true.
template <Reduction reduction>
Value lower_any(const Call& call) {
    const Over given = over(call);
    const Tensor flags = convert(as_type(given.x, DType::pred), DType::i32);
    const Tensor result = reduced(flags, given.dimensions, reduction, given.keeps);
    return {as_type(result, DType::pred)};
}

constexpr auto reductions_table = std::to_array<OperatorRow>({
    {"aten.all", lower_any<Reduction::minimum>},
    {"aten.amax", lower_extreme<Reduction::maximum>},
    {"aten.amin", lower_extreme<Reduction::minimum>},
    {"aten.any", lower_any<Reduction::maximum>},
    {"aten.argmax", lower_place<Reduction::maximum>},
    {"aten.argmin", lower_place<Reduction::minimum>},
    {"aten.cumsum", lower_cumsum},
    {"aten.linalg_vector_norm", lower_norm},
    {"aten.logsumexp", lower_logsumexp},
    {"aten.max", lower_extreme_and_place<Reduction::maximum>},
    {"aten.mean", lower_mean},
    {"aten.min", lower_extreme_and_place<Reduction::minimum>},
    {"aten.norm", lower_norm},
    {"aten.std", lower_std},
    {"aten.sum", lower_sum},
    {"aten.var", lower_var},
    {"aten.var_mean", lower_var_mean},
});

}    // namespace

std::span<const OperatorRow> reduction_rows() {
    return reductions_table;
}

}    // namespace slipway::importer
