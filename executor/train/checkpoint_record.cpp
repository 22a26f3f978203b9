#include "executor/train/checkpoint_record.h"

#include <fmt/format.h>

#include <utility>

#include "executor/train/keep.h"

namespace slipway {

SavedCheckpoint next_checkpoint(TrainState& state, const TrainSettings& settings,
                                const MetricValues& evaluated, const CheckpointOrigin& origin) {
    const std::string name = fmt::format("step_{:06}_attempt_{}", state.step, origin.attempt);
    const KeptCheckpoints::Entry entry{name, state.step, value_in(evaluated, settings.keep.metric)};
    KeepDecision decision = keep(settings.keep, state.kept, entry);
    state.kept = decision.kept;
    SavedCheckpoint saved{.name = name,
                          .step = state.step,
                          .epoch = state.step / settings.steps_per_epoch,
                          .kinds = std::move(decision.kinds),
                          .last = names_of(decision.kept.last),
                          .best = names_of(decision.kept.best),
                          .files = {},
                          .metric = {},
                          .pruned = std::move(decision.pruned),
                          .writer = origin.writer};
    if (entry.metric) saved.metric = {{settings.keep.metric, *entry.metric}};
    return saved;
}

}    // namespace slipway
