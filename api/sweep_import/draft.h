#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "api/sweep_import/sweep_import.h"

namespace slipway {

// What the readers of the different files share: the body as far as it is, and what is wrong.

/// A sweep that is being translated. Readers go on after a problem, so that all are told at once.
struct SweepDraft {
    const SweepImportOptions& options;    ///< outlives the draft
    Json body = {{"objective", Json::object()},
                 {"space", Json::object()},
                 {"algorithm", Json::object()},
                 {"limits", Json::object()}};
    std::vector<std::string> notes = {};
    std::vector<std::string> problems = {};
    std::set<std::string> used_places = {};    ///< names of options.places that the file has

    void note(std::string text) { notes.push_back(std::move(text)); }
    void refuse(std::string text) { problems.push_back(std::move(text)); }
    bool is_external() const { return !options.job; }
};

/// A key of a file. `ignored`: why it is left out; empty: it is read. `refused`: why it cannot be.
struct KnownKey {
    std::string_view name;
    std::string_view ignored = {};
    std::string_view refused = {};
};

/// Notes keys that are left out, refuses those that are not known. `where` is "" or ends in a dot.
/// Anything but an object is refused: false.
bool judge_keys(SweepDraft& draft, const Json& object, const std::string& where,
                std::span<const KnownKey> known);

/// What a key holds when it is of the type; none when it is absent, or refused.
std::optional<double> number_of(SweepDraft& draft, const Json& object, const char* key,
                                const std::string& where);
std::optional<std::int64_t> whole_of(SweepDraft& draft, const Json& object, const char* key,
                                     const std::string& where);
std::optional<std::string> text_of_key(SweepDraft& draft, const Json& object, const char* key,
                                       const std::string& where);
std::optional<bool> flag_of(SweepDraft& draft, const Json& object, const char* key,
                            const std::string& where);

/// A choice of the values of a list, or a constant for a single one.
std::optional<Json> choice_of(SweepDraft& draft, const Json& values, const std::string& where);

/// Multiples of a quantum as a parameter of ours: linear or on a logarithmic scale.
struct QuantisedRange {
    double min = 0;
    double max = 0;
    double quantum = 1;
    bool is_log = false;
};
std::optional<Json> quantised(SweepDraft& draft, const QuantisedRange& range,
                              const std::string& where);

/// Puts a parameter where its name says. `name` is dotted where the file nests.
void put_parameter(SweepDraft& draft, const std::string& name, Json parameter);

/// The objective, of a metric as the file calls it.
void put_metric(SweepDraft& draft, const std::string& name, bool is_smaller_better,
                std::string_view judged_by);

/// The epochs or steps that a constant parameter or the job gives a trial, under the ladder of the
/// algorithm, which says that itself: the parameter goes. None: nothing says it.
std::optional<std::int64_t> take_length(SweepDraft& draft);

// The two kinds of file.
void read_wandb_sweep(SweepDraft& draft, const Json& file);
void read_determined_experiment(SweepDraft& draft, const Json& file);

}    // namespace slipway
