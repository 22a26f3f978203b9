// Nodes run in their order; names stand for values. Two things need more than that. A node that
// writes to its operand gives the operand's name a new value from then on, and what shares memory
// with it, too: each view knows the node that made it, so a write goes up to the operand by the
// row's `write`, and views of it that are read later are made again. Nothing is copied: values that
// nothing reads are no part of the graph. And a batch norm that only a relu reads is one operation.
#include "executor/import/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>

#include "api/base/error.h"
#include "executor/import/operator_table.h"
#include "executor/import/operators/rows.h"

namespace slipway::importer {

namespace {

template <class Visit>
void for_each_name(const Argument& argument, Visit visit) {
    if (const auto* value = std::get_if<ValueName>(&argument.value)) visit(value->name);
    if (const auto* list = std::get_if<std::vector<Argument>>(&argument.value))
        for (const Argument& one : *list)
            for_each_name(one, visit);
}

bool is_op(const NetworkNode& node, std::string_view base) {
    return node.op.starts_with(base) &&
           (node.op.size() == base.size() || node.op[base.size()] == '.' ||
            node.op.substr(base.size()).starts_with("_."));
}

/// The name of a node's first operand.
const std::string* operand_name(const NetworkNode& node) {
    if (node.arguments.empty()) return nullptr;
    const auto* name = std::get_if<ValueName>(&node.arguments.front().argument.value);
    return name == nullptr ? nullptr : &name->name;
}

class Lowering {
public:
    Lowering(const Network& network, Trace& trace, std::unordered_map<std::string, Value> inputs)
        : network_(network), trace_(trace), values_(std::move(inputs)) {
        for (const NetworkNode& node : network.nodes)
            for (const NamedArgument& one : node.arguments)
                for_each_name(one.argument, [&](const std::string& name) { ++readers_[name]; });
        for (const Argument& output : network.outputs)
            for_each_name(output, [&](const std::string& name) { ++readers_[name]; });
    }

    std::vector<Value> run() {
        for (std::size_t i = 0; i < network_.nodes.size(); ++i)
            lower(i);
        std::vector<Value> outputs;
        for (const Argument& output : network_.outputs)
            outputs.push_back(resolved(output, nullptr));
        return outputs;
    }

private:
    /// A value that shares memory with the operand of its node.
    struct View {
        const NetworkNode* node;
        const OperatorRow* row;
        std::string operand;
        int depth = 1;    ///< of views of views
    };

    void lower(std::size_t index) {
        const NetworkNode& node = network_.nodes[index];
        const OperatorRow* row = find_operator(node.op);
        if (row == nullptr)
            throw Error(ErrorCode::invalid_argument,
                        fmt::format("{}: the operator is not in the table", described(node)));
        for (const std::string& result : node.results)
            if (!result.empty() && values_.contains(result))
                throw Error(
                    ErrorCode::invalid_argument,
                    fmt::format("{} makes {}, which exists already", described(node), result));
        const Call call = call_of(node);
        Value value;
        if (is_before_relu(index))
            guarded(call, [&] { value = {batch_norm_then_relu(call)}; });
        else
            value = run_row(*row, call);
        if (writes_operand(node.op)) write_operand(node, value);
        bind(node, value);
        if (row->is_view && operand_name(node) != nullptr) add_views(node, row);
    }

    static Value run_row(const OperatorRow& row, const Call& call) {
        Value value;
        guarded(call, [&] { value = row.lower(call); });
        return value;
    }

    /// What the graph's own checks refuse is said with the node, and so is a shape that a row does
    /// not expect.
    static void guarded(const Call& call, const std::function<void()>& function) {
        try {
            function();
        } catch (const std::out_of_range&) {
            call.refuse("has operands of a rank that it cannot have");
        } catch (const std::length_error&) {
            call.refuse("has sizes that it cannot have");
        } catch (const Error& error) {
            const std::string what = error.what();
            if (error.code() != ErrorCode::invalid_argument || what.starts_with(call.node().op))
                throw;
            call.refuse(what);
        }
    }

    void add_views(const NetworkNode& node, const OperatorRow* row) {
        constexpr int depth_max = 1000;    // a write recurses as deep
        const auto below = views_.find(*operand_name(node));
        const int depth = below == views_.end() ? 1 : below->second.depth + 1;
        if (depth > depth_max)
            throw Error(ErrorCode::invalid_argument,
                        fmt::format("{} is a view of a view more than {} deep", described(node),
                                    depth_max));
        for (const std::string& result : node.results)
            views_[result] = {row == nullptr ? nullptr : &node, row, *operand_name(node), depth};
    }

    /// The relu is then a node without work.
    bool is_before_relu(std::size_t index) {
        const NetworkNode& node = network_.nodes[index];
        if (!is_op(node, "aten.batch_norm") || node.results.size() != 1 ||
            readers_[node.results[0]] != 1 || index + 1 >= network_.nodes.size())
            return false;
        const NetworkNode& next = network_.nodes[index + 1];
        return is_op(next, "aten.relu") && operand_name(next) != nullptr &&
               *operand_name(next) == node.results[0];
    }

    Call call_of(const NetworkNode& node) {
        std::vector<std::pair<std::string, Value>> arguments;
        for (const NamedArgument& one : node.arguments)
            arguments.emplace_back(one.name, resolved(one.argument, &node));
        return {trace_, node, std::move(arguments)};
    }

    Value resolved(const Argument& argument, const NetworkNode* node) {
        if (const auto* value = std::get_if<ValueName>(&argument.value)) {
            const auto found = values_.find(value->name);
            if (found == values_.end())
                throw Error(
                    ErrorCode::invalid_argument,
                    fmt::format("{} reads {}, which no node before it makes",
                                node == nullptr ? "the result" : described(*node), value->name));
            return found->second;
        }
        if (const auto* list = std::get_if<std::vector<Argument>>(&argument.value)) {
            std::vector<Value> values;
            for (const Argument& one : *list)
                values.push_back(resolved(one, node));
            return {std::move(values)};
        }
        return std::visit(
            [](const auto& plain) -> Value {
                using Plain = std::decay_t<decltype(plain)>;
                if constexpr (std::is_same_v<Plain, ValueName> ||
                              std::is_same_v<Plain, std::vector<Argument>>)
                    return {};
                else
                    return {plain};
            },
            argument.value);
    }

    void bind(const NetworkNode& node, const Value& value) {
        const auto* list = std::get_if<std::vector<Value>>(&value.value);
        if (list == nullptr) {
            if (!node.results.empty()) values_[node.results[0]] = value;
            return;
        }
        for (std::size_t i = 0; i < std::min(list->size(), node.results.size()); ++i)
            values_[node.results[i]] = (*list)[i];
    }

    void write_operand(const NetworkNode& node, Value& value) {
        const std::string* name = operand_name(node);
        const Tensor* written = value.tensor();
        if (name == nullptr || written == nullptr) return;
        const Tensor* old = values_.at(*name).tensor();
        // The type of what is written to stays.
        if (old != nullptr && old->dtype() != written->dtype())
            value = {convert(*written, old->dtype())};
        write(node, *name, *value.tensor());
        add_views(node, nullptr);
    }

    /// A write costs a step for each view that shares its memory; modules take a few of them.
    void count_work(const NetworkNode& node) {
        constexpr std::int64_t work_max = 100'000;
        if (++work_ > work_max)
            throw Error(ErrorCode::invalid_argument,
                        fmt::format("{}: the network writes too often to tensors that share memory",
                                    described(node)));
    }

    void write(const NetworkNode& node, const std::string& name, const Tensor& value) {
        count_work(node);
        values_[name] = {value};
        const auto view = views_.find(name);
        if (view == views_.end()) {
            make_views_again(node, name);
            return;
        }
        const View made = view->second;
        if (made.node == nullptr) {    // the result of a write: another name of its operand
            write(node, made.operand, value);
            return;
        }
        const Tensor operand = *values_.at(made.operand).tensor();
        if (made.row->write == nullptr)
            throw Error(ErrorCode::invalid_argument,
                        fmt::format("{} writes to a view that {} has made, which cannot be "
                                    "followed; write the module without the in-place operation",
                                    described(node), described(*made.node)));
        const Call view_call = call_of(*made.node);
        Tensor written;
        guarded(view_call, [&] { written = made.row->write(view_call, operand, value); });
        write(node, made.operand, written);
    }

    /// All that shows the elements of `name`.
    void make_views_again(const NetworkNode& writing, const std::string& name) {
        std::vector<std::string> showing;
        for (const auto& [view, made] : views_)
            if (made.operand == name) showing.push_back(view);
        std::set<const NetworkNode*> done;
        for (const std::string& view : showing) {
            count_work(writing);
            const View& made = views_.at(view);
            if (made.node == nullptr)
                values_[view] = values_.at(name);
            else if (done.insert(made.node).second)
                bind(*made.node, run_row(*made.row, call_of(*made.node)));
            make_views_again(writing, view);
        }
    }

    const Network& network_;
    Trace& trace_;
    std::unordered_map<std::string, Value> values_;
    std::unordered_map<std::string, View> views_;
    std::unordered_map<std::string, std::int64_t> readers_;
    std::int64_t work_ = 0;
};

}    // namespace

std::vector<Value> lower_network(const Network& network, Trace& trace,
                                 std::unordered_map<std::string, Value> inputs) {
    return Lowering(network, trace, std::move(inputs)).run();
}

std::vector<MissingOperator> missing_operators(const Network& network) {
    std::vector<MissingOperator> missing;
    for (const NetworkNode& node : network.nodes) {
        if (find_operator(node.op) != nullptr) continue;
        const auto known = std::ranges::find(missing, node.op, &MissingOperator::op);
        if (known != missing.end())
            ++known->nodes;
        else
            missing.push_back({node.op, 1, described(node)});
    }
    return missing;
}

double highest_dropout(const Network& network) {
    double highest = 0;
    for (const NetworkNode& node : network.nodes) {
        const auto rate_of = [&](std::string_view name) {
            for (const NamedArgument& one : node.arguments)
                if (one.name == name)
                    if (const auto* rate = std::get_if<double>(&one.argument.value)) return *rate;
            return 0.0;
        };
        if (is_op(node, "aten.dropout") || is_op(node, "aten.feature_dropout"))
            highest = std::max(highest, rate_of("p"));
        if (is_op(node, "aten.bernoulli")) highest = std::max(highest, 1 - rate_of("p"));
        for (const char* op : {"aten.gru", "aten.lstm", "aten.rnn_relu", "aten.rnn_tanh"})
            if (is_op(node, op)) highest = std::max(highest, rate_of("dropout"));
        if (is_op(node, "aten.scaled_dot_product_attention"))
            highest = std::max(highest, rate_of("dropout_p"));
    }
    return highest;
}

}    // namespace slipway::importer
