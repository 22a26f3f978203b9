#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "executor/graph/ops.h"
#include "executor/import/network.h"
#include "executor/nn/forward_pass.h"

/// What an operator is lowered from.
namespace slipway::importer {

/// A value while a network is traced: a tensor, or something that is known before it runs. Sizes
/// are numbers here: a network is traced for the batch that it gets.
struct Value {
    std::variant<std::monostate, bool, std::int64_t, double, std::string, Tensor,
                 std::vector<Value>>
        value;

    bool is_none() const { return std::holds_alternative<std::monostate>(value); }
    const Tensor* tensor() const { return std::get_if<Tensor>(&value); }
};

/// What all operators of one trace share.
struct Trace {
    ForwardPass& pass;
    std::int64_t batch;        ///< samples of one core
    double highest_dropout;    ///< the rate that the pass's input has
    bool sync_norms = false;
};

/// A node with its arguments resolved: by name, as the operator's schema has them. An argument that
/// is absent, or none, is the default that the caller gives.
class Call {
public:
    Call(Trace& trace, const NetworkNode& node,
         std::vector<std::pair<std::string, Value>> arguments)
        : trace_(trace), node_(node), arguments_(std::move(arguments)) {}

    Trace& trace() const { return trace_; }
    const NetworkNode& node() const { return node_; }

    /// Whether it is given and not none.
    bool has(std::string_view name) const;
    /// The argument as it is; none when absent.
    const Value& argument(std::string_view name) const;

    // errors of all: invalid_argument that names the node and the argument
    Tensor tensor(std::string_view name) const;
    Tensor tensor_or_empty(std::string_view name) const;
    std::vector<Tensor> tensors(std::string_view name) const;
    std::int64_t integer(std::string_view name) const;
    std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
    /// At least 1: what divides, or counts.
    std::int64_t positive(std::string_view name, std::int64_t otherwise) const;
    double number(std::string_view name) const;
    double number(std::string_view name, double otherwise) const;
    bool flag(std::string_view name, bool otherwise) const;
    std::string text(std::string_view name, std::string_view otherwise) const;
    Dims integers(std::string_view name) const;
    Dims integers(std::string_view name, Dims otherwise) const;
    /// `count` integers: one that is given is meant for all, as torch has it.
    Dims integers(std::string_view name, std::size_t count, std::int64_t otherwise) const;
    /// The same, each at least 1: strides, sizes of windows.
    Dims positives(std::string_view name, std::size_t count, std::int64_t otherwise) const;
    /// A dimension of a tensor of this rank; negative ones count from the end.
    std::int64_t dimension(std::string_view name, std::int64_t rank,
                           std::optional<std::int64_t> otherwise = {}) const;
    /// Dimensions, sorted; none given: all.
    Dims dimensions(std::string_view name, std::int64_t rank) const;

    /// "aten.conv2d.default (conv1): needs …".
    [[noreturn]] void refuse(const std::string& needs) const;

private:
    Trace& trace_;
    const NetworkNode& node_;
    std::vector<std::pair<std::string, Value>> arguments_;
};

/// "aten.conv2d.default (node conv2d_3 of layer1.0.conv1)".
std::string described(const NetworkNode& node);

}    // namespace slipway::importer
