#include <fmt/format.h>

#include <algorithm>

#include "api/spec/documents.h"
#include "api/spec/tables.h"

namespace slipway {

namespace {

/// The field belongs to one of the variants that are told apart by which fields are given.
bool told_by_presence(const ObjectTable& table, const Row& row) {
    return !row.only.empty() && table.variants() && table.variants()->tag.empty();
}

/// How a default is shown: "required", nothing, or the JSON.
std::string default_of(const ObjectTable& table, const Row& row) {
    if (row.required && told_by_presence(table, row)) {
        const auto choices = table.variant_choices();
        const bool open = table.variants()->standard.empty();
        return open ? fmt::format("required: {}", joined_with_or(choices)) : "";
    }
    if (row.required) return "required";
    if (!row.standard) return "";
    return fmt::format("`{}`", row.standard->dump());
}

std::string kind_of(const ObjectTable& table, const Row& row) {
    if (row.only.empty() || told_by_presence(table, row)) return row.wanted;
    return fmt::format("{} ({} only)", row.wanted, joined_with_or(row.only));
}

void add_rows(const ObjectTable& table, const std::string& prefix, std::string& text) {
    for (const Row& row : table.rows()) {
        const std::string path = prefix + std::string(row.name);
        if (row.nested != nullptr) {
            add_rows(*row.nested, path + ".", text);
            continue;
        }
        text += fmt::format("| `{}` | {} | {} | {} |\n", path, kind_of(table, row),
                            default_of(table, row), row.summary);
    }
}

}    // namespace

std::string markdown_table(std::string_view name) {
    const auto tables = request_tables();
    const auto found = std::find_if(tables.begin(), tables.end(),
                                    [&](const ObjectTable* one) { return one->name() == name; });
    check(found != tables.end(), "a table of fields is asked for by a request's name");
    std::string text = "| field | value | default | meaning |\n|---|---|---|---|\n";
    add_rows(**found, "", text);
    return text;
}

}    // namespace slipway
