#include "executor/import/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "api/base/error.h"

namespace slipway::importer {

std::string described(const NetworkNode& node) {
    return node.module.empty() ? fmt::format("{} (node {})", node.op, node.name)
                               : fmt::format("{} (node {} of {})", node.op, node.name, node.module);
}

void Call::refuse(const std::string& needs) const {
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: {}", described(node_), needs));
}

const Value& Call::argument(std::string_view name) const {
    static const Value none{};
    for (const auto& [given, value] : arguments_)
        if (given == name) return value;
    return none;
}

bool Call::has(std::string_view name) const {
    return !argument(name).is_none();
}

Tensor Call::tensor_or_empty(std::string_view name) const {
    const Value& value = argument(name);
    if (value.is_none()) return {};
    if (const Tensor* tensor = value.tensor()) return *tensor;
    refuse(fmt::format("{} must be a tensor", name));
}

Tensor Call::tensor(std::string_view name) const {
    const Value& value = argument(name);
    if (const Tensor* tensor = value.tensor()) return *tensor;
    // A number where a tensor may stand.
    if (const auto* number = std::get_if<double>(&value.value)) return constant(*number);
    if (const auto* integer = std::get_if<std::int64_t>(&value.value))
        return constant(double(*integer), DType::i32);
    refuse(fmt::format("{} must be a tensor", name));
}

std::vector<Tensor> Call::tensors(std::string_view name) const {
    const auto* list = std::get_if<std::vector<Value>>(&argument(name).value);
    if (list == nullptr) refuse(fmt::format("{} must be a list of tensors", name));
    std::vector<Tensor> tensors;
    for (const Value& value : *list) {
        const Tensor* tensor = value.tensor();
        if (tensor == nullptr) refuse(fmt::format("{} must be a list of tensors", name));
        tensors.push_back(*tensor);
    }
    return tensors;
}

namespace {

std::optional<std::int64_t> whole(const Value& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value.value)) return *integer;
    if (const auto* flag = std::get_if<bool>(&value.value)) return *flag ? 1 : 0;
    return std::nullopt;
}

}    // namespace

std::int64_t Call::integer(std::string_view name) const {
    const auto integer = whole(argument(name));
    if (!integer) refuse(fmt::format("{} must be a whole number known before the run", name));
    return *integer;
}

std::int64_t Call::integer(std::string_view name, std::int64_t otherwise) const {
    return has(name) ? integer(name) : otherwise;
}

std::int64_t Call::positive(std::string_view name, std::int64_t otherwise) const {
    const std::int64_t found = integer(name, otherwise);
    if (found < 1) refuse(fmt::format("{} must be at least 1, got {}", name, found));
    return found;
}

double Call::number(std::string_view name) const {
    const Value& value = argument(name);
    if (const auto* number = std::get_if<double>(&value.value)) return *number;
    if (const auto integer = whole(value)) return double(*integer);
    refuse(fmt::format("{} must be a number known before the run", name));
}

double Call::number(std::string_view name, double otherwise) const {
    return has(name) ? number(name) : otherwise;
}

bool Call::flag(std::string_view name, bool otherwise) const {
    return has(name) ? integer(name) != 0 : otherwise;
}

std::string Call::text(std::string_view name, std::string_view otherwise) const {
    const auto* text = std::get_if<std::string>(&argument(name).value);
    return text == nullptr ? std::string(otherwise) : *text;
}

Dims Call::integers(std::string_view name) const {
    if (const auto one = whole(argument(name))) return {*one};
    const auto* list = std::get_if<std::vector<Value>>(&argument(name).value);
    if (list == nullptr) refuse(fmt::format("{} must be a list of whole numbers", name));
    Dims integers;
    for (const Value& value : *list) {
        const auto integer = whole(value);
        if (!integer)
            refuse(fmt::format("{} must be a list of whole numbers known before the run", name));
        integers.push_back(*integer);
    }
    return integers;
}

Dims Call::integers(std::string_view name, Dims otherwise) const {
    return has(name) ? integers(name) : std::move(otherwise);
}

Dims Call::integers(std::string_view name, std::size_t count, std::int64_t otherwise) const {
    Dims list = integers(name, Dims{});
    if (list.empty()) list = {otherwise};
    if (list.size() == 1) list.resize(count, list[0]);
    if (list.size() != count) refuse(fmt::format("{} must have {} numbers", name, count));
    return list;
}

Dims Call::positives(std::string_view name, std::size_t count, std::int64_t otherwise) const {
    Dims list = integers(name, count, otherwise);
    for (const std::int64_t one : list)
        if (one < 1) refuse(fmt::format("{} must be at least 1, got {}", name, one));
    return list;
}

std::int64_t Call::dimension(std::string_view name, std::int64_t rank,
                             std::optional<std::int64_t> otherwise) const {
    const std::int64_t given = otherwise ? integer(name, *otherwise) : integer(name);
    const std::int64_t dimension = given < 0 ? given + rank : given;
    if (dimension < 0 || dimension >= rank)
        refuse(fmt::format("{} is {}, and the tensor has {} dimensions", name, given, rank));
    return dimension;
}

Dims Call::dimensions(std::string_view name, std::int64_t rank) const {
    Dims list = integers(name, Dims{});
    if (list.empty()) {
        list.resize(std::size_t(rank));
        std::iota(list.begin(), list.end(), 0);
        return list;
    }
    for (std::int64_t& one : list) {
        const std::int64_t given = one;
        if (one < 0) one += rank;
        if (one < 0 || one >= rank)
            refuse(fmt::format("{} has {}, and the tensor has {} dimensions", name, given, rank));
    }
    std::ranges::sort(list);
    if (std::ranges::adjacent_find(list) != list.end())
        refuse(fmt::format("{} names a dimension twice", name));
    return list;
}

}    // namespace slipway::importer
