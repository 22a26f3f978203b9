#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/sweep_import/yaml_json.h"

namespace slipway {
namespace {

Json json_of(const std::string& text) {
    const Result<Json> made = json_of_yaml(text);
    return made ? *made : Json("refused: " + std::string(made.error().what()));
}

std::string yaml_refusal(const std::string& text, const YamlLimits& limits = {}) {
    const Result<Json> made = json_of_yaml(text, limits);
    return made ? "read: " + made->dump() : made.error().what();
}

TEST(YamlJson, plain_words_are_what_they_look_like_and_quoted_ones_text) {
    EXPECT_EQ(
        json_of("[1, -2, 0.5, 1e-4, +3, .5, 1., true, No, ~, '1', \"yes\", adam, 1.2.3, 010, "
                "0x10, 1:30, -, '']"),
        Json::parse(R"([1, -2, 0.5, 0.0001, 3, 0.5, 1.0, true, false, null, "1", "yes", "adam",
                              "1.2.3", "010", "0x10", "1:30", "-", ""])"));
    EXPECT_EQ(json_of("a:\n  b: {c: [1, x]}\n  d:\n"),
              Json::parse(R"({"a": {"b": {"c": [1, "x"]}, "d": null}})"));
    EXPECT_EQ(json_of("9223372036854775807"), Json(INT64_MAX));
    EXPECT_TRUE(json_of("9223372036854775808").is_number_float());
}

TEST(YamlJson, an_alias_is_a_copy) {
    EXPECT_EQ(json_of("a: &x [1, 2]\nb: *x\n"), Json::parse(R"({"a": [1, 2], "b": [1, 2]})"));
}

TEST(YamlJson, values_of_aliases_count) {
    std::string bomb = "a: &a [1,1,1,1,1,1,1,1,1,1]\n";
    for (char name = 'b'; name <= 'i'; ++name) {
        const char before = char(name - 1);
        bomb += std::string(1, name) + ": &" + name + " [";
        for (int i = 0; i < 10; ++i)
            bomb += std::string(i == 0 ? "*" : ",*") + before;
        bomb += "]\n";
    }
    EXPECT_EQ(yaml_refusal(bomb),
              "line 5, column 8: more than 20000 values, with those of aliases");
}

TEST(YamlJson, what_is_above_a_limit_is_refused) {
    EXPECT_EQ(yaml_refusal("[[[1]]]", {.depth_max = 2}), "line 1, column 3: more than 2 levels");
    EXPECT_EQ(yaml_refusal("a: &x [[1]]\nb: [*x]", {.depth_max = 3}).substr(0, 7), "line 2,");
    EXPECT_EQ(yaml_refusal("[1, 2, 3]", {.nodes_max = 3}),
              "line 1, column 8: more than 3 values, with those of aliases");
    EXPECT_EQ(yaml_refusal("[1, 2]", {.bytes_max = 5}), "6 bytes; at most 5 are read");
    std::string deep;
    for (int i = 0; i < 200; ++i)
        deep += std::string(std::size_t(i), ' ') + "a:\n";
    EXPECT_NE(yaml_refusal(deep).find("more than 32 levels"), std::string::npos);
    for (const char* opening : {"[", "{a: ", "- ", "? ", "&a ", "!x "}) {
        std::string text;
        for (int i = 0; i < 50000; ++i)
            text += opening;
        EXPECT_FALSE(bool(json_of_yaml(text))) << opening;
    }
}

TEST(YamlJson, what_json_cannot_say_is_refused) {
    EXPECT_NE(yaml_refusal("a: 1\na: 2\n").find("the key a stands twice"), std::string::npos);
    EXPECT_NE(yaml_refusal("[a]: 1\n").find("a key must be text"), std::string::npos);
    EXPECT_NE(yaml_refusal("a: !!python/object:os.system x").find("is not allowed"),
              std::string::npos);
    EXPECT_NE(yaml_refusal("a: !!map {}").find("is not allowed"), std::string::npos);
    EXPECT_NE(yaml_refusal("a: &x {b: 1}\nc:\n  <<: *x\n").find("merge keys"), std::string::npos);
    EXPECT_NE(yaml_refusal("a: .nan").find("not finite"), std::string::npos);
    EXPECT_NE(yaml_refusal("a: 1e999").find("too large"), std::string::npos);
    EXPECT_NE(yaml_refusal("a: &x [*x]").find("alias"), std::string::npos);
    EXPECT_NE(yaml_refusal("a: 1\n---\nb: 2\n").find("second document"), std::string::npos);
    EXPECT_NE(yaml_refusal("a: *none").find("line 1"), std::string::npos);
    EXPECT_NE(yaml_refusal("a: [1, 2\n").find("no YAML: line"), std::string::npos);
    EXPECT_EQ(yaml_refusal(""), "the file is empty");
    EXPECT_EQ(yaml_refusal("# nothing\n"), "the file is empty");
}

}    // namespace
}    // namespace slipway
