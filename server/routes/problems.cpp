#include "server/routes/problems.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "server/http/problem.h"

namespace slipway {

void throw_problems(const std::vector<Problem>& problems, std::string_view code,
                    std::string_view what) {
    if (problems.empty()) return;
    std::vector<ProblemItem> items;
    for (const Problem& one : problems)
        items.push_back({.pointer = one.pointer,
                         .code = one.code,
                         .message = one.message,
                         .allowed = one.allowed});
    const Problem& first = problems.front();
    const std::string more =
        problems.size() == 1 ? "" : fmt::format(" (and {} more)", problems.size() - 1);
    throw ProblemError(
        {.status = 422,
         .code = std::string(code),
         .detail = fmt::format("{} is invalid: {}: {}{}", what, first.pointer, first.message, more),
         .items = std::move(items)});
}

Json render_warnings(const std::vector<Problem>& warnings) {
    Json items = Json::array();
    for (const Problem& one : warnings)
        items.push_back({{"pointer", one.pointer}, {"message", one.message}});
    return items;
}

void throw_not_found(std::string_view what, std::string_view id) {
    throw ProblemError({.status = 404,
                        .code = "not_found",
                        .detail = fmt::format("there is no {} `{}`", what, id)});
}

}    // namespace slipway
