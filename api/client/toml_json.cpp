#include "api/client/toml_json.h"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <cmath>
#include <nlohmann/json.hpp>

#include "api/base/printable.h"
#include "api/client/service.h"

namespace slipway::client {
namespace {

[[noreturn]] void reject(const std::string& name, const toml::source_region& where,
                         std::string_view reason) {
    throw Stop(ExitCode::usage, fmt::format("{}:{}: {}", name, where.begin.line,
                                            printable_line(std::string(reason))));
}

Json to_json(const toml::node& node, const std::string& name) {
    if (const toml::table* table = node.as_table()) {
        Json object = Json::object();
        for (const auto& [key, value] : *table)
            object[std::string(key.str())] = to_json(value, name);
        return object;
    }
    if (const toml::array* array = node.as_array()) {
        Json items = Json::array();
        for (const toml::node& item : *array)
            items.push_back(to_json(item, name));
        return items;
    }
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* flag = node.as_boolean()) return flag->get();
    if (const auto* whole = node.as_integer()) return whole->get();
    if (const auto* number = node.as_floating_point()) {
        if (!std::isfinite(number->get()))
            reject(name, node.source(), "nan and inf are no values of a document");
        return number->get();
    }
    reject(name, node.source(), "a time is written as a text, in quotes");
}

}    // namespace

Json toml_to_json(std::string_view text, const std::string& name) {
    try {
        return to_json(toml::parse(text), name);
    } catch (const toml::parse_error& error) {
        reject(name, error.source(), error.description());
    }
}

}    // namespace slipway::client
