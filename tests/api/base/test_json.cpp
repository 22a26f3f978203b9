#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "api/base/json.h"
#include "api/base/parsed_json.h"

namespace slipway {
namespace {

std::filesystem::path test_data() {
    const char* const given = std::getenv("SLIPWAY_TEST_DATA");
    return given != nullptr ? given : SLIPWAY_SOURCE_DIR "/../shared/data";
}

std::string content_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream content;
    content << file.rdbuf();
    return content.str();
}

std::string refusal_of(std::string_view text, const JsonLimits& limits = {}) {
    const Result<ParsedJson> parsed = parse_json(text, limits);
    return parsed ? "" : parsed.error().what();
}

// Goal: what RFC 8259 refuses is refused, what it demands is accepted, nothing crashes.
// Method: JSONTestSuite; n_ must be refused, y_ accepted, i_ is ours to choose.
TEST(Json, the_whole_test_suite_is_judged_rightly) {
    const auto folder = test_data() / "json_test_suite";
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no test data at " << folder;
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::string name = entry.path().filename();
        if (entry.path().extension() != ".json") continue;
        ++files;
        const Result<ParsedJson> parsed = parse_json(content_of(entry.path()));
        if (name.starts_with("y_")) {
            EXPECT_TRUE(parsed) << name << ": " << refusal_of(content_of(entry.path()));
        } else if (name.starts_with("n_")) {
            EXPECT_FALSE(parsed) << name;
        }
        if (!parsed) {
            EXPECT_EQ(parsed.error().code(), ErrorCode::invalid_argument) << name;
        }
    }
    EXPECT_EQ(files, 318U);
}

TEST(Json, a_nul_byte_does_not_end_the_text) {
    EXPECT_EQ(refusal_of(std::string_view("123\0", 4)), "not JSON: line 1, column 4: a NUL byte");
    EXPECT_NE(refusal_of(std::string_view("{}\0{}", 5)), "");
    EXPECT_NE(refusal_of(std::string_view("\"a\0b\"", 5)), "");
}

TEST(Json, a_refusal_says_where_and_why) {
    const std::string refusal = refusal_of("{\n  \"a\": 1,\n  \"b\" 2\n}");
    EXPECT_NE(refusal.find("line 3, column 7"), refusal.npos) << refusal;
    EXPECT_EQ(refusal.find("json.exception"), refusal.npos) << refusal;
}

TEST(Json, a_refusal_is_short_and_plain_text_whatever_was_sent) {
    const std::string refusal = refusal_of("\"" + std::string(100000, 'x') + "\xff\xfe\"");
    EXPECT_LT(refusal.size(), 300U);
    for (const char c : refusal)
        EXPECT_GE(c, 0x20) << refusal;
}

TEST(Json, invalid_utf8_and_lone_surrogates_are_refused) {
    for (const std::string text : {"\"\xff\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"\\ud800\"",
                                   "\"\\udc00\\ud800\"", "[\"\xe2\x82\"]"}) {
        EXPECT_NE(refusal_of(text), "") << text;
    }
}

TEST(Json, nesting_is_limited_at_exactly_the_limit) {
    const auto nested = [](std::size_t depth) {
        return std::string(depth, '[') + std::string(depth, ']');
    };
    EXPECT_EQ(refusal_of(nested(32)), "");
    EXPECT_NE(refusal_of(nested(33)), "");
    EXPECT_EQ(refusal_of(nested(5), {.depth_max = 5}), "");
    EXPECT_NE(refusal_of(nested(6), {.depth_max = 5}), "");
}

TEST(Json, a_hundred_thousand_levels_are_refused_without_harm) {
    EXPECT_NE(refusal_of(std::string(100000, '[') + std::string(100000, ']')), "");
    EXPECT_NE(refusal_of(std::string(100000, '[')), "");
    std::string objects;
    for (int level = 0; level < 100000; ++level)
        objects += "{\"a\":";
    EXPECT_NE(refusal_of(objects), "");
}

TEST(Json, items_and_bytes_are_limited_at_exactly_the_limit) {
    EXPECT_EQ(refusal_of("[1,2,3]", {.items_max = 3}), "");
    EXPECT_NE(refusal_of("[1,2,3,4]", {.items_max = 3}), "");
    EXPECT_NE(refusal_of(R"({"a":{"b":[1,2,3,4]}})", {.items_max = 3}).find("/a/b"),
              std::string::npos);
    EXPECT_NE(refusal_of(R"({"a":1,"b":2})", {.items_max = 1}), "");
    EXPECT_EQ(refusal_of("[1,2]", {.bytes_max = 5}), "");
    EXPECT_NE(refusal_of("[1,2,3]", {.bytes_max = 5}), "");
}

TEST(Json, duplicate_keys_are_reported_with_their_pointers) {
    const ParsedJson parsed =
        parse_json(R"({"a":1,"b":[{"c/d":1,"c/d":{"e":1,"e":2}}],"a":3})").value();
    ASSERT_EQ(parsed.duplicates.size(), 3U);
    EXPECT_EQ(parsed.duplicates[0].pointer, "/b/0/c~1d");
    EXPECT_EQ(parsed.duplicates[1].pointer, "/b/0/c~1d/e");
    EXPECT_EQ(parsed.duplicates[2].pointer, "/a");
    EXPECT_EQ(parsed.duplicates[2].code, "duplicate_key");
    EXPECT_EQ(parsed.value["a"], 3);
}

TEST(Json, equal_keys_of_different_objects_are_no_duplicates) {
    EXPECT_TRUE(parse_json(R"([{"a":1},{"a":{"a":2}}])").value().duplicates.empty());
}

TEST(Json, the_list_of_duplicates_is_bounded) {
    std::string text = "{\"a\":0";
    for (int index = 0; index < 5000; ++index)
        text += ",\"a\":1";
    EXPECT_EQ(parse_json(text + "}").value().duplicates.size(), 100U);
}

TEST(Json, numbers_beyond_a_double_become_infinities_where_they_stand) {
    const ParsedJson parsed =
        parse_json(R"([1, "1e999", 1e999, {"a-1e999": -1e999}, 2.5, 1e308])").value();
    const Json& value = parsed.value;
    EXPECT_EQ(value[0], 1);
    EXPECT_EQ(value[1], "1e999");
    EXPECT_EQ(value[2].get<double>(), INFINITY);
    EXPECT_EQ(value[3]["a-1e999"].get<double>(), -INFINITY);
    EXPECT_EQ(value[4], 2.5);
    EXPECT_EQ(value[5], 1e308);
    EXPECT_EQ(parse_json(std::string(400, '9')).value().value.get<double>(), INFINITY);
}

TEST(Json, malformed_numbers_are_refused_even_when_they_are_huge) {
    for (const std::string text : {"01e999", "1e999.5", "-", "--1e999", "1e999e1", "[1e999 2]",
                                   "+1e999", ".1e999", "1.e999", "1e", "1e999x", "NaN", "Infinity"})
        EXPECT_NE(refusal_of(text), "") << text;
}

TEST(Json, small_and_exact_numbers_stay_what_they_are) {
    const Json value = parse_json("[1e-999, 9007199254740993, -9223372036854775808]").value().value;
    EXPECT_EQ(value[0].get<double>(), 0.0);
    EXPECT_EQ(value[1].get<std::int64_t>(), 9007199254740993);
    EXPECT_EQ(value[2].get<std::int64_t>(), INT64_MIN);
}

TEST(Json, many_huge_numbers_take_no_longer_than_small_ones) {
    std::string text = "[";
    for (int row = 0; row < 100; ++row) {
        text += row == 0 ? "[" : ",[";
        for (int column = 0; column < 1500; ++column)
            text += column == 0 ? "1e999" : ",1e999";
        text += "]";
    }
    EXPECT_EQ(parse_json(text + "]").value().value[99][1499].get<double>(), INFINITY);
}

TEST(Json, pointers_escape_what_rfc_6901_escapes) {
    EXPECT_EQ(json_pointer("/a", "b/c~d"), "/a/b~1c~0d");
    EXPECT_EQ(json_pointer("", std::size_t{3}), "/3");
    EXPECT_EQ(json_pointer("", ""), "/");
}

}    // namespace
}    // namespace slipway
