// Methods are rows of a table: what is always stratified or by group, and a function that draws.
// Samples are dealt like cards: shuffled, then (stratified) stably sorted by class, then one to
// each fold in turn without a break between classes, which spreads each class and the whole
// evenly at once. Groups are placed greedily, the largest first, each into the fold that then
// has the least overlap with it, counted in fractions of each class: the fold for which the sum
// of squared fractions grows least. An exact assignment is a bin packing problem; scikit-learn's
// StratifiedGroupKFold is greedy as well. Every draw follows from seed and repeat alone, by
// streams of their own, so a manifest can be made again.
#include "executor/data/split/folds.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "api/base/check.h"
#include "executor/data/split/draws.h"

namespace slipway {

namespace {

[[noreturn]] void refuse_folds(const std::string& message) {
    throw Error{ErrorCode::invalid_argument, message};
}

using FoldOfSample = std::vector<std::int32_t>;

/// One drawing: of `folds` folds, the first of which has the number `first`.
struct Draw {
    const DatasetIndex& index;
    const SplitCreate& request;
    SplitTraits traits;
    std::int64_t repeat = 0;
    std::int32_t first = 0;

    /// Streams 0 and 1 are split_samples'.
    std::uint64_t stream() const { return 2 + std::uint64_t(repeat); }
    std::uint64_t seed() const { return std::uint64_t(request.seed); }
    std::size_t folds() const { return std::size_t(request.folds); }
};

/// A shuffled order, class after class, is dealt out without a break: each class and the whole are
/// spread evenly at once.
FoldOfSample deal_samples(const Draw& draw) {
    const std::int64_t samples = draw.index.sample_count();
    if (samples < draw.request.folds) {
        refuse_folds(fmt::format("folds must be at most the number of samples ({}), got {}",
                                 samples, draw.request.folds));
    }
    std::vector<std::int64_t> order = shuffled_numbers(samples, draw.seed(), draw.stream());
    if (draw.traits.stratified) {
        std::ranges::stable_sort(
            order, {}, [&](std::int64_t sample) { return draw.index.labels[std::size_t(sample)]; });
    }
    FoldOfSample fold_of(std::size_t(samples), 0);
    for (std::size_t i = 0; i < order.size(); ++i) {
        fold_of[std::size_t(order[i])] = draw.first + std::int32_t(i % draw.folds());
    }
    return fold_of;
}

/// Where a group goes: the fold that has least of what the group has, counted in shares of each
/// class. Of equal ones the smallest, then the first. With one class that is the smallest.
class FoldsOfGroups {
public:
    FoldsOfGroups(std::size_t folds, const std::vector<std::vector<std::int64_t>>& groups)
        : counts_(folds, std::vector<std::int64_t>(groups[0].size(), 0)),
          sizes_(folds, 0),
          totals_(groups[0].size(), 0) {
        for (const auto& group : groups)
            add(group, totals_);
    }

    std::size_t place(const std::vector<std::int64_t>& group) {
        std::size_t best = 0;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t fold = 0; fold < sizes_.size(); ++fold) {
            const double here = overlap(fold, group);
            if (here < least || (here == least && sizes_[fold] < sizes_[best])) {
                best = fold;
                least = here;
            }
        }
        add(group, counts_[best]);
        sizes_[best] += std::accumulate(group.begin(), group.end(), std::int64_t{0});
        return best;
    }

private:
    static void add(const std::vector<std::int64_t>& group, std::vector<std::int64_t>& to) {
        for (std::size_t c = 0; c < to.size(); ++c)
            to[c] += group[c];
    }

    /// How much the sum of squared shares grows, apart from what is the same in every fold.
    double overlap(std::size_t fold, const std::vector<std::int64_t>& group) const {
        double sum = 0;
        for (std::size_t c = 0; c < group.size(); ++c) {
            if (group[c] == 0) continue;
            const double total = double(totals_[c]);
            sum += double(counts_[fold][c]) / total * (double(group[c]) / total);
        }
        return sum;
    }

    std::vector<std::vector<std::int64_t>> counts_;    // [fold][class]
    std::vector<std::int64_t> sizes_;                  // [fold]
    std::vector<std::int64_t> totals_;                 // [class]
};

FoldOfSample samples_of_groups(const DatasetIndex& index, const std::vector<std::int32_t>& fold) {
    FoldOfSample fold_of(index.groups.size());
    for (std::size_t i = 0; i < fold_of.size(); ++i)
        fold_of[i] = fold[std::size_t(index.groups[i])];
    return fold_of;
}

FoldOfSample deal_groups(const Draw& draw) {
    const auto groups = group_sizes(draw.index, draw.traits.stratified);
    if (std::int64_t(groups.size()) < draw.request.folds) {
        refuse_folds(fmt::format("folds must be at most the number of groups ({}), got {}",
                                 groups.size(), draw.request.folds));
    }
    std::vector<std::int64_t> size(groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g)
        size[g] = std::accumulate(groups[g].begin(), groups[g].end(), std::int64_t{0});
    std::vector<std::int64_t> order =
        shuffled_numbers(std::int64_t(groups.size()), draw.seed(), draw.stream());
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [&](std::int64_t group) { return size[std::size_t(group)]; });
    FoldsOfGroups folds(draw.folds(), groups);
    std::vector<std::int32_t> fold(groups.size());
    for (const std::int64_t group : order) {
        fold[std::size_t(group)] =
            draw.first + std::int32_t(folds.place(groups[std::size_t(group)]));
    }
    return samples_of_groups(draw.index, fold);
}

FoldOfSample deal(const Draw& draw) {
    return draw.traits.by_group ? deal_groups(draw) : deal_samples(draw);
}

Folds one_fraction(const Draw& draw) {
    const Split split = split_samples(draw.index, {.val_fraction = draw.request.val_fraction,
                                                   .seed = draw.seed(),
                                                   .by_group = draw.traits.by_group,
                                                   .stratified = draw.traits.stratified});
    FoldOfSample fold_of(draw.index.labels.size(), Folds::nowhere);
    for (const std::int64_t sample : split.val)
        fold_of[std::size_t(sample)] = 0;
    return {.count = 1, .validates_in = {std::move(fold_of)}};
}

Folds once(const Draw& draw) {
    return {.count = draw.request.folds, .validates_in = {deal(draw)}};
}

Folds several_times(const Draw& draw) {
    Folds folds{.count = draw.request.folds * draw.request.repeats, .validates_in = {}};
    for (std::int64_t repeat = 0; repeat < draw.request.repeats; ++repeat) {
        Draw next = draw;
        next.repeat = repeat;
        next.first = std::int32_t(repeat * draw.request.folds);
        folds.validates_in.push_back(deal(next));
    }
    return folds;
}

Folds each_group(const Draw& draw) {
    const auto groups = std::int64_t(draw.index.group_names.size());
    if (groups > split_folds_max) {
        refuse_folds(
            fmt::format("leave_one_group_out takes at most {} groups, the dataset has "
                        "{}; use group_kfold",
                        split_folds_max, groups));
    }
    std::vector<std::int32_t> fold(draw.index.group_names.size());
    std::iota(fold.begin(), fold.end(), 0);
    return {.count = groups, .validates_in = {samples_of_groups(draw.index, fold)}};
}

Folds stretches(const Draw& draw) {
    const std::int64_t samples = draw.index.sample_count();
    const std::int64_t stretch = samples / (draw.request.folds + 1);
    if (stretch == 0) {
        refuse_folds(
            fmt::format("time_series with folds {} needs at least {} samples, the "
                        "dataset has {}",
                        draw.request.folds, draw.request.folds + 1, samples));
    }
    FoldOfSample fold_of(std::size_t(samples), Folds::nowhere);
    const std::int64_t begin = samples - draw.request.folds * stretch;
    for (std::int64_t i = begin; i < samples; ++i)
        fold_of[std::size_t(i)] = std::int32_t((i - begin) / stretch);
    return {.count = draw.request.folds,
            .training = FoldTraining::earlier,
            .validates_in = {std::move(fold_of)}};
}

struct Method {
    SplitMethod name;
    SplitTraits always;    ///< whatever group_by and stratify_by say
    Folds (*draw)(const Draw&);
};

constexpr auto methods = std::to_array<Method>({
    {SplitMethod::fraction, {}, one_fraction},
    {SplitMethod::kfold, {.each_once = true}, once},
    {SplitMethod::stratified_kfold, {.stratified = true, .each_once = true}, once},
    {SplitMethod::group_kfold, {.by_group = true, .each_once = true}, once},
    {SplitMethod::stratified_group_kfold,
     {.by_group = true, .stratified = true, .each_once = true},
     once},
    {SplitMethod::leave_one_group_out, {.by_group = true, .each_once = true}, each_group},
    {SplitMethod::repeated_kfold, {.each_once = true}, several_times},
    {SplitMethod::time_series, {}, stretches},
});

const Method& row_of(SplitMethod name) {
    const auto* row = std::ranges::find(methods, name, &Method::name);
    check(row != methods.end(), "every method of a split has a row");
    return *row;
}

void check_data(const DatasetIndex& index, const SplitTraits& traits) {
    if (index.sample_count() == 0) refuse_folds("a dataset without samples cannot be split");
    if (traits.stratified && index.target_count() > 0) {
        refuse_folds("stratify_by needs classes, and the labels of this dataset are numbers");
    }
    if (!traits.by_group) return;
    if (index.groups.empty()) {
        refuse_folds(
            "a split by group needs a dataset with groups: name their column in group_by, or "
            "create the dataset with the option group_column (csv, image_csv, tfrecord)");
    }
    if (index.group_names.size() < 2) {
        refuse_folds(
            fmt::format("a split by group needs at least 2 groups, the dataset has only "
                        "{}",
                        index.group_names[0]));
    }
}

}    // namespace

std::string_view to_string(FoldTraining training) noexcept {
    return training == FoldTraining::others ? "others" : "earlier";
}

SplitTraits traits_of(const SplitCreate& request) {
    SplitTraits traits = row_of(request.method).always;
    traits.by_group |= !request.group_by.empty();
    traits.stratified |= !request.stratify_by.empty();
    return traits;
}

Folds draw_folds(const DatasetIndex& index, const SplitCreate& request) {
    const SplitTraits traits = traits_of(request);
    check_data(index, traits);
    return row_of(request.method).draw({.index = index, .request = request, .traits = traits});
}

Split split_of_fold(const Folds& folds, std::int64_t fold) {
    if (fold < 0 || fold >= folds.count) {
        refuse_folds(fmt::format("fold must be from 0 to {}, got {}", folds.count - 1, fold));
    }
    const auto repeat = std::size_t(fold * folds.repeats() / folds.count);
    const FoldOfSample& validates_in = folds.validates_in[repeat];
    Split split;
    for (std::size_t i = 0; i < validates_in.size(); ++i) {
        const bool validates = validates_in[i] == fold;
        const bool trains = folds.training == FoldTraining::others || split.val.empty();
        if (validates) {
            split.val.push_back(std::int64_t(i));
        } else if (trains) {
            split.train.push_back(std::int64_t(i));
        }
    }
    return split;
}

}    // namespace slipway
