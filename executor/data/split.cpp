#include "executor/data/split.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "api/base/check.h"
#include "executor/data/split/draws.h"

// Samples are drawn in a shuffled order until each class has its share. Groups are whole or not at
// all: in a shuffled order a group is taken when it brings the counts of the classes nearer to what
// is wanted (in squares), and if none does, the one that overshoots least. Every split is counted
// afterwards: no sample and no group on both sides.
namespace slipway {

namespace {

[[noreturn]] void refuse(const std::string& message) {
    throw Error{ErrorCode::invalid_argument, message};
}

std::int64_t share_of(std::int64_t count, double fraction) {
    return std::llround(fraction * double(count));
}

/// Marks validation samples class by class; all samples are one class unless stratified.
std::vector<bool> choose_samples(const DatasetIndex& index, const SplitOptions& options) {
    const std::size_t classes = options.stratified ? std::size_t(index.class_count()) : 1;
    std::vector<std::int64_t> wanted(classes, 0);
    for (const std::int32_t label : index.labels)
        ++wanted[options.stratified ? std::size_t(label) : 0];
    for (std::int64_t& count : wanted)
        count = share_of(count, options.val_fraction);
    std::vector<bool> chosen(index.labels.size(), false);
    for (const std::int64_t sample : shuffled_numbers(index.sample_count(), options.seed, 0)) {
        std::int64_t& left =
            wanted[options.stratified ? std::size_t(index.labels[std::size_t(sample)]) : 0];
        if (left == 0) continue;
        --left;
        chosen[std::size_t(sample)] = true;
    }
    return chosen;
}

std::vector<bool> choose_groups(const DatasetIndex& index, const SplitOptions& options) {
    const auto sizes = group_sizes(index, options.stratified);
    std::vector<double> missing(sizes[0].size(), 0);    // of each class, until the wanted count
    for (const auto& group : sizes) {
        for (std::size_t c = 0; c < missing.size(); ++c) {
            missing[c] += options.val_fraction * double(group[c]);
        }
    }
    // How much nearer the counts come (in squares) when this group is taken.
    const auto gain = [&](std::int64_t group) {
        double sum = 0;
        for (std::size_t c = 0; c < missing.size(); ++c) {
            const double after = missing[c] - double(sizes[std::size_t(group)][c]);
            sum += missing[c] * missing[c] - after * after;
        }
        return sum;
    };
    std::vector<bool> chosen(sizes.size(), false);
    std::size_t count = 0;
    const auto take = [&](std::int64_t group) {
        for (std::size_t c = 0; c < missing.size(); ++c) {
            missing[c] -= double(sizes[std::size_t(group)][c]);
        }
        chosen[std::size_t(group)] = true;
        ++count;
    };
    const std::vector<std::int64_t> order =
        shuffled_numbers(std::int64_t(sizes.size()), options.seed, 1);
    for (const std::int64_t group : order) {
        if (count + 1 < sizes.size() && gain(group) > 0) take(group);
    }
    if (count == 0) {    // every group is too large: the one that overshoots least
        take(*std::max_element(order.begin(), order.end(),
                               [&](std::int64_t a, std::int64_t b) { return gain(a) < gain(b); }));
    }
    std::vector<bool> samples(index.labels.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
        samples[i] = chosen[std::size_t(index.groups[i])];
    }
    return samples;
}

void check_options(const DatasetIndex& index, const SplitOptions& options) {
    if (!(options.val_fraction >= 0 && options.val_fraction < 1)) {
        refuse(fmt::format("val_fraction must be at least 0 and less than 1, got {}",
                           options.val_fraction));
    }
    if (index.sample_count() == 0) refuse("a dataset without samples cannot be split");
    if (options.stratified && index.target_count() > 0) {
        refuse("stratify needs classes, and the labels are numbers; leave stratify out");
    }
    if (!options.by_group) return;
    if (index.groups.empty()) {
        refuse("group_by needs a dataset with groups; create it with the option group_column");
    }
    if (index.group_names.size() < 2 && options.val_fraction > 0) {
        refuse(fmt::format("group_by needs at least 2 groups, the dataset has only {}",
                           index.group_names[0]));
    }
}

std::int32_t part_number(const DatasetIndex& index, const std::string& name) {
    const auto found = std::find(index.part_names.begin(), index.part_names.end(), name);
    if (found == index.part_names.end()) {
        refuse(index.part_names.empty()
                   ? fmt::format("there is no part {}: the dataset has no named parts; use "
                                 "val_fraction",
                                 name)
                   : fmt::format("there is no part {}; there are {}", name,
                                 fmt::join(index.part_names, ", ")));
    }
    return std::int32_t(found - index.part_names.begin());
}

}    // namespace

Split split_samples(const DatasetIndex& index, const SplitOptions& options) {
    check_options(index, options);
    std::vector<bool> validates(index.labels.size(), false);
    if (options.val_fraction > 0) {
        validates =
            options.by_group ? choose_groups(index, options) : choose_samples(index, options);
    }
    const auto val_count = std::size_t(std::ranges::count(validates, true));
    Split split;
    split.val.reserve(val_count);
    split.train.reserve(validates.size() - val_count);
    for (std::size_t i = 0; i < validates.size(); ++i) {
        (validates[i] ? split.val : split.train).push_back(std::int64_t(i));
    }
    if (split.train.empty() || (split.val.empty() && options.val_fraction > 0)) {
        refuse(fmt::format("val_fraction {} of {} samples leaves {} without samples",
                           options.val_fraction, index.sample_count(),
                           split.train.empty() ? "training" : "validation"));
    }
    const SplitCounts counts = count_split(index, split);
    check(counts.shared_samples == 0, "no sample both trains and validates");
    check(!options.by_group || counts.shared_groups == 0, "no group both trains and validates");
    return split;
}

Split split_by_parts(const DatasetIndex& index, const std::string& train, const std::string& val) {
    const std::int32_t train_part = part_number(index, train);
    const std::int32_t val_part = val.empty() ? -1 : part_number(index, val);
    if (train_part == val_part) {
        refuse(fmt::format("train and val are both the part {}; they must differ", train));
    }
    Split split;
    for (std::size_t i = 0; i < index.parts.size(); ++i) {
        if (index.parts[i] == train_part) split.train.push_back(std::int64_t(i));
        if (index.parts[i] == val_part) split.val.push_back(std::int64_t(i));
    }
    if (split.train.empty()) refuse(fmt::format("the part {} has no samples", train));
    if (split.val.empty() && !val.empty()) refuse(fmt::format("the part {} has no samples", val));
    return split;
}

SplitCounts count_split(const DatasetIndex& index, const Split& split) {
    SplitCounts counts;
    counts.train = std::int64_t(split.train.size());
    counts.val = std::int64_t(split.val.size());
    counts.train_classes.resize(index.class_names.size());
    counts.val_classes.resize(index.class_names.size());
    constexpr int trains = 1, validates = 2;
    std::vector<int> samples(index.labels.size(), 0), groups(index.group_names.size(), 0);
    const auto count = [&](const std::vector<std::int64_t>& side, int mark,
                           std::vector<std::int64_t>& classes) {
        for (const std::int64_t sample : side) {
            const auto i = std::size_t(sample);
            samples[i] |= mark;
            if (!classes.empty()) ++classes[std::size_t(index.labels[i])];
            if (!index.groups.empty()) groups[std::size_t(index.groups[i])] |= mark;
        }
    };
    count(split.train, trains, counts.train_classes);
    count(split.val, validates, counts.val_classes);
    counts.shared_samples = std::count(samples.begin(), samples.end(), trains | validates);
    for (const int group : groups) {
        counts.train_groups += (group & trains) != 0;
        counts.val_groups += (group & validates) != 0;
        counts.shared_groups += group == (trains | validates);
    }
    return counts;
}

}    // namespace slipway
