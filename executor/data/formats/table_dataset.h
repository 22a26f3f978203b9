#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "executor/data/dataset.h"
#include "executor/data/formats/column_rests.h"
#include "executor/data/numbers.h"

namespace slipway {

/// Rows of numbers in memory, one a sample, and where each came from.
class TableDataset final : public Dataset {
public:
    struct Place {
        std::int64_t file = 0;    ///< index of `files`
        std::int64_t row = 0;
    };

    /// `features` has index.feature_count() numbers a sample.
    TableDataset(DatasetIndex index, Numbers<float> features, Numbers<Place> places,
                 std::vector<std::string> files, std::vector<ColumnRests::Rest> rests = {});

    void read(std::int64_t sample, std::span<float> features) const override;
    void read_exact(std::int64_t sample, std::span<double> features) const override;
    std::vector<std::byte> content(std::int64_t sample) const override;
    DataProblem place(std::int64_t sample) const override;
    std::vector<std::string> files() const override { return files_; }
    CopyKind copy_kind() const override { return CopyKind::table; }
    void write_copy(CopyWriter& to) const override;

private:
    Numbers<float> features_;
    Numbers<Place> places_;
    std::vector<std::string> files_;
    std::vector<ColumnRests::Rest> rests_;
};

/// errors  throws exhausted when so many features would be more than is kept in memory
void check_table_size(std::size_t features);

}    // namespace slipway
