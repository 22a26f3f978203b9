#include "executor/data/packed/pack_layout.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "api/base/sha256.h"

namespace slipway {

std::uint64_t pack_number_at(std::span<const std::byte> bytes, std::size_t at) {
    std::uint64_t value = 0;
    std::memcpy(&value, &bytes[at], sizeof value);
    return value;
}

std::string pack_sum(std::span<std::byte> head, std::string_view problems) {
    std::ranges::fill(head.subspan(pack_sum_at, pack_sum_bytes), std::byte{});
    Sha256 sum;
    sum.update(head);
    sum.update(problems);
    return sum.finish();
}

std::size_t pack_pixels_at(std::size_t samples) {
    return pack_header_bytes + samples * pack_entry_bytes;
}

std::vector<std::byte> pack_head(std::span<const PackedEntry> entries, std::string_view problems) {
    std::vector<std::byte> head(pack_pixels_at(entries.size()));
    std::memcpy(head.data(), pack_magic.data(), pack_magic.size());
    const std::uint64_t numbers[]{pack_version, entries.size(), problems.size()};
    std::memcpy(&head[8], numbers, sizeof numbers);
    if (!entries.empty())
        std::memcpy(&head[pack_header_bytes], entries.data(), entries.size_bytes());
    const std::string sum = pack_sum(head, problems);
    std::memcpy(&head[pack_sum_at], sum.data(), sum.size());
    return head;
}

std::string to_text(const std::vector<PackedProblem>& problems) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& [sample, problem] : problems) {
        list.push_back({{"sample", sample},
                        {"file", problem.file},
                        {"row", problem.row},
                        {"field", problem.field},
                        {"message", problem.message}});
    }
    // File names may be anything: what is not UTF-8 is replaced.
    return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<PackedProblem> packed_problems(std::string_view text) {
    std::vector<PackedProblem> problems;
    try {
        for (const auto& one : nlohmann::json::parse(text)) {
            problems.push_back({one.at("sample").get<std::int64_t>(),
                                {.file = one.at("file").get<std::string>(),
                                 .row = one.at("row").get<std::int64_t>(),
                                 .field = one.at("field").get<std::string>(),
                                 .message = one.at("message").get<std::string>()}});
        }
    } catch (const nlohmann::json::exception& error) {
        throw Error{ErrorCode::data_loss,
                    std::string("the pack's problems cannot be read: ") + error.what()};
    }
    return problems;
}

}    // namespace slipway
