#include "executor/train/resumed_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "api/spec/documents.h"

namespace slipway {

namespace {

constexpr std::size_t changes_max = 10;

constexpr std::array<const char*, 4> trained_parts{"model", "task", "data", "train"};

/// "/train/optimizer/lr" as people write it.
std::string dotted(std::string pointer) {
    std::ranges::replace(pointer, '/', '.');
    return pointer.substr(1);
}

}    // namespace

nlohmann::json trained_spec(const JobSpec& spec) {
    const nlohmann::json whole = encode(spec);
    nlohmann::json kept = nlohmann::json::object();
    for (const char* part : trained_parts)
        if (whole.contains(part)) kept[part] = whole.at(part);
    kept["accelerator"] = {{"cores", spec.accelerator.cores}};
    if (exchanges_bf16(spec.accelerator))
        kept["accelerator"]["slice"] = {{"gradient_exchange", "bf16"}};
    return kept;
}

std::vector<std::string> spec_changes(const nlohmann::json& before, const JobSpec& now) {
    if (!before.is_object()) return {};
    const nlohmann::json old_fields = before.flatten();
    const nlohmann::json new_fields = trained_spec(now).flatten();
    std::set<std::string> names;
    for (const nlohmann::json* fields : {&old_fields, &new_fields})
        for (const auto& [name, value] : fields->items())
            names.insert(name);
    std::vector<std::string> changes;
    for (const std::string& name : names) {
        const nlohmann::json was = old_fields.value(name, nlohmann::json());
        const nlohmann::json is = new_fields.value(name, nlohmann::json());
        if (was != is)
            changes.push_back(fmt::format("{}: {} -> {}", dotted(name), was.dump(), is.dump()));
    }
    if (changes.size() > changes_max) {
        const std::size_t more = changes.size() - changes_max + 1;
        changes.resize(changes_max - 1);
        changes.push_back(fmt::format("and {} more fields", more));
    }
    return changes;
}

}    // namespace slipway
