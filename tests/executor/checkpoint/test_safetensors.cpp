#include "executor/checkpoint/safetensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "api/base/sha256.h"
#include "executor/checkpoint/safetensors_header.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

std::vector<NamedArray> some_tensors() {
    return {
        {"weight", array_of<float>({2, 3}, std::array{1.0F, -2.5F, 3.0F, 4.0F, 0.0F, 1e-30F})},
        {"mask", array_of<bool>({3}, std::array{true, false, true})},
        {"steps", array_of<std::int64_t>({}, std::array{std::int64_t{1} << 40})},
        {"bytes", array_of<std::uint8_t>({2}, std::array{std::uint8_t{7}, std::uint8_t{255}})},
        {"precise", array_of<double>({1}, std::array{1.0 / 3})},
        {"indices", array_of<std::int32_t>({2}, std::array{-1, 5})},
        {"nothing", Array(Shape{DType::f32, {0, 4}})},
    };
}

/// header length, header, data: whatever they are.
std::string file_of(const std::string& header, const std::string& data) {
    std::uint64_t length = header.size();
    std::string file(8, '\0');
    std::memcpy(file.data(), &length, 8);
    return file + header + data;
}

ErrorCode refusal(const std::string& file) {
    const TempFolder folder;
    const Result<Safetensors> read = read_safetensors(folder.write("x.safetensors", file));
    EXPECT_FALSE(read);
    return read ? ErrorCode::internal : read.error().code();
}

ErrorCode write_refusal(const fs::path& path) {
    try {
        const std::vector<NamedArray> tensors = {{"w", Array(Shape{DType::f32, {100'000}})}};
        write_safetensors(path, tensors);
    } catch (const Error& error) {    // the test looks at what was thrown
        return error.code();
    }
    ADD_FAILURE() << "no Error was thrown";
    return ErrorCode::internal;
}

}    // namespace

TEST(Safetensors, what_is_written_is_read_again) {
    const TempFolder folder;
    const std::vector<NamedArray> tensors = some_tensors();
    const WrittenFile file =
        write_safetensors(folder.path() / "x.safetensors", tensors, {{"format", "pt"}});
    const std::string bytes = read_file(folder.path() / "x.safetensors");
    EXPECT_EQ(file.name, "x.safetensors");
    EXPECT_EQ(file.bytes, std::int64_t(bytes.size()));
    EXPECT_EQ(file.sha256, sha256_hex(bytes));

    const Result<Safetensors> read = read_safetensors(folder.path() / "x.safetensors");
    ASSERT_TRUE(read) << read.error().what();
    EXPECT_EQ(read->metadata.at("format"), "pt");
    ASSERT_EQ(read->tensors.size(), tensors.size());
    for (const NamedArray& wanted : tensors) {
        const auto found = std::find_if(read->tensors.begin(), read->tensors.end(),
                                        [&](const auto& got) { return got.name == wanted.name; });
        ASSERT_NE(found, read->tensors.end()) << wanted.name;
        EXPECT_EQ(found->array.shape(), wanted.array.shape());
        EXPECT_EQ(std::memcmp(found->array.bytes(), wanted.array.bytes(),
                              std::size_t(wanted.array.byte_count())),
                  0);
    }
}

TEST(Safetensors, the_data_begins_aligned_and_the_same_tensors_give_the_same_bytes) {
    const TempFolder folder;
    write_safetensors(folder.path() / "a", some_tensors());
    write_safetensors(folder.path() / "b", some_tensors());
    const std::string bytes = read_file(folder.path() / "a");
    EXPECT_EQ(bytes, read_file(folder.path() / "b"));
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    EXPECT_EQ((8 + length) % 64, 0U);
    EXPECT_EQ(bytes[8], '{');
}

TEST(Safetensors, a_file_without_tensors_is_a_file) {
    const TempFolder folder;
    write_safetensors(folder.path() / "x", {});
    EXPECT_TRUE(read_safetensors(folder.path() / "x")->tensors.empty());
}

// Goal: hostile files end in a typed error before anything of their size is taken.
TEST(Safetensors, refuses_headers_that_lie) {
    const std::string data(8, '\0');
    const std::vector<std::string> headers = {
        "",
        "null",
        "[]",
        "7",
        "\"text\"",
        "{",
        "{}x",
        "{}",                                                           // does not cover the data
        R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",    // covers half
        R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})",
        R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,9]}})",
        R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",    // a hole
        R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},
            "b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",    // overlap
        R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},
            "b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},
            "a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",    // twice
        R"({"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F16","shape":[3],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"I16","shape":[2],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F12","shape":[4],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"f32","shape":[2],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":1,"shape":[2],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":["F32"],"shape":[2],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F32","shape":2,"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F32","shape":"2","data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F32","shape":[[2]],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F32","shape":[{}],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F32","shape":[null],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F32","shape":[4611686018427387904,2],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0]}})",
        R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4,8]}})",
        R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,18446744073709551615]}})",
        R"({"a":{"dtype":"F32","shape":[2]}})",
        R"({"a":{"dtype":"F32","data_offsets":[0,8]}})",
        R"({"a":{"shape":[2],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"extra":1}})",
        R"({"a":[]})",
        R"({"a":null})",
        R"({"__metadata__":{"a":1},"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
        R"({"__metadata__":{"a":"1","a":"2"},
            "b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
        R"({"__metadata__":[],"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
        std::string(100'000, '['),
        "{\"a\":" + std::string(100'000, '{'),
        std::string("{\"a\0\":1}", 8),
        "{\"\xFF\":{}}",
    };
    for (const std::string& header : headers) {
        EXPECT_EQ(refusal(file_of(header, data)), ErrorCode::data_loss) << header.substr(0, 100);
    }
    const std::string good = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
    const TempFolder folder;
    EXPECT_TRUE(read_safetensors(folder.write("good", file_of(good, data))));
}

TEST(Safetensors, refuses_lengths_beyond_the_file_and_the_limit) {
    for (const std::uint64_t length :
         {std::uint64_t{3}, std::uint64_t{1} << 40, std::numeric_limits<std::uint64_t>::max(),
          std::uint64_t{1} << 63}) {
        std::string file = file_of("{}", "");
        std::memcpy(file.data(), &length, 8);
        EXPECT_EQ(refusal(file), ErrorCode::data_loss);
    }
    EXPECT_EQ(refusal(file_of("{}" + std::string(17 << 20, ' '), "")), ErrorCode::data_loss);
    for (std::size_t length = 0; length < 8; ++length) {
        EXPECT_EQ(refusal(std::string(length, '\0')), ErrorCode::data_loss);
    }
}

TEST(Safetensors, halves_are_widened) {
    // 1, -2, the least subnormal, the largest finite, infinity, not a number
    const std::array<std::uint16_t, 6> halves{0x3c00, 0xc000, 0x0001, 0x7bff, 0x7c00, 0x7e00};
    std::string data(12, '\0');
    std::memcpy(data.data(), halves.data(), data.size());
    const TempFolder folder;
    const auto read = read_safetensors(folder.write(
        "x", file_of(R"({"a":{"dtype":"F16","shape":[2,3],"data_offsets":[0,12]}})", data)));
    ASSERT_TRUE(read) << read.error().what();
    EXPECT_EQ(to_string(read->tensors[0].array.shape()), "f32[2,3]");
    const auto values = read->tensors[0].array.as<float>();
    EXPECT_EQ(values[0], 1.0F);
    EXPECT_EQ(values[1], -2.0F);
    EXPECT_EQ(values[2], std::ldexp(1.0F, -24));
    EXPECT_EQ(values[3], 65504.0F);
    EXPECT_TRUE(std::isinf(values[4]));
    EXPECT_TRUE(std::isnan(values[5]));
}

TEST(Safetensors, a_tensor_of_a_type_that_arrays_lack_is_named_and_not_read) {
    const TempFolder folder;
    const auto read = read_safetensors(
        folder.write("x", file_of(R"({"a":{"dtype":"I16","shape":[2,1],"data_offsets":[0,4]},
            "b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                                  std::string(8, '\0'))));
    ASSERT_TRUE(read) << read.error().what();
    EXPECT_EQ(read->unread, (std::map<std::string, std::string>{{"a", "I16[2,1]"}}));
    ASSERT_EQ(read->tensors.size(), 1U);
    EXPECT_EQ(read->tensors[0].name, "b");
}

TEST(Safetensors, a_bool_is_0_or_1) {
    const std::string header = R"({"a":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})";
    EXPECT_EQ(refusal(file_of(header, "\x01\x02")), ErrorCode::data_loss);
}

// Goal: no damage crashes, and none outside the tensors' bytes and names goes unseen.
TEST(Safetensors, cut_or_flipped_anywhere_is_an_error_or_other_values) {
    const TempFolder folder;
    write_safetensors(folder.path() / "x", some_tensors());
    const std::string file = read_file(folder.path() / "x");
    for (std::size_t i = 0; i < file.size(); ++i) {
        EXPECT_EQ(refusal(file.substr(0, i)), ErrorCode::data_loss) << i;
        std::string flipped = file;
        flipped[i] = char(flipped[i] ^ (1 << (i % 8)));
        fs::remove(folder.path() / "y");    // a rewritten file would wait for the disk
        const Result<Safetensors> read = read_safetensors(folder.write("y", flipped));
        if (!read) {
            EXPECT_EQ(read.error().code(), ErrorCode::data_loss);
        }
    }
    EXPECT_EQ(refusal(file + "x"), ErrorCode::data_loss);
}

TEST(Safetensors, what_cannot_be_opened_or_is_too_large_says_so) {
    const TempFolder folder;
    EXPECT_EQ(read_safetensors(folder.path() / "none").error().code(), ErrorCode::not_found);
    EXPECT_EQ(read_safetensors(folder.path()).error().code(), ErrorCode::not_found);
    EXPECT_EQ(read_safetensors("/dev/zero").error().code(), ErrorCode::not_found);
    write_safetensors(folder.path() / "x", some_tensors());
    EXPECT_EQ(read_safetensors(folder.path() / "x", 100).error().code(), ErrorCode::exhausted);
}

TEST(Safetensors, a_full_disk_is_named_as_such) {
    const TempFolder folder;
    fs::create_symlink("/dev/full", folder.path() / "full");
    EXPECT_EQ(write_refusal(folder.path() / "full"), ErrorCode::exhausted);
    EXPECT_TRUE(fs::exists("/dev/full"));
    EXPECT_EQ(write_refusal("/nonexistent/x"), ErrorCode::unavailable);
}

TEST(Sha256, is_the_standards) {
    EXPECT_EQ(sha256_hex("abc"),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    const TempFolder folder;
    const std::string text(1'000'000, 'a');
    EXPECT_EQ(sha256_file(folder.write("a", text)),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    EXPECT_EQ(sha256_hex(text), sha256_file(folder.path() / "a"));
    EXPECT_THROW(sha256_file(folder.path() / "none"), Error);
}

}    // namespace slipway
