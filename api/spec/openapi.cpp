#include <fmt/format.h>

#include <map>

#include "api/spec/documents.h"
#include "api/spec/endpoints.h"
#include "api/spec/requests.h"
#include "api/spec/tables.h"

namespace slipway {

namespace {

constexpr std::string_view prefix = "#/components/schemas/";

struct StatusWords {
    int status;
    std::string_view summary;
};

constexpr auto status_words = std::to_array<StatusWords>({
    {200, "Success."},
    {201, "Created; the Location header has its URL."},
    {204, "Success; no content."},
    {206, "The requested range."},
    {303, "Redirect to the dashboard."},
    {304, "Not modified."},
    {400, "Malformed request."},
    {401, "Missing or invalid credentials."},
    {403, "Insufficient permissions."},
    {404, "Not found, or not visible to the caller."},
    {409, "Not possible in the current state."},
    {410, "The content has been deleted."},
    {412, "Modified since it was last read."},
    {413, "The body is too large."},
    {415, "Unsupported media type of the body."},
    {416, "The range is outside the file."},
    {422, "Invalid fields; `errors` lists all of them."},
    {429, "Too many requests or too much in use; retry after Retry-After."},
    {500, "Internal error; the log contains the request id."},
    {503, "Service unavailable; retry after Retry-After."},
    {507, "Not enough disk space."},
});

std::string_view words_of(int status) {
    for (const StatusWords& row : status_words) {
        if (row.status == status) return row.summary;
    }
    return "See `detail`.";
}

Json reference(std::string_view name) {
    return {{"$ref", fmt::format("{}{}", prefix, name)}};
}

Json query_schema(const QueryParameter& parameter) {
    const auto words = as_strings(parameter.allowed);
    Json schema{{"type", "string"}};
    switch (parameter.type) {
        case QueryType::text:
        case QueryType::pairs:
            break;
        case QueryType::integer:
            schema = {{"type", "integer"}, {"minimum", parameter.min}, {"maximum", parameter.max}};
            if (!parameter.standard.empty()) {
                schema["default"] = Json::parse(parameter.standard);
            }
            return schema;
        case QueryType::flag:
            schema = {{"type", "boolean"}};
            if (!parameter.standard.empty()) schema["default"] = parameter.standard == "true";
            return schema;
        case QueryType::word:
            schema["enum"] = words;
            break;
        case QueryType::words:
            schema = {
                {"type", "array"}, {"items", {{"type", "string"}}}, {"maxItems", query_items_max}};
            if (!words.empty()) schema["items"]["enum"] = words;
            break;
    }
    if (!parameter.standard.empty()) schema["default"] = parameter.standard;
    return schema;
}

Json parameters_of(const Endpoint& endpoint) {
    Json parameters = Json::array();
    for (std::size_t open = endpoint.path.find('{'); open != endpoint.path.npos;
         open = endpoint.path.find('{', open + 1)) {
        const std::size_t close = endpoint.path.find('}', open);
        parameters.push_back({{"name", endpoint.path.substr(open + 1, close - open - 1)},
                              {"in", "path"},
                              {"required", true},
                              {"schema", {{"type", "string"}}}});
    }
    for (const QueryParameter& parameter : endpoint.query) {
        Json row{{"name", parameter.name},
                 {"in", "query"},
                 {"description", parameter.summary},
                 {"schema", query_schema(parameter)}};
        if (parameter.type == QueryType::words) row["explode"] = false;
        parameters.push_back(std::move(row));
    }
    if (endpoint.idempotent_by_key) {
        parameters.push_back(
            {{"name", "Idempotency-Key"},
             {"in", "header"},
             {"description",
              "Key for safe retries: the same key and body return the first response again."},
             {"schema", {{"type", "string"}, {"minLength", 1}, {"maxLength", 128}}}});
    }
    return parameters;
}

Json answer_of(const Endpoint& endpoint) {
    Json answer{{"description", words_of(endpoint.success)}};
    if (endpoint.success == 204 || endpoint.success == 303) return answer;
    Json schema{{"type", "object"}};
    if (!endpoint.response.empty()) {
        schema = reference(endpoint.response);
    } else if (endpoint.media_type != "application/json") {
        schema = {{"type", "string"}};
    }
    answer["content"][std::string(endpoint.media_type)] = {{"schema", std::move(schema)}};
    if (!endpoint.other_media_type.empty()) {
        answer["content"][std::string(endpoint.other_media_type)] = {
            {"schema", {{"type", "string"}}}};
    }
    return answer;
}

Json answers_of(const Endpoint& endpoint) {
    Json answers{{std::to_string(endpoint.success), answer_of(endpoint)}};
    std::vector<int> errors{400, 500, 503};
    if (endpoint.access != Access::open) errors.insert(errors.end(), {401, 403});
    errors.insert(errors.end(), endpoint.errors.begin(), endpoint.errors.end());
    for (const int status : errors) {
        answers[std::to_string(status)] = {
            {"description", words_of(status)},
            {"content", {{"application/problem+json", {{"schema", reference("Problem")}}}}}};
    }
    return answers;
}

// The least role of a token that may.
std::string_view role_of(Access access) {
    if (access == Access::read) return to_string(TokenRole::viewer);
    return to_string(access == Access::write ? TokenRole::editor : TokenRole::admin);
}

Json operation_of(const Endpoint& endpoint) {
    Json operation{{"operationId", endpoint.name},
                   {"tags", Json::array({endpoint.group})},
                   {"summary", endpoint.summary},
                   {"responses", answers_of(endpoint)}};
    if (Json parameters = parameters_of(endpoint); !parameters.empty()) {
        operation["parameters"] = std::move(parameters);
    }
    if (!endpoint.request.empty()) {
        operation["requestBody"] = {
            {"required", true},
            {"content", {{"application/json", {{"schema", reference(endpoint.request)}}}}}};
    } else if (!endpoint.body_media_type.empty()) {
        operation["requestBody"]["required"] = true;
        operation["requestBody"]["content"][std::string(endpoint.body_media_type)] = Json::object();
    }
    if (endpoint.access == Access::open)
        operation["security"] = Json::array();
    else
        operation["x-required-role"] = role_of(endpoint.access);
    return operation;
}

std::string lower_case(std::string_view method) {
    std::string text(method);
    for (char& c : text)
        c = char(c | 0x20);
    return text;
}

}    // namespace

Json openapi_document(std::string_view version) {
    Json paths = Json::object();
    for (const Endpoint& endpoint : endpoints()) {
        paths[std::string(endpoint.path)][lower_case(endpoint.method)] = operation_of(endpoint);
    }
    Definitions definitions{std::string(prefix)};
    for (const auto tables : {request_tables(), job_answer_tables(), report_answer_tables(),
                              queue_answer_tables(), other_answer_tables()}) {
        for (const ObjectTable* const table : tables)
            definitions.refer(*table);
    }
    return {{"openapi", "3.1.0"},
            {"info",
             {{"title", "Slipway"},
              {"version", version},
              {"description", "Managed training on virtual cores."}}},
            {"paths", std::move(paths)},
            {"security", Json::array({{{"token", Json::array()}}, {{"cookie", Json::array()}}})},
            {"components",
             {{"schemas", definitions.all()},
              {"securitySchemes",
               {{"token", {{"type", "http"}, {"scheme", "bearer"}}},
                {"cookie", {{"type", "apiKey"}, {"in", "cookie"}, {"name", "slipway"}}}}}}}};
}

}    // namespace slipway
