#include "api/spec/data_version.h"

#include <gtest/gtest.h>

#include <string>

namespace slipway {

namespace {

const std::string digits = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

}    // namespace

TEST(DataVersion, is_a_content_hash_or_how_one_begins) {
    for (const std::string& text : {digits, "sha256:" + digits, digits.substr(0, 8),
                                    "sha256:" + digits.substr(0, 8), digits.substr(0, 33)})
        EXPECT_TRUE(is_data_version(text)) << text;
    for (const std::string& text :
         {std::string(), std::string("sha256:"), digits.substr(0, 7),
          "sha256:" + digits.substr(0, 7), digits + "0", "sha512:" + digits.substr(0, 8),
          std::string("0123456G"), std::string("0123456F"), std::string("latest"),
          std::string("01234567 ")})
        EXPECT_FALSE(is_data_version(text)) << text;
}

TEST(DataVersion, finds_the_data_set_whose_hash_begins_so) {
    const std::string hash = "sha256:" + digits;
    for (const std::string& version : {hash, digits, digits.substr(0, 8), hash.substr(0, 20)})
        EXPECT_TRUE(is_of_version(hash, version)) << version;
    EXPECT_FALSE(is_of_version(hash, "12345678"));
    EXPECT_FALSE(is_of_version(hash, "sha256:0123456789abcdee"));
    EXPECT_FALSE(is_of_version("", digits.substr(0, 8))) << "not checked yet";
}

}    // namespace slipway
