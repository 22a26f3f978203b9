#pragma once

#include <span>
#include <string_view>

#include "executor/import/call.h"

namespace slipway::importer {

/// Traces one operator. Several results are a list.
using Lower = Value (*)(const Call& call);

/// The operand's elements in another arrangement: how a write to the view is a write to the
/// operand.
///   view     the node of the view, its arguments resolved
///   operand  as it was
///   value    what the view shall be
using WriteThrough = Tensor (*)(const Call& view, const Tensor& operand, const Tensor& value);

/// One operator of PyTorch that can be trained. A name without its last part covers all of its
/// overloads. The form that writes to its operand ("aten.add_.Tensor") is the row of "aten.add".
struct OperatorRow {
    std::string_view name;
    Lower lower;
    /// Of a view: null where a write to it cannot be followed.
    WriteThrough write = nullptr;
    bool is_view = false;
};

/// All rows, sorted by name.
std::span<const OperatorRow> operator_table();
/// The row of "aten.conv2d.default", of its overload before that of all; null when there is none.
const OperatorRow* find_operator(std::string_view op);
/// Whether the operator writes to its first operand: "aten.relu_.default".
bool writes_operand(std::string_view op);

}    // namespace slipway::importer
