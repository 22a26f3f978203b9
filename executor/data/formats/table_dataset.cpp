#include "executor/data/formats/table_dataset.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "api/base/check.h"
#include "executor/data/formats/format.h"
#include "executor/data/shared/copy_records.h"

namespace slipway {

TableDataset::TableDataset(DatasetIndex index, Numbers<float> features, Numbers<Place> places,
                           std::vector<std::string> files, std::vector<ColumnRests::Rest> rests)
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

void TableDataset::write_copy(CopyWriter& to) const {
    write_index(to, index_);
    to.texts(files_);
    to.numbers(features_.span());
    to.numbers(places_.span());
    write_rests(to, rests_);
}

std::unique_ptr<Dataset> read_table_copy(CopyReader& from) {
    DatasetIndex index = read_index(from);
    std::vector<std::string> files = from.texts();
    auto features = from.numbers<float>();
    auto places = from.numbers<TableDataset::Place>();
    const auto samples = std::size_t(index.sample_count());
    require_in_copy(features.size() == samples * std::size_t(index.feature_count()) &&
                    places.size() == samples);
    for (const TableDataset::Place& place : places)
        require_in_copy(place.file >= 0 && std::size_t(place.file) < files.size());
    auto rests = read_rests(from, samples, std::size_t(index.feature_count()));
    return std::make_unique<TableDataset>(std::move(index), std::move(features), std::move(places),
                                          std::move(files), std::move(rests));
}

void check_table_size(std::size_t features) {
    if (std::int64_t(features * sizeof(float)) <= table_bytes_max) return;
    throw Error{ErrorCode::exhausted,
                fmt::format("the table has more than {} bytes of features, the most that is kept "
                            "in memory",
                            table_bytes_max)};
}

}    // namespace slipway
