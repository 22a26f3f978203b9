#include "executor/data/formats/table_dataset.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "api/base/check.h"
#include "executor/data/formats/format.h"

namespace slipway {

TableDataset::TableDataset(DatasetIndex index, std::vector<float> features,
                           std::vector<Place> places, std::vector<std::string> files,
                           std::vector<ColumnRests::Rest> rests)
    : features_(std::move(features)),
      places_(std::move(places)),
      files_(std::move(files)),
      rests_(std::move(rests)) {
    index_ = std::move(index);
}

void TableDataset::read(std::int64_t sample, std::span<float> features) const {
    const std::size_t columns = std::size_t(index_.feature_count());
    check(features.size() == columns, "a sample is read into a buffer of its features' size");
    std::copy_n(&features_[std::size_t(sample) * columns], columns, features.begin());
}

void TableDataset::read_exact(std::int64_t sample, std::span<double> features) const {
    const std::size_t columns = features.size();
    std::copy_n(&features_[std::size_t(sample) * columns], columns, features.begin());
    for (const ColumnRests::Rest& rest : rests_)
        features[rest.column] += double(rest.rests[std::size_t(sample)]);
}

std::vector<std::byte> TableDataset::content(std::int64_t sample) const {
    std::vector<std::byte> bytes = Dataset::content(sample);
    for (const ColumnRests::Rest& rest : rests_) {
        const auto more = std::as_bytes(std::span(&rest.rests[std::size_t(sample)], 1));
        bytes.insert(bytes.end(), more.begin(), more.end());
    }
    return bytes;
}

DataProblem TableDataset::place(std::int64_t sample) const {
    const Place& place = places_[std::size_t(sample)];
    return {.file = files_[std::size_t(place.file)], .row = place.row};
}

void check_table_size(std::size_t features) {
    if (std::int64_t(features * sizeof(float)) <= table_bytes_max) return;
    throw Error{ErrorCode::exhausted,
                fmt::format("the table has more than {} bytes of features, the most that is kept "
                            "in memory",
                            table_bytes_max)};
}

}    // namespace slipway
