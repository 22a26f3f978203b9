#include "scheduler/sweeps/log_event.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "api/base/error.h"

namespace slipway::sweeps {

namespace {

using search::AskEvent;
using search::EndEvent;
using search::ExtendEvent;
using search::ReportEvent;
using search::RetryEvent;
using search::SearchEvent;

Json report_json(const ReportEvent& event) {
    Json json{{"type", "report"}, {"trial", event.trial}, {"time", event.time}};
    if (std::isfinite(event.value)) {
        json["value"] = event.value;
    } else {
        json["value"] = nullptr;
        json["nonfinite"] = std::isnan(event.value) ? "nan" : event.value > 0 ? "inf" : "-inf";
    }
    return json;
}

double value_of(const Json& json) {
    if (json.at("value").is_number()) return json.at("value").get<double>();
    const std::string word = json.value("nonfinite", "nan");
    if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    return word == "inf" ? infinity : -infinity;
}

Json search_event_json(const SearchEvent& event) {
    if (const auto* report = std::get_if<ReportEvent>(&event)) return report_json(*report);
    if (const auto* end = std::get_if<EndEvent>(&event))
        return {{"type", "end"}, {"trial", end->trial}, {"failed", end->failed}};
    if (const auto* extend = std::get_if<ExtendEvent>(&event))
        return {{"type", "extend"}, {"max_trials", extend->max_trials}};
    if (const auto* retry = std::get_if<RetryEvent>(&event))
        return {{"type", "retry"}, {"trial", retry->trial}};
    Json ask{{"type", "ask"}};
    if (const auto& unit = std::get<AskEvent>(event).unit; !unit.empty()) ask["unit"] = unit;
    return ask;
}

Json lease_json(const LeaseEvent& event) {
    return {{"type", "lease"},
            {"trial", event.trial},
            {"lease_s", event.lease_s > 0 ? Json(event.lease_s) : Json(nullptr)},
            {"free", event.is_free}};
}

LeaseEvent lease_of(const Json& json) {
    const Json& lease_s = json.at("lease_s");
    return {.trial = json.at("trial").get<std::int64_t>(),
            .lease_s = lease_s.is_number() ? lease_s.get<double>() : 0,
            .is_free = json.at("free").get<bool>()};
}

}    // namespace

Json encode(const LoggedEvent& logged) {
    if (const auto* limit = std::get_if<LimitEvent>(&logged.event))
        return {{"type", "limit"}, {"code", limit->code}, {"message", limit->message}};
    if (const auto* lease = std::get_if<LeaseEvent>(&logged.event)) return lease_json(*lease);
    Json json = search_event_json(std::get<SearchEvent>(logged.event));
    if (!logged.detail.empty()) json["detail"] = logged.detail;
    return json;
}

Json encode_decisions(const std::vector<search::Decision>& decisions) {
    Json lines = Json::array();
    for (const search::Decision& decision : decisions)
        lines.push_back(search::encode(decision));
    return lines;
}

LogEvent decode_event(const Json& json) {
    const std::string type = json.is_object() ? json.value("type", "") : std::string();
    if (type == "ask")
        return SearchEvent(AskEvent{.unit = json.value("unit", std::vector<double>())});
    if (type == "report")
        return SearchEvent(ReportEvent{.trial = json.at("trial").get<std::int64_t>(),
                                       .time = json.at("time").get<std::int64_t>(),
                                       .value = value_of(json)});
    if (type == "end")
        return SearchEvent(EndEvent{.trial = json.at("trial").get<std::int64_t>(),
                                    .failed = json.at("failed").get<bool>()});
    if (type == "extend")
        return SearchEvent(ExtendEvent{json.at("max_trials").get<std::int64_t>()});
    if (type == "retry") return SearchEvent(RetryEvent{json.at("trial").get<std::int64_t>()});
    if (type == "limit") return LimitEvent{json.value("code", ""), json.value("message", "")};
    if (type == "lease") return lease_of(json);
    if (type == "state") return StateEvent{};
    throw Error{ErrorCode::data_loss,
                fmt::format("a line of a sweep's log has the type \"{}\", which this version does "
                            "not know",
                            type)};
}

}    // namespace slipway::sweeps
