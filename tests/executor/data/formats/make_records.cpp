#include "tests/executor/data/formats/make_records.h"

#include <bit>

#include "tests/support/little_endian.h"

namespace slipway {

namespace {

std::string masked_sum(const std::string& text) {
    std::uint32_t sum = 0xFFFFFFFF;
    for (const char c : text) {
        sum ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit < 8; ++bit)
            sum = sum >> 1 ^ ((sum & 1) != 0 ? 0x82F63B78U : 0U);
    }
    sum = ~sum;
    return little_endian(((sum >> 15) | (sum << 17)) + 0xA282EAD8U, 4);
}

}    // namespace

std::string varint(std::uint64_t value) {
    std::string text;
    for (; value >= 0x80; value >>= 7)
        text += char(value | 0x80);
    return text + char(value);
}

std::string field(int number, const std::string& content) {
    return varint(std::uint64_t(number) << 3 | 2) + varint(content.size()) + content;
}

std::string texts(const std::vector<std::string>& values) {
    std::string list;
    for (const std::string& value : values)
        list += field(1, value);
    return field(1, list);
}

std::string floats(const std::vector<float>& values) {
    std::string packed;
    for (const float value : values)
        packed += little_endian(std::bit_cast<std::uint32_t>(value), 4);
    return field(2, field(1, packed));
}

std::string ints(const std::vector<std::int64_t>& values) {
    std::string packed;
    for (const std::int64_t value : values)
        packed += varint(std::uint64_t(value));
    return field(3, field(1, packed));
}

std::string example(const std::vector<std::pair<std::string, std::string>>& features) {
    std::string map;
    for (const auto& [name, feature] : features)
        map += field(1, field(1, name) + field(2, feature));
    return field(1, map);
}

std::string framed(const std::string& record) {
    const std::string length = little_endian(record.size(), 8);
    return length + masked_sum(length) + record + masked_sum(record);
}

}    // namespace slipway
