#include "executor/train/keep.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace slipway {

namespace {

using Entry = KeptCheckpoints::Entry;

bool contains(const std::vector<Entry>& entries, const std::string& name) {
    return std::ranges::any_of(entries, [&](const Entry& one) { return one.name == name; });
}

/// Puts `saved` behind every entry that is at least as good, and cuts the list to the rule.
std::vector<Entry> with_best(const KeepRule& rule, std::vector<Entry> best, const Entry& saved) {
    if (!saved.metric) return best;
    const auto better = [&](const Entry& entry) {
        return rule.smaller_is_better ? *saved.metric < *entry.metric
                                      : *saved.metric > *entry.metric;
    };
    best.insert(std::ranges::find_if(best, better), saved);
    if (std::int64_t(best.size()) > rule.best) best.resize(std::size_t(rule.best));
    return best;
}

nlohmann::json entries_to_json(const std::vector<Entry>& entries) {
    auto list = nlohmann::json::array();
    for (const Entry& entry : entries) {
        list.push_back(
            {{"name", entry.name},
             {"step", entry.step},
             {"metric", entry.metric ? nlohmann::json(*entry.metric) : nlohmann::json()}});
    }
    return list;
}

std::vector<Entry> entries_from_json(const nlohmann::json& list) {
    std::vector<Entry> entries;
    for (const auto& item : list) {
        Entry entry{item.at("name").get<std::string>(), item.at("step").get<std::int64_t>(), {}};
        if (!item.at("metric").is_null()) entry.metric = item.at("metric").get<double>();
        entries.push_back(std::move(entry));
    }
    return entries;
}

}    // namespace

KeepDecision keep(const KeepRule& rule, const KeptCheckpoints& before, const Entry& entry) {
    Entry saved = entry;
    if (saved.metric && !std::isfinite(*saved.metric)) saved.metric.reset();
    KeepDecision decision;
    decision.kept.last = before.last;
    decision.kept.last.push_back(saved);
    while (std::int64_t(decision.kept.last.size()) > std::max<std::int64_t>(1, rule.last)) {
        decision.kept.last.erase(decision.kept.last.begin());
    }
    decision.kept.best = with_best(rule, before.best, saved);

    decision.kinds.emplace_back("last");
    if (contains(decision.kept.best, saved.name)) decision.kinds.emplace_back("best");
    for (const auto* entries : {&before.last, &before.best}) {
        for (const Entry& old : *entries) {
            const bool wanted =
                contains(decision.kept.last, old.name) || contains(decision.kept.best, old.name);
            const bool listed =
                std::ranges::find(decision.pruned, old.name) != decision.pruned.end();
            if (!wanted && !listed) decision.pruned.push_back(old.name);
        }
    }
    return decision;
}

std::vector<std::string> names_of(const std::vector<KeptCheckpoints::Entry>& entries) {
    std::vector<std::string> names;
    for (const KeptCheckpoints::Entry& entry : entries)
        names.push_back(entry.name);
    return names;
}

nlohmann::json to_json(const KeptCheckpoints& kept) {
    return {{"last", entries_to_json(kept.last)}, {"best", entries_to_json(kept.best)}};
}

KeptCheckpoints kept_from_json(const nlohmann::json& json) {
    try {
        return {entries_from_json(json.at("last")), entries_from_json(json.at("best"))};
    } catch (const nlohmann::json::exception& problem) {
        throw Error(ErrorCode::data_loss,
                    std::string("the list of kept checkpoints is damaged: ") + problem.what());
    }
}

}    // namespace slipway
