#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/base/plural.h"
#include "api/spec/table/kinds.h"

namespace slipway {

/// An array of `item`s. `unique`: no value twice.
template <class Kind>
struct List {
    Kind item;
    std::size_t min = 0;
    std::size_t max = 10000;
    bool unique = false;

    using Value = std::vector<typename Kind::Value>;

    void read(const Json& json, Value& value, const Reader& at) const {
        if (!json.is_array()) return at.refuse("wrong_type", wanted(), json);
        if (json.size() < min || json.size() > max) {
            return at.report("out_of_bounds", fmt::format("{} must be {}, got {}", at.path(),
                                                          wanted(), counted(json.size(), "item")));
        }
        const std::size_t problems = at.problem_count();
        Value items(json.size());
        for (std::size_t index = 0; index < json.size(); ++index) {
            typename Kind::Value one{};
            item.read(json[index], one, at.at(index));
            items[index] = std::move(one);
        }
        if (at.problem_count() > problems) return;
        if constexpr (requires(const typename Kind::Value& a) { a == a; }) {
            for (std::size_t index = 1; unique && index < items.size(); ++index) {
                const auto end = items.begin() + std::ptrdiff_t(index);
                if (std::find(items.begin(), end, items[index]) == end) continue;
                at.at(index).report("inconsistent",
                                    fmt::format("{} contains {} twice; keep one of them", at.path(),
                                                shown(json[index])));
            }
        }
        value = std::move(items);
    }

    Json write(const Value& value) const {
        Json items = Json::array();
        for (const auto& one : value)
            items.push_back(item.write(one));
        return items;
    }

    Json schema(Definitions& definitions) const {
        Json schema{{"type", "array"}, {"items", item.schema(definitions)}};
        if (min > 0) schema["minItems"] = min;
        if (max < List{}.max) schema["maxItems"] = max;
        if (unique) schema["uniqueItems"] = true;
        return schema;
    }

    std::string wanted() const {
        const std::string count = min > 0 ? fmt::format("{} to {} items", min, max)
                                  : max < List{}.max
                                      ? fmt::format("at most {}", counted(max, "item"))
                                      : "items";
        return fmt::format("a list of {}, each {}", count, item.wanted());
    }
};

/// An array of exactly one `item`, for a field that may hold more of them some day.
template <class Kind>
struct Single {
    Kind item;

    using Value = typename Kind::Value;

    void read(const Json& json, Value& value, const Reader& at) const {
        if (!json.is_array()) return at.refuse("wrong_type", wanted(), json);
        if (json.size() != 1) {
            return at.report("out_of_bounds", fmt::format("{} must be {}, got {}", at.path(),
                                                          wanted(), counted(json.size(), "item")));
        }
        item.read(json[0], value, at.at(std::size_t{0}));
    }

    Json write(const Value& value) const { return Json::array({item.write(value)}); }

    Json schema(Definitions& definitions) const {
        return {{"type", "array"},
                {"items", item.schema(definitions)},
                {"minItems", 1},
                {"maxItems", 1}};
    }

    std::string wanted() const {
        return fmt::format("a list of exactly one item, {}", item.wanted());
    }
};

/// An array of exactly two `item`s.
template <class Kind>
struct Pair {
    Kind item;

    using Value = std::array<typename Kind::Value, 2>;

    void read(const Json& json, Value& value, const Reader& at) const {
        if (!json.is_array()) return at.refuse("wrong_type", wanted(), json);
        if (json.size() != 2) {
            return at.report("out_of_bounds", fmt::format("{} must be {}, got {}", at.path(),
                                                          wanted(), counted(json.size(), "item")));
        }
        for (std::size_t index = 0; index < 2; ++index) {
            item.read(json[index], value[index], at.at(index));
        }
    }

    Json write(const Value& value) const {
        return Json::array({item.write(value[0]), item.write(value[1])});
    }

    Json schema(Definitions& definitions) const {
        return {{"type", "array"},
                {"items", item.schema(definitions)},
                {"minItems", 2},
                {"maxItems", 2}};
    }

    std::string wanted() const { return fmt::format("a list of two, each {}", item.wanted()); }
};

using NumberPair = Pair<Number>;

/// A list, or one item that stands for a list of one.
template <class Kind>
struct OneOrList {
    List<Kind> list;

    using Value = typename List<Kind>::Value;

    void read(const Json& json, Value& value, const Reader& at) const {
        if (json.is_array()) return list.read(json, value, at);
        typename Kind::Value one{};
        const std::size_t problems = at.problem_count();
        list.item.read(json, one, at);
        if (at.problem_count() == problems) value.assign(1, one);
    }

    Json write(const Value& value) const { return list.write(value); }

    Json schema(Definitions& definitions) const {
        return {{"oneOf", Json::array({list.item.schema(definitions), list.schema(definitions)})}};
    }

    std::string wanted() const { return list.item.wanted() + ", or a list of them"; }
};

using NumberOrList = OneOrList<Number>;

/// An object whose keys the user chooses.
template <class Kind>
struct Map {
    const TextForm* key;    ///< lives for ever
    Kind item;
    std::size_t max = 64;

    using Value = std::map<std::string, typename Kind::Value>;

    void read(const Json& json, Value& value, const Reader& at) const {
        if (!json.is_object()) return at.refuse("wrong_type", wanted(), json);
        if (json.size() > max) {
            return at.report("out_of_bounds",
                             fmt::format("{} must be {}, got {}", at.path(), wanted(),
                                         counted(json.size(), "entry", "entries")));
        }
        for (const auto& [name, entry] : json.items()) {
            const Reader here = at.at(std::string_view(name));
            if (!key->holds(name)) {
                here.report("bad_format", fmt::format("the key \"{}\" in {} must be {}",
                                                      shortened(name), at.path(), key->wanted));
                continue;
            }
            item.read(entry, value[name], here);
        }
    }

    Json write(const Value& value) const {
        Json object = Json::object();
        for (const auto& [name, entry] : value)
            object[name] = item.write(entry);
        return object;
    }

    Json schema(Definitions& definitions) const {
        return {{"type", "object"},
                {"propertyNames", {{"pattern", key->pattern}}},
                {"additionalProperties", item.schema(definitions)},
                {"maxProperties", max}};
    }

    std::string wanted() const {
        return fmt::format("an object of at most {} entries, each {}", max, item.wanted());
    }
};

}    // namespace slipway
