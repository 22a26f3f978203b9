#include "api/client/request_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "api/base/printable.h"
#include "api/client/commands_table.h"
#include "api/client/service.h"

namespace slipway::client {
namespace {

struct KindRow {
    RequestKind kind;
    std::string_view name;
    std::string_view command;
    std::vector<std::string_view> fields;    ///< objects that no other kind has together
};

const std::array kind_rows{
    KindRow{RequestKind::sweep, "a sweep", "slipway sweep create", {"space"}},
    KindRow{
        RequestKind::cross_validation, "a cross-validation", "slipway cv create", {"split", "job"}},
    KindRow{RequestKind::inference,
            "a prediction or an evaluation",
            "slipway submit --kind prediction` or `--kind evaluation",
            {"from", "data"}},
    KindRow{RequestKind::job, "a job spec", "slipway submit", {"model", "train"}},
};

const KindRow* kind_of(const std::string& body) {
    const Json document = Json::parse(body, nullptr, false);
    if (!document.is_object()) return nullptr;
    const auto fits = [&](const KindRow& row) {
        return std::ranges::all_of(row.fields, [&](std::string_view field) {
            const auto found = document.find(field);
            return found != document.end() && found->is_object();
        });
    };
    const auto found = std::ranges::find_if(kind_rows, fits);
    return found == kind_rows.end() ? nullptr : &*found;
}

}    // namespace

Json post_document(const HttpClient& client, const std::string& target, const std::string& body,
                   RequestKind kind) {
    const ClientResponse response =
        call_raw(client, {.method = "POST", .target = target, .body = body});
    require_accepted(response, body, kind);
    Json answer = Json::parse(response.body, nullptr, false);
    if (answer.contains("warnings"))
        for (const Json& one : answer.at("warnings"))
            fmt::print(stderr, "warning: {}: {}\n", printable_line(cell(one, "pointer")),
                       printable_line(cell(one, "message")));
    return answer;
}

void require_accepted(const ClientResponse& response, const std::string& body, RequestKind kind) {
    const KindRow* row = response.status == 422 ? kind_of(body) : nullptr;
    if (row == nullptr || row->kind == kind) return require_success(response);
    throw Stop(ExitCode::refused, fmt::format("{}\nThe file looks like {}: see `{}`",
                                              problem_text(response), row->name, row->command));
}

}    // namespace slipway::client
