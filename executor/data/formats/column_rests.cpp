#include "executor/data/formats/column_rests.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "executor/data/shared/copy_records.h"

namespace slipway {

ColumnRests::ColumnRests(std::size_t columns) : columns_(columns), watched_(columns) {
    std::iota(watched_.begin(), watched_.end(), std::size_t{0});
}

void ColumnRests::add_row(const std::function<double(std::size_t column)>& exact,
                          std::span<const float> kept) {
    std::erase_if(watched_, [&](std::size_t at) {
        Column& column = columns_[at];
        const double number = exact(at);
        if (rows_ == 0) column.first = number;
        column.spread = std::max(column.spread, std::abs(number - column.first));
        column.most = std::max(column.most, std::abs(number));
        if (column.spread * 16 > column.most) {
            column.rests = {};
            return true;
        }
        const auto rest = float(number - double(kept[at]));
        // The first that is not 0 brings the zeros of the rows before it.
        if (rest != 0 && column.rests.empty()) column.rests.resize(rows_);
        if (rest != 0 || !column.rests.empty()) column.rests.push_back(rest);
        return false;
    });
    ++rows_;
}

std::vector<ColumnRests::Rest> ColumnRests::take() {
    std::vector<Rest> taken;
    for (const std::size_t at : watched_) {
        if (!columns_[at].rests.empty()) taken.push_back({at, {std::move(columns_[at].rests)}});
    }
    return taken;
}

void write_rests(CopyWriter& to, const std::vector<ColumnRests::Rest>& rests) {
    to.number(std::int64_t(rests.size()));
    for (const ColumnRests::Rest& rest : rests) {
        to.number(std::int64_t(rest.column));
        to.numbers(rest.rests.span());
    }
}

std::vector<ColumnRests::Rest> read_rests(CopyReader& from, std::size_t rows, std::size_t columns) {
    std::vector<ColumnRests::Rest> rests;
    for (std::int64_t count = from.number(); count > 0; --count) {
        const std::int64_t column = from.number();
        rests.push_back({std::size_t(column), from.numbers<float>()});
        require_in_copy(column >= 0 && std::size_t(column) < columns &&
                        rests.back().rests.size() == rows);
    }
    return rests;
}

}    // namespace slipway
