#include "executor/checkpoint/safetensors.h"

#include <fmt/core.h>

#include "api/base/check.h"
#include "executor/checkpoint/safetensors_header.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace {

/// What was read is written as a header that reads the same.
void check_header_again(const Safetensors& read) {
    std::vector<TensorEntry> entries;
    std::int64_t at = 0;
    for (const NamedArray& tensor : read.tensors) {
        const std::int64_t end = at + tensor.array.byte_count();
        entries.push_back({tensor.name, tensor.array.shape(), at, end});
        at = end;
    }
    const auto again = parse_safetensors_header(safetensors_header(entries, read.metadata), at);
    check(again && again->tensors.size() == entries.size(),
          "a header that was read can be written");
    check(again->metadata == read.metadata, "metadata are written as they were read");
}

}    // namespace

std::string run_safetensors(std::span<const std::byte> input) {
    const TempFolder folder;
    const auto file = folder.write("model.safetensors", text_of(input));
    const Result<Safetensors> read = read_safetensors(file);
    if (!read) {
        const std::string message = read.error().what();
        check(message.starts_with("model.safetensors: "), "a message names the file");
        return message;
    }
    check_header_again(*read);
    return fmt::format("{} tensors, {} metadata", read->tensors.size(), read->metadata.size());
}

}    // namespace slipway
