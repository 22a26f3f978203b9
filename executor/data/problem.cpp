#include "executor/data/problem.h"

#include <fmt/core.h>

#include <utility>

namespace slipway {

std::string to_string(const DataProblem& problem) {
    std::string text = problem.file;
    if (problem.row > 0) text += fmt::format(", row {}", problem.row);
    if (!problem.field.empty()) text += fmt::format(", field {}", problem.field);
    return text.empty() ? problem.message : text + ": " + problem.message;
}

void ProblemLog::add(DataProblem problem) {
    if (mode_ == Mode::throw_first) throw DataError(std::move(problem));
    ++total_;
    if (listed_.size() < listed_max) listed_.push_back(std::move(problem));
}

}    // namespace slipway
