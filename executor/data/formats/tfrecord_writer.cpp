#include "executor/data/formats/tfrecord_writer.h"

#include <cstdint>
#include <span>

#include "executor/data/formats/crc32c.h"

namespace slipway {

namespace {

void add_little_endian(std::string& bytes, std::uint64_t value, int count) {
    for (int i = 0; i < count; ++i)
        bytes += char(value >> 8 * i & 0xFF);
}

std::uint32_t sum_of(std::string_view bytes) {
    return masked_crc32c(std::as_bytes(std::span(bytes)));
}

}    // namespace

std::string tfrecord_of(std::string_view record) {
    std::string bytes;
    bytes.reserve(record.size() + 16);
    add_little_endian(bytes, record.size(), 8);
    add_little_endian(bytes, sum_of(bytes), 4);
    bytes += record;
    add_little_endian(bytes, sum_of(record), 4);
    return bytes;
}

}    // namespace slipway
