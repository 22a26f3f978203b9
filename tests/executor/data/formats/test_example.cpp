// Goal: the reader of tf.train.Example takes what protobuf's takes and refuses the rest with the
// byte.
#include "executor/data/formats/example.h"

#include <gtest/gtest.h>

#include <sstream>

#include "executor/tensor/random.h"
#include "tests/executor/data/formats/independent_set.h"
#include "tests/executor/data/formats/make_records.h"
#include "tests/executor/data/make_files.h"

namespace slipway {

namespace {

/// "name kind value,value" a feature, as make_sets.py says it: bytes and floats in hexadecimal.
std::string said(const std::vector<ExampleFeature>& features) {
    std::ostringstream text;
    const auto hexadecimal = [&text](std::string_view bytes) {
        constexpr const char* digits = "0123456789abcdef";
        for (const char c : bytes)
            text << digits[static_cast<unsigned char>(c) >> 4] << digits[c & 0xF];
        text << ',';
    };
    for (const ExampleFeature& feature : features) {
        hexadecimal(feature.name);
        text << to_string(feature.kind) << ':';
        for (const std::string_view value : feature.bytes)
            hexadecimal(value);
        for (const float& value : feature.floats)
            hexadecimal({reinterpret_cast<const char*>(&value), sizeof value});
        for (const std::int64_t value : feature.ints)
            text << value << ',';
        text << ';';
    }
    return text.str();
}

std::string read(const std::string& record) {
    const auto features = read_example(as_bytes(record));
    return features ? said(*features) : std::string("refused: ") + features.error().what();
}

}    // namespace

TEST(Example, lists_of_every_kind_sorted_by_name) {
    EXPECT_EQ(read(example({{"b", ints({3, -1})}, {"a", texts({"x", ""})}, {"c", floats({1})}})),
              "61,bytes:78,,;62,int64:3,-1,;63,float:0000803f,;");
    EXPECT_EQ(read(""), "");
    EXPECT_EQ(read(example({{"e", ""}})), "65,no values:;");
}

TEST(Example, what_protobuf_allows_besides) {
    const std::string unpacked_ints = field(3, "\x08\x05" + std::string("\x08\x06"));
    EXPECT_EQ(read(example({{"a", unpacked_ints}})), "61,int64:5,6,;");
    const std::string unpacked_float = field(2, "\x0D" + std::string("\0\0\x80\x3F", 4));
    EXPECT_EQ(read(example({{"a", unpacked_float}})), "61,float:0000803f,;");
    EXPECT_EQ(read(example({{"a", ints({1})}, {"a", ints({2})}})), "61,int64:2,;");
    EXPECT_EQ(read(example({{"a", ints({1}) + ints({2})}})), "61,int64:1,2,;");
    EXPECT_EQ(read(example({{"a", ints({1}) + texts({"x"})}})), "61,bytes:78,;");
    EXPECT_EQ(read(example({{"a", ints({1})}}) + example({{"b", ints({2})}})),
              "61,int64:1,;62,int64:2,;");
    const std::string unknown = field(9, "later") + "\x50\x07" + "\x59" + std::string(8, 'x');
    EXPECT_EQ(read(unknown + example({{"a", ints({1}) + unknown}})), "61,int64:1,;");
    EXPECT_EQ(read(field(1, field(1, field(2, ints({1}))))), ",int64:1,;");    // no name
}

TEST(Example, damage_is_refused_with_its_byte) {
    const std::string good = example({{"name", ints({300})}});
    for (std::size_t length = 1; length < good.size(); ++length) {
        EXPECT_NE(read(good.substr(0, length)).find("at byte"), std::string::npos) << length;
    }
    for (const auto& [record, words] : std::vector<std::pair<std::string, std::string>>{
             {"\x0A\x05"
              "abc",
              "5 bytes are declared and 3 are left at byte 2"},
             {"\x0B", "wire type 3"},
             {std::string("\x02\x00", 2), "no valid number"},
             {std::string(11, '\xFF'), "more than 5 bytes"},
             {"\x0A\xFF", "cut short"},
             {example({{"\xC3(", ints({1})}}), "UTF-8"},
             {example({{"a", field(2, field(1, "12345"))}}), "4 bytes are declared and 1 are"}}) {
        EXPECT_NE(read(record).find(words), std::string::npos) << read(record);
    }
}

TEST(Example, a_short_record_cannot_ask_for_endless_memory) {
    std::string entries;
    for (std::size_t i = 0; i <= example_features_max; ++i)
        entries += field(1, "");
    EXPECT_NE(read(field(1, entries)).find("more than 10000 features"), std::string::npos);
    const std::string many(example_values_max + 1, '\1');
    EXPECT_NE(read(example({{"a", field(3, field(1, many))}})).find("more than 16777216 values"),
              std::string::npos);
}

// Method: 10,000 messages that Python's protobuf was given too, most of them damaged. A group is
// the one thing that it passes over and we refuse: no version of tf.train.Example has any.
TEST(Example, ten_thousand_messages_as_protobuf_reads_them) {
    const IndependentSet set("messages");
    if (!set.possible) GTEST_SKIP() << "needs python3-protobuf";
    ASSERT_EQ(set.lines.size(), 10'000U);
    int refused = 0, groups = 0;
    for (const std::string& line : set.lines) {
        const std::size_t space = line.find(' ');
        std::string record;
        for (std::size_t i = 0; i + 1 < space; i += 2)
            record += char(std::stoi(line.substr(i, 2), nullptr, 16));
        const std::string expected = line.substr(space + 1);
        const std::string found = read(record);
        if (found.find("has wire type 3") != std::string::npos) {
            ++groups;
            continue;
        }
        if (expected == "refused") {
            ++refused;
            EXPECT_TRUE(found.starts_with("refused")) << line << "\n" << found;
        } else {
            EXPECT_EQ(found, expected) << line;
        }
    }
    EXPECT_GT(refused, 1000);
    EXPECT_LT(refused + groups, 8000);
}

}    // namespace slipway
