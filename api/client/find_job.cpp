#include "api/client/find_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/base/id.h"
#include "api/base/printable.h"
#include "api/client/commands.h"

namespace slipway::client {
namespace {

constexpr std::size_t searched_max = 10000;    // of the newest jobs
constexpr std::size_t listed_max = 10;

// The jobs whose field is `text`, or begins with it.
Json matching(const Json& items, const char* field, const std::string& text, bool is_whole) {
    Json found = Json::array();
    for (const Json& job : items) {
        const std::string value = text_of(job, field);
        if (is_whole ? value == text : value.starts_with(text)) found.push_back(job);
    }
    return found;
}

std::string only_one(const Json& found, const std::string& text) {
    if (found.size() == 1) return text_of(found.front(), "id");
    std::string list;
    for (std::size_t i = 0; i < std::min(found.size(), listed_max); ++i)
        list += fmt::format("\n  {} {} {}", cell(found[i], "id"), cell(found[i], "name"),
                            cell(found[i], "state"));
    if (found.size() > listed_max)
        list += fmt::format("\n  and {} more", found.size() - listed_max);
    throw Stop(ExitCode::refused, fmt::format("{} jobs match `{}`; give the id of one:{}",
                                              found.size(), printable_line(text), list));
}

}    // namespace

std::string find_job(const HttpClient& client, const std::string& text) {
    if (is_id("job", text)) return text;
    if (text.empty()) throw Stop(ExitCode::usage, "the id or the name of a job is empty");
    if (text.starts_with("job_")) {
        const Json found = matching(
            get_items(client, "/v1/jobs?order_by=-created_at", searched_max), "id", text, false);
        if (!found.empty()) return only_one(found, text);
    }
    const Json named = get_items(client, "/v1/jobs?name=" + percent_encode(text), searched_max);
    Json found = matching(named, "name", text, true);
    if (found.empty()) found = matching(named, "name", text, false);
    if (found.empty())
        throw Stop(ExitCode::refused,
                   fmt::format("there is no job whose id or name is `{}` or begins with it",
                               printable_line(text)));
    return only_one(found, text);
}

}    // namespace slipway::client
