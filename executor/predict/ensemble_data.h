#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "executor/data/loader.h"
#include "executor/train/train_data.h"

namespace slipway {

/// The samples of a plan as each of its networks read them in training. What networks were trained
/// on must have the same features and labels; the moments of a table's columns, measured on each
/// training part, may differ. Networks with the same moments share a view.
class EnsembleViews {
public:
    /// `data`, of open_train_data(plan), must outlive it: it has the first network's view.
    /// errors  TrainError spec_error naming the checkpoint that was trained on other samples
    EnsembleViews(const AttemptPlan& plan, const TrainData& data);

    std::size_t count() const { return 1 + others_.size(); }
    /// `view` is below count().
    const Samples& samples(std::size_t view) const;
    /// The view of the plan's i-th checkpoint.
    std::size_t view_of(std::size_t checkpoint) const { return view_of_[checkpoint]; }

private:
    /// Samples of the same files with other moments.
    struct View {
        std::unique_ptr<Dataset> normalized;
        std::unique_ptr<Samples> samples;
    };

    const TrainData& data_;
    std::vector<View> others_;
    std::vector<std::size_t> view_of_;
};

/// Batches of every view, read ahead, in the same order. Run's thread only.
class EnsembleLoader {
public:
    /// `views` must outlive it.
    EnsembleLoader(const EnsembleViews& views, const Sampler& sampler,
                   const LoaderOptions& options);

    /// By view; none after the end.
    /// errors  as Loader::next
    std::optional<std::vector<LoadedBatch>> next();

private:
    std::vector<std::unique_ptr<Loader>> loaders_;
};

}    // namespace slipway
