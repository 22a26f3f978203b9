#include "api/base/sha256.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <openssl/sha.h>

#include <array>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "api/base/error.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

std::string by_openssl(std::string_view text) {
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
    std::string hex;
    for (const unsigned char byte : digest)
        hex += fmt::format("{:02x}", byte);
    return hex;
}

std::string random_text(std::mt19937& draw, std::size_t length) {
    std::string text(length, '\0');
    for (char& byte : text)
        byte = char(draw());
    return text;
}

TEST(Sha256, the_examples_of_the_standard) {
    EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256_hex("abc"),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Every place of the end in a block, also where the length needs one more.
TEST(Sha256, every_length_up_to_four_blocks_is_as_openssl_has_it) {
    std::mt19937 draw(1);
    for (std::size_t length = 0; length <= 4 * 64; ++length) {
        const std::string text = random_text(draw, length);
        EXPECT_EQ(sha256_hex(text), by_openssl(text)) << length;
    }
}

TEST(Sha256, pieces_of_any_size_make_the_same_digest) {
    std::mt19937 draw(2);
    for (int round = 0; round < 200; ++round) {
        const std::string text = random_text(draw, draw() % 3000);
        Sha256 hash;
        for (std::string_view rest = text; !rest.empty();) {
            const std::size_t size = std::min<std::size_t>(draw() % 150, rest.size());
            hash.update(rest.substr(0, size));
            rest.remove_prefix(size);
        }
        EXPECT_EQ(hash.finish(), by_openssl(text)) << round;
    }
}

TEST(Sha256, a_file_has_the_digest_of_its_content) {
    const TempFolder folder;
    std::mt19937 draw(4);
    const std::string text = random_text(draw, 600'001);
    std::ofstream(folder.path() / "file", std::ios::binary) << text;
    EXPECT_EQ(sha256_file(folder.path() / "file"), by_openssl(text));
    EXPECT_THROW(sha256_file(folder.path() / "none"), Error);
    EXPECT_THROW(sha256_file(folder.path()), Error);
}

TEST(Sha256, a_moved_digest_goes_on) {
    Sha256 first;
    first.update("ab");
    Sha256 second = std::move(first);
    second.update("c");
    EXPECT_EQ(second.finish(), sha256_hex("abc"));
}

TEST(Sha256DeathTest, takes_nothing_when_it_is_finished) {
    Sha256 hash;
    hash.finish();
    EXPECT_DEATH(hash.update("more"), "until it is finished");
    EXPECT_DEATH(hash.finish(), "finished once");
}

}    // namespace
}    // namespace slipway
