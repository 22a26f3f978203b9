#include "executor/data/split/certificate.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <unordered_map>

#include "api/base/check.h"
#include "api/base/json.h"
#include "api/base/sha256.h"
#include "executor/tensor/parallel.h"

namespace slipway {

namespace {

/// More numbers than this are left out of a report.
constexpr std::int64_t class_counts_max = 200'000;

std::int64_t count_shared_copies(const Split& split, const Contents& contents) {
    std::vector<bool> trained(contents.numbers.size(), false);
    for (const std::int64_t sample : split.train)
        trained[std::size_t(contents.numbers[std::size_t(sample)])] = true;
    return std::ranges::count_if(split.val, [&](std::int64_t sample) {
        return trained[std::size_t(contents.numbers[std::size_t(sample)])];
    });
}

/// Adds up over the folds.
struct FoldTotals {
    std::vector<std::int64_t> validated;      // [sample]
    std::vector<std::int64_t> last_repeat;    // [sample]: that it validated in
    bool once_in_each = true;
    std::int64_t shared_samples = 0;
    std::int64_t shared_groups = 0;
    std::int64_t shared_copies = 0;

    explicit FoldTotals(std::int64_t samples)
        : validated(std::size_t(samples), 0), last_repeat(std::size_t(samples), -1) {}

    void add(const Split& split, std::int64_t repeat) {
        for (const std::int64_t sample : split.val) {
            once_in_each = once_in_each && last_repeat[std::size_t(sample)] == repeat - 1;
            last_repeat[std::size_t(sample)] = repeat;
            ++validated[std::size_t(sample)];
        }
    }
};

Json describe_fold(std::int64_t fold, const SplitCounts& counts, std::int64_t shared_copies,
                   bool has_groups) {
    const auto of_groups = [&](std::int64_t count) { return has_groups ? Json(count) : Json(); };
    return {{"fold", fold},
            {"train", counts.train},
            {"val", counts.val},
            {"train_groups", of_groups(counts.train_groups)},
            {"val_groups", of_groups(counts.val_groups)},
            {"shared_groups", of_groups(counts.shared_groups)},
            {"shared_copies", shared_copies}};
}

}    // namespace

Contents number_contents(const Dataset& dataset, int threads) {
    std::vector<std::string> hashes(std::size_t(dataset.size()));
    parallel_for(dataset.size(), threads, [&](std::int64_t i) {
        Sha256 hash;
        hash.update(dataset.content(i));
        hashes[std::size_t(i)] = hash.finish();
    });
    Contents contents;
    std::unordered_map<std::string, std::int32_t> numbers;
    for (const std::string& hash : hashes) {
        const auto [found, is_new] = numbers.try_emplace(hash, std::int32_t(numbers.size()));
        contents.copies += is_new ? 0 : 1;
        contents.numbers.push_back(found->second);
    }
    return contents;
}

Json certify(const Folds& folds, const DatasetIndex& index, const SplitTraits& traits,
             const Contents& contents) {
    const bool has_groups = !index.groups.empty();
    const bool has_classes =
        index.target_names.empty() && folds.count * index.class_count() <= class_counts_max;
    FoldTotals totals(index.sample_count());
    Json parts = Json::array();
    for (std::int64_t fold = 0; fold < folds.count; ++fold) {
        const Split split = split_of_fold(folds, fold);
        check(!split.train.empty() && !split.val.empty(), "each fold trains and validates");
        const SplitCounts counts = count_split(index, split);
        const std::int64_t shared_copies = count_shared_copies(split, contents);
        totals.add(split, fold * folds.repeats() / folds.count);
        totals.shared_samples += counts.shared_samples;
        totals.shared_groups += counts.shared_groups;
        totals.shared_copies += shared_copies;
        Json part = describe_fold(fold, counts, shared_copies, has_groups);
        part["train_classes"] = has_classes ? Json(counts.train_classes) : Json::array();
        part["val_classes"] = has_classes ? Json(counts.val_classes) : Json::array();
        parts.push_back(std::move(part));
    }
    const auto [least, most] = std::ranges::minmax(totals.validated);
    const bool each_once = totals.once_in_each && least == folds.repeats() && most == least;
    check(totals.shared_samples == 0, "no sample both trains and validates");
    check(!traits.by_group || totals.shared_groups == 0, "no group both trains and validates");
    check(!traits.each_once || each_once, "each sample validates once in each repeat");
    return {{"samples", index.sample_count()},
            {"folds", folds.count},
            {"repeats", folds.repeats()},
            {"training", to_string(folds.training)},
            {"class_names", has_classes ? Json(index.class_names) : Json::array()},
            {"group_column", has_groups ? Json(index.group_column) : Json()},
            {"groups", has_groups ? Json(index.group_names.size()) : Json()},
            {"certificate",
             {{"validated", {{"min", least}, {"max", most}}},
              {"each_once", traits.each_once ? Json(each_once) : Json()},
              {"shared_samples", totals.shared_samples},
              {"by_group", traits.by_group},
              {"shared_groups", has_groups ? Json(totals.shared_groups) : Json()},
              {"copies", contents.copies},
              {"shared_copies", totals.shared_copies}}},
            {"parts", std::move(parts)}};
}

}    // namespace slipway
