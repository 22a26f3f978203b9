#include <cmath>
#include <numbers>

#include "executor/graph/composites/parts.h"
#include "executor/graph/composites/rows.h"

namespace slipway {

Tensor gelu(const Tensor& x, bool tanh_approximation) {
    return make_composite("gelu", {x}, {tanh_approximation ? 1.0 : 0.0});
}

namespace {

constexpr double cubic = 0.044715;
const double root_two_over_pi = std::sqrt(2 / std::numbers::pi);

bool is_approximate(const Node& node) {
    return numbers_of(node)[0] != 0;
}

std::vector<Shape> infer(const NodeRequest& request) {
    const Shape& x = request.operands[0].shape();
    require(is_floating(x.dtype), request, 1, "the operand must be floating");
    return {x};
}

/// The share of x that gets through: the normal distribution up to x.
Tensor share(const Tensor& x, bool approximate) {
    const auto number = [&](double value) { return number_like(x, value); };
    if (!approximate) return number(0.5) * (number(1) + erf(x * number(std::numbers::sqrt2 / 2)));
    const Tensor bent = number(root_two_over_pi) * (x + number(cubic) * (x * x * x));
    return number(0.5) * (number(1) + tanh(bent));
}

std::vector<Tensor> decompose(const Node& node) {
    const Tensor x = widened(node.operands[0]);
    return {as(x * share(x, is_approximate(node)), node.shape.dtype)};
}

std::vector<Tensor> gradient(const Tensor& y, const Tensor& dy) {
    const Tensor x = widened(y.node().operands[0]);
    const bool approximate = is_approximate(y.node());
    const auto number = [&](double value) { return number_like(x, value); };
    const Tensor through = share(x, approximate);
    Tensor density;
    if (approximate) {
        // d tanh(b)/2 = (1 - tanh(b)^2)/2 db, and with s = (1 + tanh(b))/2 that is 2 s (1 - s) db.
        const Tensor slope = number(root_two_over_pi) * (number(1) + number(3 * cubic) * (x * x));
        density = number(2) * through * (number(1) - through) * slope;
    } else {
        const double top = 1 / std::sqrt(2 * std::numbers::pi);
        density = number(top) * exponential(number(-0.5) * (x * x));
    }
    return {as(widened(dy) * (through + x * density), y.dtype())};
}

}    // namespace

const CompositeRow composites::gelu{"gelu", 1, 1, 1, infer, decompose, gradient};

}    // namespace slipway
