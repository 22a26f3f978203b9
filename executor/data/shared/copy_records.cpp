#include "executor/data/shared/copy_records.h"

#include <algorithm>
#include <cstring>

namespace slipway {

namespace {

constexpr std::size_t record_step = 8;

std::size_t filled_up(std::size_t bytes) {
    return (bytes + record_step - 1) / record_step * record_step;
}

/// Whether each number is below `count`; a list may be absent.
bool are_below(const std::vector<std::int32_t>& numbers, std::size_t count, std::size_t samples) {
    if (numbers.empty() && count == 0) return true;
    return numbers.size() == samples && std::ranges::all_of(numbers, [count](std::int32_t number) {
               return number >= 0 && std::size_t(number) < count;
           });
}

bool fits_together(const DatasetIndex& index) {
    const std::size_t samples = index.labels.size();
    if (index.targets.size() != samples * index.target_names.size()) return false;
    if (index.target_names.empty() && !are_below(index.labels, index.class_names.size(), samples))
        return false;
    const auto fit = [samples](const std::vector<std::int32_t>& list,
                               const std::vector<std::string>& names) {
        return list.empty() || are_below(list, names.size(), samples);
    };
    return fit(index.groups, index.group_names) && fit(index.parts, index.part_names) &&
           std::ranges::all_of(index.feature_dims, [](std::int64_t dim) { return dim > 0; });
}

}    // namespace

void CopyWriter::bytes(std::span<const std::byte> bytes) {
    static constexpr std::byte zeros[record_step] = {};
    const std::uint64_t count = bytes.size();
    sink_(std::as_bytes(std::span(&count, 1)));
    sink_(bytes);
    sink_(std::span(zeros).first(filled_up(bytes.size()) - bytes.size()));
}

void CopyWriter::number(std::int64_t number) {
    bytes(std::as_bytes(std::span(&number, 1)));
}

void CopyWriter::text(std::string_view text) {
    bytes(std::as_bytes(std::span(text)));
}

void CopyWriter::texts(const std::vector<std::string>& texts) {
    number(std::int64_t(texts.size()));
    for (const std::string& each : texts)
        text(each);
}

std::span<const std::byte> CopyReader::bytes() {
    std::uint64_t count = 0;
    if (left_.size() < sizeof count) refuse();
    std::memcpy(&count, left_.data(), sizeof count);
    left_ = left_.subspan(sizeof count);
    if (count > left_.size() || filled_up(count) > left_.size()) refuse();
    const auto found = left_.first(count);
    left_ = left_.subspan(filled_up(count));
    return found;
}

std::int64_t CopyReader::number() {
    const auto found = bytes();
    std::int64_t number = 0;
    if (found.size() != sizeof number) refuse();
    std::memcpy(&number, found.data(), sizeof number);
    return number;
}

std::string CopyReader::text() {
    const auto found = bytes();
    return {reinterpret_cast<const char*>(found.data()), found.size()};
}

std::vector<std::string> CopyReader::texts() {
    const std::int64_t count = number();
    if (count < 0 || std::size_t(count) > left_.size() / record_step) refuse();
    std::vector<std::string> texts;
    for (std::int64_t i = 0; i < count; ++i)
        texts.push_back(text());
    return texts;
}

void CopyReader::refuse() {
    throw Error{ErrorCode::data_loss, "the copy does not hold what it should"};
}

void require_in_copy(bool holds) {
    if (!holds) throw Error{ErrorCode::data_loss, "the copy's parts do not fit together"};
}

void write_index(CopyWriter& to, const DatasetIndex& index) {
    to.numbers(index.feature_dims);
    to.texts(index.class_names);
    to.numbers(index.labels);
    to.texts(index.target_names);
    to.numbers(index.targets);
    to.text(index.group_column);
    to.texts(index.group_names);
    to.numbers(index.groups);
    to.texts(index.part_names);
    to.numbers(index.parts);
    to.texts(index.feature_names);
}

DatasetIndex read_index(CopyReader& from) {
    DatasetIndex index;
    index.feature_dims = from.vector<std::int64_t>();
    index.class_names = from.texts();
    index.labels = from.vector<std::int32_t>();
    index.target_names = from.texts();
    index.targets = from.vector<float>();
    index.group_column = from.text();
    index.group_names = from.texts();
    index.groups = from.vector<std::int32_t>();
    index.part_names = from.texts();
    index.parts = from.vector<std::int32_t>();
    index.feature_names = from.texts();
    require_in_copy(fits_together(index));
    return index;
}

}    // namespace slipway
