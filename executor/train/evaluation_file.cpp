#include "executor/train/evaluation_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/base/error.h"
#include "api/base/metric_value.h"
#include "api/base/posix.h"

namespace slipway {

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

}    // namespace slipway
