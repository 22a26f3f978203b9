#include "executor/explain/epoch_summary.h"

#include <fmt/format.h>

namespace slipway {

std::string describe(const EpochSummary& summary) {
    std::string text = fmt::format(
        "epoch {} of {} (step {}): training {:.3g} s, evaluation {:.3g} s, {:.0f} "
        "samples/s",
        summary.epoch, summary.epochs, summary.step, summary.train_s, summary.evaluate_s,
        summary.samples_per_s);
    for (const auto& [name, value] : summary.values)
        text += fmt::format(", {} {:.4g}", name, value);
    return text;
}

}    // namespace slipway
