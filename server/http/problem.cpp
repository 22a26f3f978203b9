#include "server/http/problem.h"

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "api/base/letter_case.h"
#include "api/base/log.h"
#include "server/http/text.h"

namespace slipway {

namespace {

struct StatusRow {
    int status;
    std::string_view title;
};

constexpr auto statuses = std::to_array<StatusRow>({
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
});

ProblemError::Fields fields_of(const Error& error) {
    const bool shown = error.code() != ErrorCode::internal && error.code() != ErrorCode::data_loss;
    return {.status = http_status(error.code()),
            .code = std::string(to_string(error.code())),
            .detail = shown ? std::string(error.what())
                            : "internal error; the log contains this request_id"};
}

void log_failure(std::string_view what, std::string_view where, const Request& request) {
    log_error("request failed", {{"request_id", request.request_id},
                                 {"route", request.route},
                                 {"error", what},
                                 {"at", where}});
}

void add_missing(std::vector<Pair>& headers, std::string_view name, std::string_view value) {
    for (const Pair& header : headers)
        if (equal_ignoring_case(header.name, name)) return;
    headers.push_back({std::string(name), std::string(value)});
}

nlohmann::json item_json(const ProblemItem& item) {
    nlohmann::json json{{"pointer", item.pointer}, {"code", item.code}, {"message", item.message}};
    if (!item.allowed.empty()) json["allowed"] = item.allowed;
    return json;
}

}    // namespace

ProblemError::ProblemError(Fields fields)
    : Error(ErrorCode::invalid_argument, fields.detail), fields_(std::move(fields)) {}

int http_status(ErrorCode code) noexcept {
    switch (code) {
        case ErrorCode::invalid_argument:
            return 400;
        case ErrorCode::not_found:
            return 404;
        case ErrorCode::conflict:
            return 409;
        case ErrorCode::unauthenticated:
            return 401;
        case ErrorCode::permission_denied:
            return 403;
        case ErrorCode::exhausted:
            return 429;
        case ErrorCode::unavailable:
            return 503;
        case ErrorCode::data_loss:
        case ErrorCode::internal:
            return 500;
    }
    return 500;
}

Response problem_response(const ProblemError::Fields& fields, std::string_view request_id) {
    nlohmann::json body{{"type", "/docs/errors.html#" + fields.code},
                        {"title", status_title(fields.status)},
                        {"status", fields.status},
                        {"detail", fields.detail},
                        {"code", fields.code},
                        {"request_id", request_id}};
    if (!fields.items.empty()) {
        body["errors"] = nlohmann::json::array();
        for (const ProblemItem& item : fields.items)
            body["errors"].push_back(item_json(item));
    }
    Response response{.status = fields.status, .headers = fields.headers};
    if (fields.status == 503 || fields.status == 429)
        add_missing(response.headers, "Retry-After", fields.status == 503 ? "2" : "5");
    if (fields.status == 401)
        add_missing(response.headers, "WWW-Authenticate", "Bearer realm=\"slipway\"");
    response.media_type = "application/problem+json";
    // A detail may repeat bytes of the client: what is not UTF-8 in it becomes U+FFFD.
    response.body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return response;
}

Response overloaded_response(std::string detail, int retry_after_s, std::string_view request_id) {
    return problem_response({.status = 503,
                             .code = "overloaded",
                             .detail = std::move(detail),
                             .headers = {{"Retry-After", std::to_string(retry_after_s)}}},
                            request_id);
}

Response answer(const Handler& handler, const Request& request) {
    try {
        return handler(request);
    } catch (const ProblemError& error) {
        return problem_response(error.fields(), request.request_id);
    } catch (const Error& error) {
        const ProblemError::Fields fields = fields_of(error);
        if (fields.status >= 500)
            log_failure(error.what(),
                        fmt::format("{}:{}", error.where().file_name(), error.where().line()),
                        request);
        return problem_response(fields, request.request_id);
    } catch (const std::exception& error) {
        log_failure(error.what(), "", request);
        return problem_response(fields_of(Error(ErrorCode::internal, "unexpected exception")),
                                request.request_id);
    }
}

std::optional<Response> refusal_of(const std::function<void()>& prepare, const Request& request) {
    bool done = false;
    Response response = answer(
        [&](const Request&) {
            prepare();
            done = true;
            return Response{};
        },
        request);
    if (done) return std::nullopt;
    return response;
}

std::string_view status_title(int status) noexcept {
    for (const StatusRow& row : statuses)
        if (row.status == status) return row.title;
    return "Unknown";
}

}    // namespace slipway
