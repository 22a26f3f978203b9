#include "scheduler/search/decision.h"

#include <cmath>

namespace slipway::search {

namespace {

void put_number(Json& json, const char* name, const std::optional<double>& number) {
    if (number) json[name] = std::isfinite(*number) ? Json(*number) : Json(nullptr);
}

void put_count(Json& json, const char* name, const std::optional<std::int64_t>& count) {
    if (count) json[name] = *count;
}

}    // namespace

Json encode(const Decision& decision) {
    Json json{{"action", to_string(decision.action)}, {"reason", decision.reason}};
    if (!decision.rule.empty()) json["rule"] = decision.rule;
    if (decision.trial >= 0) json["trial"] = decision.trial;
    if (decision.until > 0) json["until"] = decision.until;
    if (decision.bracket > 0) json["bracket"] = decision.bracket;
    put_count(json, "rung", decision.rung);
    put_count(json, "time", decision.time);
    put_number(json, "value", decision.value);
    put_count(json, "rank", decision.rank);
    put_count(json, "of", decision.of);
    put_number(json, "cutoff", decision.cutoff);
    put_count(json, "source", decision.source);
    put_count(json, "source_time", decision.source_time);
    put_number(json, "probability", decision.probability);
    if (!decision.point.empty()) json["point"] = decision.point;
    return json;
}

}    // namespace slipway::search
