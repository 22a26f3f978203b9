#include "executor/data/problem.h"

#include <fmt/core.h>

#include <utility>

namespace slipway {

namespace {

void shorten(std::string& text, std::size_t bytes_max) {
    if (text.size() <= bytes_max) return;
    std::size_t end = bytes_max;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
        --end;
    text.resize(end);
    text += "…";
}

}    // namespace

DataProblem shortened(DataProblem problem) {
    // A path of the system, a name of a table, a few sentences.
    shorten(problem.file, 4096);
    shorten(problem.field, 1000);
    shorten(problem.message, 4000);
    return problem;
}

std::string to_string(const DataProblem& problem) {
    std::string text = problem.file;
    if (problem.row > 0) text += fmt::format(", row {}", problem.row);
    if (!problem.field.empty()) text += fmt::format(", field {}", problem.field);
    return text.empty() ? problem.message : text + ": " + problem.message;
}

void ProblemLog::add(DataProblem problem) {
    if (mode_ == Mode::throw_first) throw DataError(std::move(problem));
    ++total_;
    if (listed_.size() < listed_max) listed_.push_back(shortened(std::move(problem)));
}

void ProblemLog::warn(DataProblem warning) {
    if (warnings_.size() < listed_max) warnings_.push_back(shortened(std::move(warning)));
}

}    // namespace slipway
