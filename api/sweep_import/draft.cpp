#include "api/sweep_import/draft.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "api/base/letter_case.h"
#include "api/spec/table/reader.h"
#include "api/sweep_import/parameter_names.h"

namespace slipway {

namespace {

constexpr double whole_max = 9007199254740992.0;    // 2^53

const Json* found_key(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? nullptr : &*found;
}

bool is_whole(double value) {
    return std::floor(value) == value && std::abs(value) <= whole_max;
}

/// Whole numbers as such, so that fields that count take them.
Json number_json(double value) {
    if (is_whole(value)) return static_cast<std::int64_t>(value);
    return value;
}

/// "Adam" is adam here.
void lower_words(SweepDraft& draft, const std::string& name, Json& parameter) {
    const auto lower = [&](Json& value) {
        if (!value.is_string()) return;
        std::string lowered = lower_case(value.get<std::string>());
        if (lowered == value.get_ref<const std::string&>()) return;
        draft.note(fmt::format("{}: {} is written {} here", name, value.dump(), lowered));
        value = std::move(lowered);
    };
    if (parameter.contains("value")) lower(parameter["value"]);
    if (parameter.contains("values"))
        for (Json& value : parameter["values"])
            lower(value);
}

std::optional<std::string> place_of(SweepDraft& draft, const std::string& name) {
    const auto given = draft.options.places.find(name);
    if (given != draft.options.places.end()) {
        draft.used_places.insert(name);
        if (given->second != skipped_path) return given->second;
        draft.note(fmt::format("parameter {} is left out, as asked for", name));
        return std::nullopt;
    }
    if (draft.is_external()) return name;
    if (auto place = usual_place(name)) return place;
    draft.refuse(
        fmt::format("parameter {}: nobody knows where in the job spec it belongs; --map "
                    "{}=PATH says it, --map {}=- leaves it out",
                    name, name, name));
    return std::nullopt;
}

}    // namespace

bool judge_keys(SweepDraft& draft, const Json& object, const std::string& where,
                std::span<const KnownKey> known) {
    if (!object.is_object()) {
        draft.refuse(fmt::format("{} must hold keys and values",
                                 where.empty() ? "the file" : where.substr(0, where.size() - 1)));
        return false;
    }
    for (const auto& [key, value] : object.items()) {
        const auto row = std::ranges::find(known, key, &KnownKey::name);
        if (row == known.end())
            draft.refuse(fmt::format("{}{} is not known; leave it out", where, shortened(key)));
        else if (!row->refused.empty())
            draft.refuse(fmt::format("{}{}: {}", where, key, row->refused));
        else if (!row->ignored.empty())
            draft.note(fmt::format("{}{} is left out: {}", where, key, row->ignored));
    }
    return true;
}

std::optional<double> number_of(SweepDraft& draft, const Json& object, const char* key,
                                const std::string& where) {
    const Json* value = found_key(object, key);
    if (value == nullptr) return std::nullopt;
    if (value->is_number()) return value->get<double>();
    draft.refuse(fmt::format("{}{} must be a number", where, key));
    return std::nullopt;
}

std::optional<std::int64_t> whole_of(SweepDraft& draft, const Json& object, const char* key,
                                     const std::string& where) {
    const auto value = number_of(draft, object, key, where);
    if (!value) return std::nullopt;
    if (is_whole(*value)) return static_cast<std::int64_t>(*value);
    draft.refuse(fmt::format("{}{} must be a whole number, got {}", where, key, *value));
    return std::nullopt;
}

std::optional<std::string> text_of_key(SweepDraft& draft, const Json& object, const char* key,
                                       const std::string& where) {
    const Json* value = found_key(object, key);
    if (value == nullptr) return std::nullopt;
    if (value->is_string()) return value->get<std::string>();
    draft.refuse(fmt::format("{}{} must be text", where, key));
    return std::nullopt;
}

std::optional<bool> flag_of(SweepDraft& draft, const Json& object, const char* key,
                            const std::string& where) {
    const Json* value = found_key(object, key);
    if (value == nullptr) return std::nullopt;
    if (value->is_boolean()) return value->get<bool>();
    draft.refuse(fmt::format("{}{} must be true or false", where, key));
    return std::nullopt;
}

std::optional<Json> choice_of(SweepDraft& draft, const Json& values, const std::string& where) {
    if (!values.is_array() || values.empty()) {
        draft.refuse(fmt::format("{} must be a list of values", where));
        return std::nullopt;
    }
    if (std::ranges::any_of(values, [](const Json& one) { return one.is_null(); })) {
        draft.refuse(fmt::format("{}: null is no value of a parameter here", where));
        return std::nullopt;
    }
    if (values.size() == 1) return Json{{"type", "constant"}, {"value", values.front()}};
    return Json{{"type", "choice"}, {"values", values}};
}

std::optional<Json> quantised(SweepDraft& draft, const QuantisedRange& range,
                              const std::string& where) {
    const double first = std::ceil(range.min / range.quantum - 1e-9) * range.quantum;
    const double last = std::floor(range.max / range.quantum + 1e-9) * range.quantum;
    if (range.quantum <= 0 || first > last || (range.is_log && first <= 0)) {
        draft.refuse(fmt::format("{}: there are no multiples of {} from {} to {}{}", where,
                                 range.quantum, range.min, range.max,
                                 range.is_log ? " above 0" : ""));
        return std::nullopt;
    }
    if (first != range.min || last != range.max)
        draft.note(fmt::format("{}: the multiples of {} are those from {} to {}", where,
                               range.quantum, first, last));
    const bool counts = is_whole(range.quantum) && is_whole(first);
    const std::string type = std::string(range.is_log ? "log_" : "") + (counts ? "int_" : "");
    return Json{{"type", type + "uniform"},
                {"min", number_json(first)},
                {"max", number_json(last)},
                {"step", number_json(range.quantum)}};
}

void put_parameter(SweepDraft& draft, const std::string& name, Json parameter) {
    const auto place = place_of(draft, name);
    if (!place) return;
    if (*place == "train.optimizer.name" && !draft.is_external())
        lower_words(draft, name, parameter);
    if (draft.body["space"].contains(*place))
        draft.refuse(fmt::format("parameter {}: another one belongs to {} already", name, *place));
    else if (!draft.is_external() && *place != name)
        draft.note(fmt::format("parameter {} is {}", name, *place));
    draft.body["space"][*place] = std::move(parameter);
}

void put_metric(SweepDraft& draft, const std::string& name, bool is_smaller_better,
                std::string_view judged_by) {
    std::string metric = draft.options.metric.empty() ? name : draft.options.metric;
    if (!draft.is_external() && draft.options.metric.empty()) {
        const auto known = usual_metric(name);
        if (!known)
            return draft.refuse(
                fmt::format("metric {}: no metric of the validation part has this name; --metric "
                            "NAME says which one is meant, such as val_loss or val_accuracy",
                            shortened(name)));
        if (*known != name) draft.note(fmt::format("metric {} is {}", name, *known));
        metric = *known;
    }
    draft.body["objective"] = {
        {"metric", metric}, {"mode", is_smaller_better ? "min" : "max"}, {"value", judged_by}};
}

std::optional<std::int64_t> take_length(SweepDraft& draft) {
    Json& space = draft.body["space"];
    for (const auto& [name, parameter] : space.items()) {
        const bool is_length =
            name == "train.epochs" || (draft.is_external() && usual_place(name) == "train.epochs");
        if (!is_length) continue;
        if (parameter.at("type") != "constant" || !parameter.at("value").is_number_integer()) {
            draft.refuse(fmt::format(
                "parameter {} varies, but trials that are stopped early all have one length",
                name));
            return std::nullopt;
        }
        const auto length = parameter.at("value").get<std::int64_t>();
        draft.note(fmt::format("parameter {} says how long the longest trials train", name));
        if (!draft.is_external()) space.erase(name);
        return length;
    }
    if (draft.is_external()) return std::nullopt;
    const auto train = draft.options.job->find("train");
    if (train == draft.options.job->end() || !train->is_object()) return std::nullopt;
    const auto epochs = train->find("epochs");
    if (epochs == train->end() || !epochs->is_number_integer()) return std::nullopt;
    return epochs->get<std::int64_t>();
}

}    // namespace slipway
