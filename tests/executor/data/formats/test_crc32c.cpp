#include "executor/data/formats/crc32c.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/executor/data/formats/make_records.h"
#include "tests/executor/data/make_files.h"

namespace slipway {

TEST(Crc32c, is_what_the_standard_says) {
    EXPECT_EQ(crc32c(as_bytes("123456789")), 0xE3069283U);
    // RFC 3720, B.4
    EXPECT_EQ(crc32c(as_bytes(std::string(32, '\0'))), 0x8A9136AAU);
    EXPECT_EQ(crc32c(as_bytes(std::string(32, '\xFF'))), 0x62A8AB43U);
    EXPECT_EQ(crc32c({}), 0U);
}

// Method: the sum by eight bytes, by the CPU's instruction and by tables, against the sum by bits,
// for every length around the step of 8.
TEST(Crc32c, is_the_sum_by_bits_for_every_length) {
    std::string text;
    for (int length = 0; length < 70; ++length) {
        const std::string sums = framed(text);
        const std::uint32_t sum = masked_crc32c(as_bytes(text));
        for (std::size_t i = 0; i < 4; ++i) {
            const auto byte = static_cast<unsigned char>(sums[sums.size() - 4 + i]);
            EXPECT_EQ(byte, sum >> 8 * i & 0xFF) << length;
        }
        EXPECT_EQ(crc32c_by_tables(as_bytes(text)), crc32c(as_bytes(text))) << length;
        text += char(length * 37 + 11);
    }
}

}    // namespace slipway
