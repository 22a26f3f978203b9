#include "api/client/find_named.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "api/base/check.h"
#include "api/base/id.h"
#include "api/base/printable.h"
#include "api/client/commands_table.h"
#include "api/spec/table/nearest.h"

namespace slipway::client {
namespace {

constexpr std::size_t searched_max = 10000;    // of the newest
constexpr std::size_t listed_max = 10;

struct KindRow {
    NamedKind kind;
    std::string_view word;
    std::string_view plural;
    std::string_view id_prefix;
    std::string_view list;     // the newest first
    std::string_view named;    // the same, of those whose name contains what follows
};

constexpr std::array kind_rows{
    KindRow{NamedKind::job, "job", "jobs", "job", "/v1/jobs?order_by=-created_at",
            "/v1/jobs?name="},
    KindRow{NamedKind::sweep, "sweep", "sweeps", "swp", "/v1/sweeps", "/v1/sweeps?name="},
    KindRow{NamedKind::cross_validation, "cross-validation", "cross-validations", "cv",
            "/v1/cross-validations", ""},
    KindRow{NamedKind::dataset, "dataset", "datasets", "ds", "/v1/datasets", "/v1/datasets?name="},
};

const KindRow& row_of(NamedKind kind) {
    const auto found = std::ranges::find(kind_rows, kind, &KindRow::kind);
    check(found != kind_rows.end(), "every kind has a row");
    return *found;
}

// Those whose field is `text`, or begins with it.
Json matching(const Json& items, const char* field, const std::string& text, NamedBy by) {
    Json found = Json::array();
    for (const Json& one : items) {
        const std::string value = text_of(one, field);
        if (by == NamedBy::whole ? value == text : value.starts_with(text)) found.push_back(one);
    }
    return found;
}

std::string lines_of(const Json& found) {
    std::string list;
    for (std::size_t i = 0; i < std::min(found.size(), listed_max); ++i)
        list += fmt::format("\n  {} {} {}", cell(found[i], "id"), cell(found[i], "name"),
                            cell(found[i], "state"));
    if (found.size() > listed_max)
        list += fmt::format("\n  and {} more", found.size() - listed_max);
    return list;
}

std::string only_one(const KindRow& row, const Json& found, const std::string& text) {
    if (found.size() == 1) return text_of(found.front(), "id");
    throw Stop(ExitCode::refused,
               fmt::format("{} {} match `{}`; give the id of one:{}", found.size(), row.plural,
                           printable_line(text), lines_of(found)));
}

// " did you mean `digits`?", or nothing.
std::string near_miss(const Json& items, const std::string& text) {
    std::vector<std::string> names;
    for (const Json& one : items)
        names.push_back(text_of(one, "name"));
    const std::vector<std::string_view> views(names.begin(), names.end());
    const auto meant = nearest(text, views);
    return meant ? fmt::format("; did you mean `{}`?", printable_line(*meant)) : std::string();
}

Stop none(const KindRow& row, const Json& items, const Json& beginning, const std::string& text,
          NamedBy by) {
    const std::string wanted = printable_line(text);
    if (by == NamedBy::beginning)
        return {ExitCode::refused,
                fmt::format("there is no {} whose id or name is `{}` or begins with it{}", row.word,
                            wanted, near_miss(items, text))};
    if (beginning.empty())
        return {ExitCode::refused, fmt::format("there is no {} whose id or name is `{}`{}",
                                               row.word, wanted, near_miss(items, text))};
    return {ExitCode::refused,
            fmt::format("there is no {} whose id or name is `{}`; this command takes a whole id or "
                        "name, and these begin with it:{}",
                        row.word, wanted, lines_of(beginning))};
}

}    // namespace

std::string_view word_of(NamedKind kind, bool plural) {
    return plural ? row_of(kind).plural : row_of(kind).word;
}

std::string argument_text(NamedKind kind, NamedBy by) {
    return fmt::format("id or name of the {}{}", row_of(kind).word,
                       by == NamedBy::beginning ? ", or the beginning of either" : "");
}

std::string find_id(const HttpClient& client, NamedKind kind, const std::string& text, NamedBy by) {
    const KindRow& row = row_of(kind);
    if (is_id(row.id_prefix, text)) return text;
    if (text.empty())
        throw Stop(ExitCode::usage, fmt::format("the id or the name of a {} is empty", row.word));
    const Json named =
        row.named.empty()
            ? get_items(client, std::string(row.list), searched_max)
            : get_items(client, fmt::format("{}{}", row.named, percent_encode(text)), searched_max);
    if (const Json found = matching(named, "name", text, NamedBy::whole); !found.empty())
        return only_one(row, found, text);
    const bool may_be_id = text.starts_with(fmt::format("{}_", row.id_prefix));
    Json beginning = may_be_id ? matching(get_items(client, std::string(row.list), searched_max),
                                          "id", text, NamedBy::beginning)
                               : Json::array();
    if (beginning.empty()) beginning = matching(named, "name", text, NamedBy::beginning);
    if (by == NamedBy::beginning && !beginning.empty()) return only_one(row, beginning, text);
    throw none(row, get_items(client, std::string(row.list), 200), beginning, text, by);
}

}    // namespace slipway::client
