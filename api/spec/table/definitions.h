#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "api/base/json.h"

namespace slipway {

class ObjectTable;

/// Named JSON Schemas (2020-12) under construction: each object's table becomes one definition,
/// others refer to it.
class Definitions {
public:
    /// `prefix` is "#/$defs/" or "#/components/schemas/".
    explicit Definitions(std::string prefix) : prefix_(std::move(prefix)) {}

    /// {"$ref": …} to the table's definition, which is made at the first call.
    Json refer(const ObjectTable& table);

    const std::map<std::string, Json>& all() const { return all_; }

private:
    std::string prefix_;
    std::map<std::string, Json> all_;
};

}    // namespace slipway
