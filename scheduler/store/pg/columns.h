#pragma once

#include <utility>
#include <vector>

#include "scheduler/store/pg/values.h"

namespace slipway::store {

/// A statement for many rows: each of its parameters is an array with an element for each row.
class Columns {
public:
    explicit Columns(const Query& query) : query_(&query) {}

    /// All rows have the same number of values.
    void add(std::vector<Param> row) {
        values_.resize(row.size());
        for (std::size_t place = 0; place < row.size(); ++place)
            values_[place].push_back(std::move(row[place]));
    }

    bool empty() const { return values_.empty(); }

    Statement statement() const {
        Statement made{query_, {}};
        for (const std::vector<Param>& column : values_)
            made.params.push_back(Param::array(column));
        return made;
    }

private:
    const Query* query_;
    std::vector<std::vector<Param>> values_;    ///< by parameter
};

}    // namespace slipway::store
