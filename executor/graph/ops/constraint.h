#pragma once

#include <fmt/core.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "executor/graph/op_table.h"

namespace slipway {

/// Throws Error{invalid_argument}: "transpose: MESSAGE (transpose_c1); operands: f32[2,3]".
[[noreturn]] void refuse(std::string_view op, int constraint, std::span<const Tensor> operands,
                         const std::string& message);

/// Throws Error{invalid_argument}: "all_reduce: there is no gradient: REASON".
[[noreturn]] void refuse_gradient(const Tensor& y, std::string_view reason);

/// Constraint number `constraint` of docs/contributing/ops.md holds, or the request is refused with
/// the message, which is made only then.
template <class... Values>
void require(bool held, const NodeRequest& request, int constraint,
             fmt::format_string<Values...> message, Values&&... values) {
    if (held) [[likely]]
        return;
    refuse(name_of(request), constraint, request.operands,
           fmt::format(message, std::forward<Values>(values)...));
}

}    // namespace slipway
