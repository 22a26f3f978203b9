#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "executor/data/dataset.h"
#include "executor/data/formats/column_rests.h"

namespace slipway {

/// Rows of numbers in memory, one a sample, and where each came from.
class TableDataset final : public Dataset {
public:
    struct Place {
        std::int32_t file = 0;    ///< index of `files`
        std::int64_t row = 0;
    };

    /// `features` has index.feature_count() numbers a sample.
    TableDataset(DatasetIndex index, std::vector<float> features, std::vector<Place> places,
                 std::vector<std::string> files, std::vector<ColumnRests::Rest> rests = {});

    void read(std::int64_t sample, std::span<float> features) const override;
    void read_exact(std::int64_t sample, std::span<double> features) const override;
    std::vector<std::byte> content(std::int64_t sample) const override;
    DataProblem place(std::int64_t sample) const override;
    std::vector<std::string> files() const override { return files_; }

private:
    std::vector<float> features_;
    std::vector<Place> places_;
    std::vector<std::string> files_;
    std::vector<ColumnRests::Rest> rests_;
};

/// errors  throws exhausted when so many features would be more than is kept in memory
void check_table_size(std::size_t features);

}    // namespace slipway
