#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "api/base/letter_case.h"
#include "api/spec/documents.h"
#include "api/spec/endpoints.h"
#include "api/spec/openapi_texts.h"
#include "api/spec/requests.h"
#include "api/spec/tables.h"

namespace slipway {

namespace {

constexpr std::string_view prefix = "#/components/schemas/";

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
        case QueryType::time:
            schema["format"] = "date-time";
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

Json path_parameter(std::string_view path, std::string_view name) {
    const PathParameterText& text = path_parameter_text(path, name);
    Json parameter{{"name", name},
                   {"in", "path"},
                   {"required", true},
                   {"description", text.summary},
                   {"schema", {{"type", "string"}}}};
    if (!text.example.empty()) parameter["example"] = text.example;
    return parameter;
}

Json parameters_of(const Endpoint& endpoint) {
    Json parameters = Json::array();
    for (std::size_t open = endpoint.path.find('{'); open != endpoint.path.npos;
         open = endpoint.path.find('{', open + 1)) {
        const std::size_t close = endpoint.path.find('}', open);
        parameters.push_back(
            path_parameter(endpoint.path, endpoint.path.substr(open + 1, close - open - 1)));
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

/// A body that is this document.
Json document_content(std::string_view name) {
    Json content{{"schema", reference(name)}};
    if (document_example(name))
        content["examples"]["typical"]["$ref"] = fmt::format("#/components/examples/{}", name);
    return content;
}

Json answer_of(const Endpoint& endpoint) {
    Json answer{{"description", status_text(endpoint.success)}};
    if (endpoint.success == 204 || endpoint.success == 303) return answer;
    Json content{{"schema", {{"type", "object"}}}};
    if (!endpoint.response.empty())
        content = document_content(endpoint.response);
    else if (endpoint.media_type != "application/json")
        content = {{"schema", {{"type", "string"}}}};
    answer["content"][std::string(endpoint.media_type)] = std::move(content);
    if (!endpoint.other_media_type.empty()) {
        answer["content"][std::string(endpoint.other_media_type)] = {
            {"schema", {{"type", "string"}}}};
    }
    return answer;
}

/// A problem of a status, or of any other: one of `problem_answers`.
Json problem_answer(std::string_view status) {
    return {{"$ref", fmt::format("#/components/responses/{}", status)}};
}

Json answers_of(const Endpoint& endpoint) {
    Json answers{{std::to_string(endpoint.success), answer_of(endpoint)},
                 {"default", problem_answer("default")}};
    if (!endpoint.preview.empty()) {
        answers["200"] = {
            {"description", "With `dry_run`: what the request would do. Nothing is stored."},
            {"content", {{"application/json", document_content(endpoint.preview)}}}};
    }
    std::vector<int> errors{400, 500, 503};
    if (endpoint.access != Access::open) errors.insert(errors.end(), {401, 403, 429});
    errors.insert(errors.end(), endpoint.errors.begin(), endpoint.errors.end());
    for (const int status : errors) {
        const std::string word = std::to_string(status);
        answers[word] = problem_answer(word);
    }
    return answers;
}

/// The problems that the operations of `paths` refer to.
Json problem_answers(const Json& paths) {
    const Json content{{"application/problem+json", {{"schema", reference("Problem")}}}};
    Json answers{
        {"default",
         {{"description", "Any other failure, as a problem document."}, {"content", content}}}};
    for (const Json& methods : paths)
        for (const Json& operation : methods)
            for (const auto& [status, answer] : operation["responses"].items())
                if (answer.contains("$ref") && status != "default")
                    answers[status] = {{"description", status_text(std::stoi(status))},
                                       {"content", content}};
    if (answers.contains("422"))
        answers["422"]["content"]["application/problem+json"] = document_content("Problem");
    return answers;
}

/// The examples that bodies refer to.
Json examples(const std::map<std::string, Json>& documents) {
    Json examples = Json::object();
    for (const auto& [name, schema] : documents)
        if (auto example = document_example(name))
            examples[name] = {{"summary", schema.at("description")},
                              {"value", std::move(*example)}};
    return examples;
}

// The least role of a token that may.
std::string_view role_of(Access access) {
    if (access == Access::known || access == Access::read) return to_string(TokenRole::viewer);
    return to_string(access == Access::write ? TokenRole::editor : TokenRole::admin);
}

bool takes(const Endpoint& endpoint, std::string_view parameter) {
    return std::ranges::find(endpoint.query, parameter, &QueryParameter::name) !=
           endpoint.query.end();
}

/// What the endpoint does, who may call it and how it is called safely and in pages.
std::string description_of(const Endpoint& endpoint) {
    std::string text(endpoint.summary);
    if (endpoint.access == Access::open)
        text += "\n\nNo credentials are needed.";
    else
        text += fmt::format("\n\nRequires the role `{}`{}.", role_of(endpoint.access),
                            endpoint.access == Access::admin ? "" : " or a higher one");
    if (takes(endpoint, "cursor"))
        text +=
            "\n\nReturns a page. While `next_cursor` is not null, pass it as `cursor` to get the "
            "next one.";
    if (endpoint.idempotent_by_key)
        text += "\n\nSend an `Idempotency-Key` to be able to repeat the request safely.";
    return text;
}

/// The first sentence; the description has all of them.
std::string_view headline_of(const Endpoint& endpoint) {
    const std::string_view first = endpoint.summary.substr(0, endpoint.summary.find(". "));
    return first.ends_with('.') ? first.substr(0, first.size() - 1) : first;
}

Json operation_of(const Endpoint& endpoint) {
    Json operation{{"operationId", endpoint.name},
                   {"tags", Json::array({endpoint.group})},
                   {"summary", headline_of(endpoint)},
                   {"description", description_of(endpoint)},
                   {"responses", answers_of(endpoint)}};
    if (Json parameters = parameters_of(endpoint); !parameters.empty()) {
        operation["parameters"] = std::move(parameters);
    }
    if (!endpoint.request.empty()) {
        operation["requestBody"] = {
            {"required", true},
            {"content", {{"application/json", document_content(endpoint.request)}}}};
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

/// Every group of endpoints, in their order.
Json tags() {
    Json tags = Json::array();
    std::vector<std::string_view> groups;
    for (const Endpoint& endpoint : endpoints()) {
        if (std::ranges::find(groups, endpoint.group) != groups.end()) continue;
        groups.push_back(endpoint.group);
        tags.push_back({{"name", endpoint.group}, {"description", group_text(endpoint.group)}});
    }
    return tags;
}

}    // namespace

Json openapi_document(std::string_view version) {
    Json paths = Json::object();
    for (const Endpoint& endpoint : endpoints()) {
        paths[std::string(endpoint.path)][lower_case(endpoint.method)] = operation_of(endpoint);
    }
    Definitions definitions{std::string(prefix)};
    for (const auto tables :
         {request_tables(), job_answer_tables(), report_answer_tables(), queue_answer_tables(),
          cross_validation_answer_tables(), sweep_answer_tables(), other_answer_tables()}) {
        for (const ObjectTable* const table : tables)
            definitions.refer(*table);
    }
    Json answers = problem_answers(paths);
    return {{"openapi", "3.1.0"},
            {"info",
             {{"title", "Slipway"},
              {"version", version},
              {"description", "Managed training on virtual cores."},
              {"contact", {{"name", "The operator of this service"}}},
              {"license", {{"name", "Proprietary"}, {"identifier", "LicenseRef-Proprietary"}}}}},
            {"servers",
             Json::array({{{"url", "/"}, {"description", "The service this document is from."}}})},
            {"tags", tags()},
            {"paths", std::move(paths)},
            {"security", Json::array({{{"token", Json::array()}}, {{"cookie", Json::array()}}})},
            {"components",
             {{"schemas", definitions.all()},
              {"responses", std::move(answers)},
              {"examples", examples(definitions.all())},
              {"securitySchemes",
               {{"token", {{"type", "http"}, {"scheme", "bearer"}}},
                {"cookie", {{"type", "apiKey"}, {"in", "cookie"}, {"name", "slipway"}}}}}}}};
}

}    // namespace slipway
