#include "executor/import/operators/parts.h"
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace slipway::importer {

DType array_type(DType stored) {
    if (stored == DType::pred) return DType::pred;
    return is_floating(stored) ? DType::f32 : DType::i32;
}

DType type_argument(const Call& call, std::string_view name, DType otherwise) {
    if (!call.has(name)) return otherwise;
    constexpr std::int64_t whole_first = 1, whole_last = 5, boolean = 12;
    const std::int64_t code = call.integer(name);
    if (code == boolean) return DType::pred;
    if (code >= whole_first && code <= whole_last) return DType::i32;
    constexpr std::array floating{6, 7, 8, 13};
    if (std::ranges::find(floating, code) != floating.end()) return DType::f32;
    call.refuse(
        fmt::format("{} is the type {} of torch's ScalarType, which has no place here; "
                    "compute with real numbers",
                    name, code));
}

Tensor as_type(const Tensor& x, DType dtype) {
    return x.dtype() == dtype ? x : convert(x, dtype);
}

Tensor as_floating(const Tensor& x) {
    return is_floating(x.dtype()) ? x : convert(x, DType::f32);
}

Dims common_dims(const Call& call, const Dims& x, const Dims& y) {
    Dims dims(std::max(x.size(), y.size()), 1);
    for (const Dims* one : {&x, &y}) {
        const std::size_t skipped = dims.size() - one->size();
        for (std::size_t i = 0; i < one->size(); ++i) {
            std::int64_t& extent = dims.at(skipped + i);
            if ((*one)[i] == 1) continue;
            if (extent != 1 && extent != (*one)[i])
                call.refuse(fmt::format("shapes [{}] and [{}] do not fit each other",
                                        fmt::join(x, ", "), fmt::join(y, ", ")));
            extent = (*one)[i];
        }
    }
    return dims;
}

const Dims& checked_dims(const Call& call, const Dims& dims) {
    constexpr std::int64_t elements_max = std::int64_t{1} << 40;
    std::int64_t elements = 1;
    for (const std::int64_t extent : dims) {
        if (extent < 0 || (extent > 0 && elements > elements_max / extent))
            call.refuse(fmt::format("a tensor of shape [{}] is larger than any machine holds",
                                    fmt::join(dims, ", ")));
        elements *= extent;
    }
    return dims;
}

Tensor expanded(const Call& call, const Tensor& x, const Dims& dims) {
    checked_dims(call, dims);
    if (x.dims() == dims) return x;
    if (common_dims(call, x.dims(), dims) != dims)
        call.refuse(fmt::format("a tensor of shape [{}] does not fit [{}]",
                                fmt::join(x.dims(), ", "), fmt::join(dims, ", ")));
    Dims places(x.dims().size());
    std::iota(places.begin(), places.end(), std::int64_t(dims.size() - places.size()));
    return broadcast_in_dim(x, dims, places);
}

namespace {

/// pred below whole numbers below floating ones.
int category(DType dtype) {
    if (dtype == DType::pred) return 0;
    return is_floating(dtype) ? 2 : 1;
}

std::optional<double> python_number(const Value& value) {
    if (const auto* number = std::get_if<double>(&value.value)) return *number;
    if (const auto* integer = std::get_if<std::int64_t>(&value.value)) return double(*integer);
    if (const auto* flag = std::get_if<bool>(&value.value)) return *flag ? 1 : 0;
    return std::nullopt;
}

/// The category of a number that Python gives.
int number_category(const Value& value) {
    if (std::holds_alternative<double>(value.value)) return 2;
    return std::holds_alternative<std::int64_t>(value.value) ? 1 : 0;
}

DType type_of_category(int category) {
    constexpr std::array types{DType::pred, DType::i32, DType::f32};
    return types.at(std::size_t(category));
}

Operands with_number(const Tensor& x, const Value& y) {
    const int wanted = std::max(category(x.dtype()), number_category(y));
    const Tensor typed = category(x.dtype()) == wanted ? x : convert(x, type_of_category(wanted));
    return {typed, broadcast(constant(*python_number(y), typed.dtype()), typed.dims())};
}

}    // namespace

Operands operands(const Call& call, const Value& x, const Value& y) {
    const Tensor *one = x.tensor(), *other = y.tensor();
    if (one != nullptr && other != nullptr) {
        const int wanted = std::max(category(one->dtype()), category(other->dtype()));
        const auto typed = [&](const Tensor& tensor) {
            return category(tensor.dtype()) == wanted ? tensor
                                                      : convert(tensor, type_of_category(wanted));
        };
        const Dims dims = common_dims(call, one->dims(), other->dims());
        return {expanded(call, typed(*one), dims), expanded(call, typed(*other), dims)};
    }
    if (one != nullptr && python_number(y)) return with_number(*one, y);
    if (other != nullptr && python_number(x)) {
        const Operands turned = with_number(*other, x);
        return {turned.y, turned.x};
    }
    call.refuse("needs two tensors, or a tensor and a number");
}

Operands operands(const Call& call, std::string_view x, std::string_view y) {
    return operands(call, call.argument(x), call.argument(y));
}

Dims filled_dims(const Call& call, Dims dims, std::int64_t elements) {
    std::int64_t known = 1;
    std::int64_t* open = nullptr;
    for (std::int64_t& extent : dims) {
        if (extent == -1 && open == nullptr)
            open = &extent;
        else if (__builtin_mul_overflow(known, extent, &known))
            call.refuse("has a shape that no machine holds");
    }
    if (open != nullptr && known > 0 && elements % known == 0) *open = elements / known;
    const Shape shape{DType::f32, dims};
    if (std::ranges::any_of(dims, [](std::int64_t extent) { return extent < 0; }) ||
        shape.element_count() != elements)
        call.refuse(
            fmt::format("the shape [{}] does not hold {} elements; if a number of it was "
                        "the size of the example's batch, export with a free batch: "
                        "dynamic_shapes={{0: Dim.DYNAMIC}} for each input",
                        fmt::join(dims, ", "), elements));
    return dims;
}

Tensor part(const Tensor& x, std::int64_t dimension, std::int64_t start, std::int64_t end,
            std::int64_t step) {
    Dims begin(x.dims().size(), 0), limit = x.dims(), strides(x.dims().size(), 1);
    const auto at = std::size_t(dimension);
    begin[at] = start;
    limit[at] = std::max(start, end);
    strides[at] = step;
    return slice(x, begin, limit, strides);
}

Tensor without_dimension(const Tensor& x, std::int64_t dimension) {
    Dims dims = x.dims();
    dims.erase(dims.begin() + dimension);
    return reshape(x, dims);
}

Tensor with_dimension(const Tensor& x, std::int64_t dimension) {
    Dims dims = x.dims();
    dims.insert(dims.begin() + dimension, 1);
    return reshape(x, dims);
}

Tensor repeated_elements(const Call& call, const Tensor& x, std::int64_t dimension,
                         std::int64_t times) {
    const Tensor apart = with_dimension(x, dimension + 1);
    Dims spread = apart.dims();
    spread.at(std::size_t(dimension) + 1) = times;
    const Tensor wide = expanded(call, apart, spread);
    Dims result = x.dims();
    result.at(std::size_t(dimension)) *= times;
    return reshape(wide, result);
}

Tensor exchanged(const Tensor& x, std::int64_t one, std::int64_t other) {
    if (one == other) return x;
    Dims permutation(x.dims().size());
    std::iota(permutation.begin(), permutation.end(), 0);
    std::swap(permutation.at(std::size_t(one)), permutation.at(std::size_t(other)));
    return transpose(x, permutation);
}

Tensor reduced(const Tensor& x, const Dims& dimensions, Reduction reduction, bool keeps) {
    const Tensor result = reduce(x, dimensions, reduction);
    if (!keeps) return result;
    Dims dims = x.dims();
    for (const std::int64_t dimension : dimensions)
        dims.at(std::size_t(dimension)) = 1;
    return reshape(result, dims);
}

Tensor mean_of(const Tensor& x, const Dims& dimensions, bool keeps) {
    std::int64_t count = 1;
    for (const std::int64_t dimension : dimensions)
        count *= x.dims().at(std::size_t(dimension));
    const Tensor sum = reduced(x, dimensions, Reduction::add, keeps);
    return sum * number_like(sum, 1 / double(count));
}

Tensor dropped_at(const Call& call, const Tensor& x, double rate) {
    Trace& trace = call.trace();
    if (trace.pass.dropout.rate.empty() || rate == 0) return x;
    const double share = rate / trace.highest_dropout;
    const Tensor own =
        share == 1 ? trace.pass.dropout.rate : trace.pass.dropout.rate * constant(share);
    const auto draw = [&](const Tensor& of_samples) {
        return dropout(of_samples, own, trace.pass.dropout.key, trace.pass.dropout_count++,
                       trace.pass.dropout.first_sample);
    };
    const Dims& dims = x.dims();
    if (!dims.empty() && dims.at(0) == trace.batch) return draw(x);
    const auto found = std::ranges::find(dims, trace.batch);
    if (found != dims.end()) {
        const std::int64_t place = found - dims.begin();
        return exchanged(draw(exchanged(x, 0, place)), 0, place);
    }
    // Samples merged with what stands behind them: windows, heads.
    const std::int64_t elements = x.shape().element_count();
    if (elements % trace.batch != 0)
        call.refuse("cannot be drawn by sample: the batch is no part of its operand");
    return reshape(draw(reshape(x, {trace.batch, elements / trace.batch})), dims);
}

Tensor normalized(const Tensor& x, const Tensor& scale, const Tensor& bias, double epsilon) {
    const Dims features{x.dims().back()};
    return layer_norm(x, scale.empty() ? broadcast(number_like(x, 1), features) : scale,
                      bias.empty() ? broadcast(number_like(x, 0), features) : bias, epsilon);
}

Value list_of(std::vector<Tensor> tensors) {
    std::vector<Value> values;
    for (Tensor& tensor : tensors)
        values.push_back({std::move(tensor)});
    return {std::move(values)};
}

}    // namespace slipway::importer
