// Goal: openapi.json is whole: every endpoint, every document it refers to, nothing else.
#include <gtest/gtest.h>

#include <set>

#include "api/spec/dataset_format.h"
#include "api/spec/documents.h"
#include "api/spec/endpoints.h"
#include "tests/api/spec/examples.h"

namespace slipway {
namespace {

void collect_references(const Json& json, std::set<std::string>& found) {
    if (json.is_object() && json.contains("$ref")) found.insert(json["$ref"].get<std::string>());
    if (!json.is_structured()) return;
    for (const Json& inner : json)
        collect_references(inner, found);
}

/// All texts for people: descriptions and summaries.
void collect_texts(const Json& json, std::set<std::string>& found) {
    if (!json.is_structured()) return;
    for (const auto& [key, inner] : json.items()) {
        const bool is_text = inner.is_string() && (key == "description" || key == "summary");
        if (is_text) found.insert(inner.get<std::string>());
        collect_texts(inner, found);
    }
}

TEST(OpenApi, every_reference_leads_to_a_definition_and_every_definition_is_used) {
    const Json document = openapi_document("1.2.3");
    std::set<std::string> references;
    collect_references(document, references);
    for (const std::string& reference : references) {
        EXPECT_TRUE(document.contains(Json::json_pointer(reference.substr(1)))) << reference;
    }
    for (const auto& [name, schema] : document["components"]["schemas"].items()) {
        EXPECT_TRUE(references.contains("#/components/schemas/" + name)) << name;
        EXPECT_TRUE(schema.contains("description")) << name;
    }
}

TEST(OpenApi, every_endpoint_is_there_once) {
    const Json document = openapi_document("1.2.3");
    std::size_t operations = 0;
    std::set<std::string> names;
    for (const auto& path : document["paths"])
        operations += path.size();
    EXPECT_EQ(operations, endpoints().size());
    for (const Endpoint& endpoint : endpoints()) {
        EXPECT_TRUE(names.insert(std::string(endpoint.name)).second) << endpoint.name;
        EXPECT_EQ(&find_endpoint(endpoint.name), &endpoint);
        EXPECT_TRUE(endpoint.summary.ends_with('.')) << endpoint.name;
    }
    EXPECT_EQ(document["openapi"], "3.1.0");
    EXPECT_EQ(document["info"]["version"], "1.2.3");
}

TEST(OpenApi, texts_name_amounts_and_defaults) {
    std::set<std::string> texts;
    collect_texts(openapi_document("1.2.3"), texts);
    EXPECT_GT(texts.size(), 300U);
    for (const std::string& text : texts)
        for (const std::string_view vague :
             {"so many", "So many", "without it ", "Without it ", "any more", "anew"})
            EXPECT_EQ(text.find(vague), text.npos) << text;
}

TEST(OpenApi, path_parameters_and_security_are_said) {
    const Json document = openapi_document("1");
    const Json& file = document["paths"]["/v1/checkpoints/{id}/files/{name}"]["get"];
    EXPECT_EQ(file["parameters"].size(), 2U);
    EXPECT_FALSE(file.contains("security"));
    EXPECT_EQ(document["paths"]["/healthz"]["get"]["security"], Json::array());
    EXPECT_TRUE(document["paths"]["/v1/jobs"]["post"]["responses"].contains("422"));
}

TEST(OpenApi, the_document_is_the_same_at_each_call) {
    EXPECT_EQ(openapi_document("1").dump(), openapi_document("1").dump());
}

TEST(Schema, the_job_spec_describes_its_variants_and_defaults) {
    const Json schema = schema_document("JobSpec");
    EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    const Json& optimizer = schema["$defs"]["OptimizerSpec"]["oneOf"];
    ASSERT_EQ(optimizer.size(), 4U);
    EXPECT_EQ(optimizer[1]["properties"]["name"]["const"], "adam");
    EXPECT_EQ(optimizer[1]["properties"]["eps"]["default"], 1e-8);
    EXPECT_FALSE(optimizer[1]["properties"].contains("momentum"));
    EXPECT_EQ(optimizer[0]["required"], Json::array({"name", "lr"}));
    EXPECT_FALSE(schema["$defs"]["ScheduleSpec"]["anyOf"][0].contains("required"));
    std::set<std::string> references;
    collect_references(schema, references);
    for (const std::string& one : references) {
        EXPECT_TRUE(schema.contains(Json::json_pointer(one.substr(1)))) << one;
    }
}

TEST(Schema, an_unknown_document_is_not_found) {
    EXPECT_THROW(schema_document("Nothing"), Error);
}

TEST(Capabilities, they_list_what_exists_with_its_parameters) {
    const Json document = capabilities_document(Json::array(), Json::object());
    EXPECT_EQ(summary_of(check_document("Capabilities", document)), "");
    EXPECT_EQ(document["architectures"][1]["name"], "lenet");
    EXPECT_TRUE(document["optimizers"][0]["parameters"]["properties"].contains("momentum"));
    EXPECT_FALSE(document["optimizers"][0]["parameters"]["properties"].contains("name"));
    EXPECT_EQ(document["optimizers"][0]["parameters"]["required"], Json::array({"lr"}));
    EXPECT_EQ(document["formats"].size(), all_words<DatasetFormat>().size());
    EXPECT_EQ(document["losses"],
              Json::array({"cross_entropy", "binary_cross_entropy", "mean_squared_error"}));
    std::set<std::string> references;
    collect_references(document, references);
    EXPECT_TRUE(references.contains("#/$defs/InitSpec"));
    for (const std::string& one : references)
        EXPECT_TRUE(document.contains(Json::json_pointer(one.substr(1)))) << one;
}

TEST(Answers, the_tables_judge_answers) {
    Json host{{"name", "a"},       {"pool", "local"},
              {"cores", 8},        {"physical_cpus", 2},
              {"memory_bytes", 1}, {"drained", Json::array()},
              {"drain", nullptr},  {"heartbeat_at", "2030-01-01T00:00:00Z"},
              {"silent_s", 0.5}};
    Json list{{"items", Json::array({host})}, {"next_cursor", nullptr}};
    EXPECT_EQ(summary_of(check_document("HostList", list)), "");
    list["items"][0]["cores"] = "8";
    list["items"][0].erase("name");
    list["items"][0]["extra"] = 1;
    EXPECT_EQ(summary_of(check_document("HostList", list)),
              "/items/0/cores wrong_type\n/items/0/extra unknown_field\n"
              "/items/0/name missing_field\n");
}

TEST(Endpoints, those_that_create_honour_an_idempotency_key_or_give_a_secret) {
    for (const Endpoint& endpoint : endpoints()) {
        if (endpoint.method != "POST" || endpoint.access == Access::open) continue;
        if (endpoint.access == Access::admin) continue;
        if (endpoint.name == "create_login_link") continue;
        EXPECT_TRUE(endpoint.idempotent_by_key) << endpoint.name;
    }
}

struct QueryCase {
    std::string_view endpoint;
    QueryPairs query;
    std::string problems;
};

TEST(Query, right_and_wrong_parameters_are_told_apart) {
    const std::vector<QueryCase> cases{
        {"list_jobs", {}, ""},
        {"list_jobs",
         {{"limit", "200"},
          {"state", "queued,running"},
          {"label", "team:ct,stage:2"},
          {"order_by", "-name"},
          {"cursor", "abc"}},
         ""},
        {"list_jobs", {{"limit", "0"}}, "?limit out_of_bounds\n"},
        {"list_jobs", {{"limit", "201"}}, "?limit out_of_bounds\n"},
        {"list_jobs", {{"limit", "99999999999999999999"}}, "?limit wrong_type\n"},
        {"list_jobs", {{"limit", " 5"}}, "?limit wrong_type\n"},
        {"list_jobs", {{"limit", ""}}, "?limit wrong_type\n"},
        {"list_jobs", {{"limit", "5"}, {"limit", "6"}}, "?limit duplicate_key\n"},
        {"list_jobs", {{"limits", "5"}}, "?limits unknown_field\n"},
        {"list_jobs", {{"state", "queued,"}}, "?state bad_format\n"},
        {"list_jobs", {{"state", "runing"}}, "?state not_allowed\n"},
        {"list_jobs", {{"label", "team"}}, "?label bad_format\n"},
        {"list_jobs", {{"order_by", "size"}}, "?order_by not_allowed\n"},
        {"list_jobs", {{"name", ""}}, "?name bad_format\n"},
        {"create_job", {{"dry_run", "true"}}, ""},
        {"create_job", {{"dry_run", "yes"}}, "?dry_run wrong_type\n"},
        {"get_job", {{"x", "1"}, {"y", "2"}}, "?x unknown_field\n?y unknown_field\n"},
        {"list_job_events", {{"after", "-1"}}, "?after out_of_bounds\n"},
        {"list_job_events", {{"after", "9223372036854775807"}}, ""},
        {"list_job_metrics", {{"names", "val_loss,anything"}}, ""},
    };
    for (const QueryCase& one : cases) {
        EXPECT_EQ(summary_of(check_query(find_endpoint(one.endpoint), one.query)), one.problems)
            << one.endpoint << (one.query.empty() ? "" : one.query.front().second);
    }
}

TEST(Query, lists_have_an_end) {
    const auto repeated = [](const std::string& item, std::size_t count) {
        std::string text = item;
        for (std::size_t i = 1; i < count; ++i)
            text += "," + item;
        return text;
    };
    const std::vector<QueryCase> cases{
        {"list_job_metrics", {{"names", repeated("a", 100)}}, ""},
        {"list_job_metrics", {{"names", repeated("a", 101)}}, "?names out_of_bounds\n"},
        {"list_jobs", {{"label", repeated("a:b", 101)}}, "?label out_of_bounds\n"},
        {"list_jobs", {{"state", repeated("queued", 101)}}, "?state out_of_bounds\n"},
    };
    for (const QueryCase& one : cases)
        EXPECT_EQ(summary_of(check_query(find_endpoint(one.endpoint), one.query)), one.problems);
}

TEST(Query, messages_name_parameter_value_and_fix) {
    const auto problem = [](QueryPairs query) {
        return check_query(find_endpoint("list_jobs"), query).at(0).message;
    };
    EXPECT_EQ(problem({{"limit", "500"}}),
              "the query parameter limit must be a whole number from 1 to 200, got \"500\"");
    EXPECT_NE(problem({{"limits", "5"}}).find("did you mean limit?"), std::string::npos);
    EXPECT_LT(problem({{std::string(9000, 'x'), "5"}}).size(), 300U);
}

}    // namespace
}    // namespace slipway
