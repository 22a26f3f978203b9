// What a record says is checked behind two checksums, which no mutation keeps right: here they are
// made for the input.
#include "api/base/check.h"
#include "executor/data/formats/crc32c.h"
#include "executor/data/formats/example.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/read_dataset.h"
#include "tests/fuzz/target.h"
#include "tests/support/little_endian.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace {

std::string with_sum(const std::string& bytes) {
    return bytes + little_endian(masked_crc32c(std::as_bytes(std::span(bytes))), 4);
}

}    // namespace

std::string run_example(std::span<const std::byte> input) {
    const auto read = read_example(input);
    if (!read) {
        check(std::string_view(read.error().what()).find("at byte") != std::string_view::npos,
              "a damaged record's message has the byte");
    }
    const TempFolder folder;
    folder.write("train.tfrecord",
                 with_sum(little_endian(input.size(), 8)) + with_sum(text_of(input)));
    return read_dataset("tfrecord", folder.path());
}

}    // namespace slipway
