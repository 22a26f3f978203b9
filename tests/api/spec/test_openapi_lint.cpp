// Goal: openapi.json has no error and no warning in the recommended rules of redocly and spectral.
// Method: those rules that a document made from tables can break, each as a test. The programs
// themselves are 80 MB of Node packages, too much for a dependency; docs/contributing/
// adding-a-rest-resource.md says how to run them.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "api/spec/documents.h"
#include "api/spec/endpoints.h"
#include "api/spec/openapi_texts.h"
#include "tests/api/spec/examples.h"

namespace slipway {
namespace {

bool is_text(const Json& object, const std::string& key) {
    return object.contains(key) && object[key].is_string() &&
           !object[key].get<std::string>().empty();
}

void each_operation(const Json& document,
                    const std::function<void(const std::string&, const Json&)>& visit) {
    for (const auto& [path, methods] : document["paths"].items())
        for (const auto& [method, operation] : methods.items())
            visit(method + " " + path, operation);
}

/// Every object below `json`, with where it is.
void each_object(const Json& json, const std::string& at,
                 const std::function<void(const std::string&, const Json&)>& visit) {
    if (json.is_object()) visit(at, json);
    if (!json.is_structured()) return;
    for (const auto& [key, inner] : json.items())
        each_object(inner, at + "/" + key, visit);
}

TEST(OpenApiLint, the_service_says_who_where_and_under_what_terms) {
    const Json document = openapi_document("1.2.3");
    EXPECT_TRUE(is_text(document["info"]["contact"], "name"));
    EXPECT_TRUE(is_text(document["info"]["license"], "name"));
    EXPECT_TRUE(is_text(document["info"]["license"], "identifier"));
    ASSERT_EQ(document["servers"].size(), 1U);
    EXPECT_EQ(document["servers"][0]["url"], "/");
}

TEST(OpenApiLint, each_tag_is_defined_once_with_a_description) {
    const Json document = openapi_document("1.2.3");
    std::set<std::string> tags;
    for (const Json& tag : document["tags"]) {
        EXPECT_TRUE(tags.insert(tag["name"]).second) << tag;
        EXPECT_NE(tag["description"], tag["name"]) << "group_text has no row for it";
    }
    each_operation(document, [&](const std::string& at, const Json& operation) {
        EXPECT_TRUE(tags.contains(operation["tags"].at(0))) << at;
    });
}

TEST(OpenApiLint, operations_are_named_and_described) {
    std::set<std::string> ids;
    each_operation(openapi_document("1"), [&](const std::string& at, const Json& operation) {
        EXPECT_TRUE(ids.insert(operation["operationId"]).second) << at;
        EXPECT_TRUE(is_text(operation, "summary")) << at;
        EXPECT_FALSE(operation["summary"].get<std::string>().ends_with('.')) << at;
        EXPECT_TRUE(is_text(operation, "description")) << at;
    });
}

TEST(OpenApiLint, operations_have_a_success_and_problems) {
    const Json document = openapi_document("1");
    each_operation(document, [&](const std::string& at, const Json& operation) {
        bool success = false;
        for (const auto& [status, given] : operation["responses"].items()) {
            success = success || status.starts_with('2') || status == "default";
            const Json answer =
                given.contains("$ref")
                    ? document.at(Json::json_pointer(given["$ref"].get<std::string>().substr(1)))
                    : given;
            EXPECT_TRUE(is_text(answer, "description")) << at << " " << status;
        }
        EXPECT_TRUE(success) << at;
        EXPECT_TRUE(operation["responses"].contains("500")) << at;
        EXPECT_TRUE(operation["responses"].contains("default")) << at;
    });
}

TEST(OpenApiLint, parameters_are_described_once_and_those_of_the_path_are_in_it) {
    each_operation(openapi_document("1"), [](const std::string& at, const Json& operation) {
        std::set<std::string> names;
        for (const Json& parameter : operation.value("parameters", Json::array())) {
            const std::string name = parameter["name"];
            EXPECT_TRUE(names.insert(parameter["in"].get<std::string>() + name).second) << at;
            EXPECT_TRUE(is_text(parameter, "description")) << at << " " << name;
            if (parameter["in"] != "path") continue;
            EXPECT_NE(at.find("{" + name + "}"), at.npos) << at;
            EXPECT_TRUE(is_text(parameter, "example"))
                << at << " " << name << ": path_parameter_text has no row for it";
        }
    });
}

TEST(OpenApiLint, required_properties_are_defined_and_alternatives_are_several) {
    const Json document = openapi_document("1");
    each_object(document["components"]["schemas"], "", [](const std::string& at, const Json& one) {
        for (const std::string word : {"oneOf", "anyOf", "allOf"})
            if (one.contains(word) && one[word].is_array()) EXPECT_GE(one[word].size(), 2U) << at;
        if (!one.contains("required") || !one["required"].is_array()) return;
        for (const Json& name : one["required"])
            EXPECT_TRUE(one.contains("properties") && one["properties"].contains(name))
                << at << " " << name;
    });
}

TEST(OpenApiLint, every_array_says_what_its_items_are) {
    std::size_t arrays = 0;
    each_object(openapi_document("1"), "", [&](const std::string& at, const Json& one) {
        const Json type = one.value("type", Json());
        const bool is_array =
            type == "array" ||
            (type.is_array() && std::ranges::find(type, Json("array")) != type.end());
        if (!is_array) return;
        ++arrays;
        EXPECT_TRUE(one.contains("items") && one["items"].is_object()) << at;
    });
    EXPECT_GT(arrays, 100U);
}

TEST(OpenApiLint, every_component_is_used) {
    const Json document = openapi_document("1");
    std::set<std::string> used;
    each_object(document, "", [&](const std::string&, const Json& one) {
        if (is_text(one, "$ref")) used.insert(one["$ref"]);
    });
    for (const std::string kind : {"schemas", "responses", "examples"})
        for (const auto& [name, component] : document["components"][kind].items())
            EXPECT_TRUE(used.contains("#/components/" + kind + "/" + name)) << name;
}

TEST(OpenApiLint, every_request_has_an_example_that_the_service_accepts) {
    for (const Endpoint& endpoint : endpoints()) {
        if (!endpoint.request.empty())
            EXPECT_TRUE(document_example(endpoint.request)) << endpoint.request;
        for (const std::string_view name : {endpoint.request, endpoint.response, endpoint.preview})
            if (const auto example = document_example(name))
                EXPECT_EQ(summary_of(check_document(name, *example)), "") << name;
    }
    EXPECT_EQ(summary_of(check_document("Problem", document_example("Problem").value())), "");
}

}    // namespace
}    // namespace slipway
