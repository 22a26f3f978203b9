#include "executor/predict/ensemble_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "executor/train/train_error.h"
#include "executor/train/trained_samples.h"

namespace slipway {

namespace {

/// All but the moments.
bool have_same_form(const TrainedSamples& one, TrainedSamples other) {
    other.mean = one.mean;
    other.deviation = one.deviation;
    return one == other;
}

bool have_same_moments(const TrainedSamples& one, const TrainedSamples& other) {
    return one.mean == other.mean && one.deviation == other.deviation;
}

Moments moments_of(const TrainedSamples& trained) {
    return {trained.mean.empty() ? std::vector<double>{0} : trained.mean,
            trained.deviation.empty() ? std::vector<float>{1} : trained.deviation};
}

void require_same_form(const std::vector<TrainedSamples>& trained,
                       const std::vector<std::filesystem::path>& checkpoints) {
    for (std::size_t i = 1; i < trained.size(); ++i) {
        if (have_same_form(trained.front(), trained[i])) continue;
        throw TrainError(
            "spec_error",
            fmt::format("the networks of an ensemble read the same samples, and {} was trained on "
                        "samples of another shape, other columns or other labels than {}; leave "
                        "one of them out",
                        checkpoints[i].string(), checkpoints.front().string()));
    }
}

}    // namespace

EnsembleViews::EnsembleViews(const AttemptPlan& plan, const TrainData& data) : data_(data) {
    const auto& checkpoints = plan.inference->checkpoints;
    if (checkpoints.size() == 1) {
        view_of_ = {0};
        return;
    }
    std::vector<TrainedSamples> trained, of_view;
    for (const auto& checkpoint : checkpoints)
        trained.push_back(read_trained_samples(checkpoint));
    require_same_form(trained, checkpoints);
    for (const TrainedSamples& one : trained) {
        const auto found = std::ranges::find_if(
            of_view, [&](const TrainedSamples& view) { return have_same_moments(view, one); });
        view_of_.push_back(std::size_t(found - of_view.begin()));
        if (found != of_view.end()) continue;
        of_view.push_back(one);
        if (of_view.size() == 1) continue;    // data's own
        if (data.evaluation) {
            throw TrainError("spec_error",
                             "the networks of an ensemble of augmented images have the same mean "
                             "and std in data.normalize, and these do not; leave one of them out");
        }
        View view{.normalized = normalized(data.images(), moments_of(one)), .samples = {}};
        view.samples = samples_of(plan.spec, *view.normalized);
        others_.push_back(std::move(view));
    }
}

const Samples& EnsembleViews::samples(std::size_t view) const {
    return view == 0 ? data_.evaluated() : *others_[view - 1].samples;
}

EnsembleLoader::EnsembleLoader(const EnsembleViews& views, const Sampler& sampler,
                               const LoaderOptions& options) {
    for (std::size_t view = 0; view < views.count(); ++view)
        loaders_.push_back(std::make_unique<Loader>(views.samples(view), sampler, options));
}

std::optional<std::vector<LoadedBatch>> EnsembleLoader::next() {
    std::vector<LoadedBatch> batches;
    for (const auto& loader : loaders_) {
        auto batch = loader->next();
        if (!batch) return std::nullopt;
        batches.push_back(std::move(*batch));
    }
    return batches;
}

}    // namespace slipway
