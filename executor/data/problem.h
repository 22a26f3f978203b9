#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/base/error.h"

namespace slipway {

/// One thing wrong with a dataset, in the terms of the person who made it.
struct DataProblem {
    std::string file = {};    ///< relative to the dataset's folder
    std::int64_t row = 0;     ///< 1-based line of a table or item of an idx file; 0: the whole file
    std::string field = {};      ///< column of a table; empty: none
    std::string message = {};    ///< what is wrong with which value, and what to do
};

/// `problem` with texts of lengths that a report can hold: cut at a character, and "…" behind it.
DataProblem shortened(DataProblem problem);

/// "labels.csv, row 17, field age: \"abc\" is not a number".
std::string to_string(const DataProblem& problem);

/// The user's data cannot be used. Every reader of this module throws it for whatever is in the
/// files; other Errors of this module are about the request (not_found, invalid_argument) or the
/// machine (exhausted, unavailable).
class DataError : public Error {
public:
    explicit DataError(DataProblem problem,
                       std::source_location where = std::source_location::current())
        : Error(ErrorCode::data_loss, to_string(shortened(problem)), where),
          problem_(shortened(std::move(problem))) {}
    const DataProblem& problem() const { return problem_; }

private:
    DataProblem problem_;
};

/// What a reader does with a problem: a training run stops at the first, an inspection collects.
class ProblemLog {
public:
    enum class Mode { throw_first, collect };
    static constexpr std::size_t listed_max = 20;

    explicit ProblemLog(Mode mode) : mode_(mode) {}

    Mode mode() const { return mode_; }
    /// Throws DataError when the mode is throw_first.
    void add(DataProblem problem);
    /// The first `listed_max`.
    const std::vector<DataProblem>& listed() const { return listed_; }
    std::int64_t total() const { return total_; }

    /// Notes what can be used and will surprise; in no mode an error.
    void warn(DataProblem warning);
    /// The first `listed_max`.
    const std::vector<DataProblem>& warnings() const { return warnings_; }

private:
    Mode mode_;
    std::vector<DataProblem> listed_, warnings_;
    std::int64_t total_ = 0;
};

}    // namespace slipway
