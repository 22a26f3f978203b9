#include "executor/predict/trained_job.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "api/base/parsed_json.h"
#include "api/spec/documents.h"
#include "executor/train/failure_reasons.h"
#include "executor/train/train_error.h"

namespace slipway {

TrainedJob read_trained_job(const std::filesystem::path& checkpoint) {
    Result<TrainingState> loaded = load_training_state(checkpoint);
    if (!loaded) throw TrainError(unusable_reason(loaded.error()), loaded.error().what());
    TrainedJob trained{.state = std::move(loaded).value(), .spec = {}};
    const Json details = Json::parse(trained.state.details, nullptr, false);
    const auto refuse = [&](const std::string& why) {
        throw TrainError("checkpoint_incompatible",
                         fmt::format("the checkpoint {} does not say how it was trained in a way "
                                     "that this version reads: {}",
                                     checkpoint.filename().string(), why));
    };
    if (!details.is_object() || !details.contains("spec")) refuse("it has no spec");
    Decoded<JobSpec> spec = decode_job_spec(details.at("spec"));
    if (!spec.ok()) refuse(joined_messages(spec.problems));
    trained.spec = std::move(spec.value);
    return trained;
}

}    // namespace slipway
