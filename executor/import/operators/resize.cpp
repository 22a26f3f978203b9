// Interpolation is separable: each side is a product with a matrix whose columns hold the weights
// of the input elements that an output element is made of. The matrix is computed from the places
// alone. Repeating each element a whole number of times, the commonest case, needs no product.
#include <array>
#include <cmath>

#include "executor/import/operators/parts.h"
#include "executor/import/operators/rows.h"

namespace slipway::importer {

namespace {

enum class Kernel { nearest, linear, cubic };

/// How much an input element counts at a distance (in elements) from an output element's place.
///   a  the parameter of the cubic kernel: -0.75, and -0.5 where an image is smoothed as PIL does
Tensor weight_at(const Tensor& distance, Kernel kernel, double a) {
    const auto number = [&](double value) {
        return broadcast(number_like(distance, value), distance.dims());
    };
    const Tensor d = abs(distance);
    if (kernel == Kernel::linear) return maximum(number(1) - d, number(0));
    const Tensor near = ((number(a + 2) * d - number(a + 3)) * d) * d + number(1);
    const Tensor far = ((number(a) * d - number(5 * a)) * d + number(8 * a)) * d - number(4 * a);
    return select(compare(d, number(1), Comparison::le), near,
                  select(compare(d, number(2), Comparison::lt), far, number(0)));
}

struct Side {
    std::int64_t in, out;
    bool aligns_corners;
    bool smooths;        ///< a smaller image is the mean of what lies under each of its pixels
    double scale = 0;    ///< out / in where the call says so
};

/// [in, out]: the share of each input element in each output element. Beyond an end the end counts.
Tensor shares(const Side& side, Kernel kernel) {
    const double step =
        side.aligns_corners
            ? (side.out > 1 ? double(side.in - 1) / double(side.out - 1) : 0)
            : (side.scale > 0 ? 1 / side.scale : double(side.in) / double(side.out));
    const auto number = [](double value, const Dims& dims) {
        return broadcast(constant(value), dims);
    };
    const Dims dims{side.in, side.out};
    const Tensor out = convert(iota({DType::i32, dims}, 1), DType::f32);
    const Tensor in = convert(iota({DType::i32, dims}, 0), DType::f32);
    if (kernel == Kernel::nearest) {
        const Tensor place =
            minimum(floor(out * number(step, dims)), number(double(side.in - 1), dims));
        return convert(compare(in, place, Comparison::eq), DType::f32);
    }
    Tensor place = side.aligns_corners
                       ? out * number(step, dims)
                       : (out + number(0.5, dims)) * number(step, dims) - number(0.5, dims);
    if (side.smooths) {    // the kernel is as wide as an output element, and cut off at the ends
        const double width = std::max(1.0, step);
        const Tensor weights = weight_at((in - place) * number(1 / width, dims), kernel, -0.5);
        const Tensor sums = reduce(weights, {0}, Reduction::add);
        return weights / broadcast_in_dim(sums, dims, {1});
    }
    constexpr double a = -0.75;
    const double last = double(side.in - 1);
    if (kernel == Kernel::linear) {
        place = clamp(constant(0), place, constant(last));
        return weight_at(in - place, kernel, a);
    }
    // Elements beyond the ends are the end: their weights come to it.
    Tensor sum = number(0, dims);
    const Tensor first = floor(place);
    for (int tap = -1; tap <= 2; ++tap) {
        const Tensor at = first + number(tap, dims);
        const Tensor inside = clamp(constant(0), at, constant(last));
        const Tensor weight = weight_at(place - at, kernel, a);
        sum = sum + select(compare(in, inside, Comparison::eq), weight, number(0, dims));
    }
    return sum;
}

Tensor resized(const Call& call, const Tensor& x, std::int64_t dimension, const Side& side,
               Kernel kernel) {
    if (side.in == side.out && side.scale == 0) return x;
    if (kernel == Kernel::nearest && side.out % side.in == 0)
        return repeated_elements(call, x, dimension, side.out / side.in);
    const std::int64_t last = x.shape().rank() - 1;
    return exchanged(matmul(exchanged(x, dimension, last), shares(side, kernel)), dimension, last);
}

/// [n, c, h, w], to output_size or by scale_factors.
template <Kernel kernel, bool smooths = false>
Value lower_resize(const Call& call) {
    Tensor x = as_floating(call.tensor(call.has("input") ? "input" : "self"));
    constexpr std::size_t count = 2;
    if (x.dims().size() != count + 2) call.refuse("needs [n, c, h, w]");
    for (std::size_t i = 0; i < count; ++i) {
        Side side{.in = x.dims().at(2 + i),
                  .out = 0,
                  .aligns_corners = call.flag("align_corners", false),
                  .smooths = smooths};
        if (call.has("output_size")) {
            side.out = call.integers("output_size", count, 1)[i];
        } else {
            const auto* factors =
                std::get_if<std::vector<Value>>(&call.argument("scale_factors").value);
            const double* factor = factors == nullptr || factors->size() != count
                                       ? nullptr
                                       : std::get_if<double>(&(*factors)[i].value);
            if (factor == nullptr) call.refuse("needs output_size or scale_factors");
            side.out = std::int64_t(std::floor(double(side.in) * *factor));
            if (double(side.out) != double(side.in) * *factor) side.scale = *factor;
        }
        if (side.in < 1 || side.out < 1) call.refuse("would leave nothing of the image");
        x = resized(call, x, std::int64_t(2 + i), side, kernel);
    }
    return {x};
}

constexpr auto resize_table = std::to_array<OperatorRow>({
    {"aten._upsample_bicubic2d_aa", lower_resize<Kernel::cubic, true>},
    {"aten._upsample_bilinear2d_aa", lower_resize<Kernel::linear, true>},
    {"aten.upsample_bicubic2d", lower_resize<Kernel::cubic>},
    {"aten.upsample_bilinear2d", lower_resize<Kernel::linear>},
    {"aten.upsample_nearest2d", lower_resize<Kernel::nearest>},
});

}    // namespace

std::span<const OperatorRow> resize_rows() {
    return resize_table;
}

}    // namespace slipway::importer
