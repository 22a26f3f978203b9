#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "executor/data/numbers.h"

namespace slipway {

/// What floats leave of a table's numbers, where that matters: of columns whose numbers lie close
/// together and far from 0, such as Unix times, which a float rounds to steps of 128 seconds. A
/// column is watched until its numbers are spread over more than a sixteenth of the largest, which
/// most are after a few rows; from then on nothing is kept of it.
class ColumnRests {
public:
    /// Of one column: a number for each row.
    struct Rest {
        std::size_t column = 0;
        Numbers<float> rests;
    };

    explicit ColumnRests(std::size_t columns);

    bool watches_any() const { return !watched_.empty(); }
    /// The next row: `exact` gives the number of a column, of which kept[column] is the float.
    void add_row(const std::function<double(std::size_t column)>& exact,
                 std::span<const float> kept);
    /// Of the columns where a float has left something.
    std::vector<Rest> take();

private:
    struct Column {
        double first = 0, spread = 0, most = 0;
        std::vector<float> rests;    ///< empty as long as all are 0
    };

    std::vector<Column> columns_;
    std::vector<std::size_t> watched_;
    std::size_t rows_ = 0;
};

class CopyReader;
class CopyWriter;

void write_rests(CopyWriter& to, const std::vector<ColumnRests::Rest>& rests);
/// errors  throws data_loss when they are not of so many rows and columns
std::vector<ColumnRests::Rest> read_rests(CopyReader& from, std::size_t rows, std::size_t columns);

}    // namespace slipway
