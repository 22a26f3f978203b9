#include "executor/graph/ops/constraint.h"

#include "api/base/error.h"

namespace slipway {

void refuse(std::string_view op, int constraint, std::span<const Tensor> operands,
            const std::string& message) {
    std::string shapes;
    for (const Tensor& operand : operands) {
        if (!shapes.empty()) shapes += ", ";
        shapes += to_string(operand.shape());
    }
    if (shapes.empty()) shapes = "none";
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: {} ({}_c{}); operands: {}", op, message, op, constraint, shapes));
}

void refuse_gradient(const Tensor& y, std::string_view reason) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: there is no gradient: {}; result: {}", name_of(y.node()), reason,
                            to_string(y.shape())));
}

}    // namespace slipway
