#include "executor/train/evaluation_file.h"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/base/error.h"
#include "api/base/metric_value.h"
#include "api/base/posix.h"

namespace slipway {

namespace {

constexpr std::chrono::seconds pause{1};

}    // namespace

Json evaluation_json(const EvaluationFacts& facts) {
    Json json{{"step", facts.step},
              {"epoch", facts.epoch},
              {"samples", facts.samples},
              {"left_out", Json::array()}};
    put_named_values(json, facts.values);
    if (facts.details.is_object()) json.update(facts.details);
    return json;
}

void write_evaluation(const std::filesystem::path& folder, const EvaluationFacts& facts) {
    std::error_code problem;
    std::filesystem::create_directories(folder, problem);
    if (problem) {
        throw Error{ErrorCode::unavailable,
                    fmt::format("cannot make {}: {}", folder.string(), problem.message())};
    }
    write_file_aside(folder / "evaluation.json", evaluation_json(facts).dump() + "\n");
}

EvaluationFile::EvaluationFile(std::filesystem::path folder, const Clock& clock)
    : folder_(std::move(folder)), clock_(clock), next_(clock.tick() + pause) {}

void EvaluationFile::keep(EvaluationFacts facts) {
    if (!folder_.empty()) unwritten_ = std::move(facts);
}

void EvaluationFile::write() {
    if (!unwritten_) return;
    next_ = clock_.tick() + pause;
    const EvaluationFacts facts = *std::exchange(unwritten_, std::nullopt);
    write_evaluation(folder_, facts);
}

void EvaluationFile::write_when_due() {
    if (unwritten_ && clock_.tick() >= next_) write();
}

}    // namespace slipway
