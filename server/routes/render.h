#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/json.h"
#include "scheduler/store/access.h"
#include "scheduler/store/attempts.h"
#include "scheduler/store/checkpoints.h"
#include "scheduler/store/datasets.h"
#include "scheduler/store/events.h"
#include "scheduler/store/hosts.h"
#include "scheduler/store/jobs.h"
#include "scheduler/store/members.h"
#include "scheduler/store/projects.h"
#include "scheduler/store/queue.h"
#include "scheduler/store/splits.h"
#include "scheduler/store/stored_json.h"
#include "server/auth/identity.h"
#include "server/http/message.h"
#include "server/routes/queue_forecast.h"

namespace slipway {

using store::JsonText;

/// Stored objects as their JSON on the wire. Pure. What is not known yet is null. Those with much
/// stored JSON are text already.

JsonText render(const store::Job& job, std::optional<int> position,
                std::optional<double> eta_s = {});
JsonText render(const store::Event& event);
JsonText render(const store::Checkpoint& checkpoint);
Json render(const store::AttemptMember& member);
Json render(const store::Slice& slice);
Json render(const store::Attempt& attempt);
Json render(const store::Dataset& dataset);
Json render(const store::StoredSplit& split);
Json render(const store::Upload& upload);
Json render(const store::Host& host);
Json render(const store::Core& core);
Json render(const store::QueuedJob& job, const std::optional<StartEstimate>& estimate);
/// Adds estimated_start_at and estimate_from.
void put_estimate(Json& out, const std::optional<StartEstimate>& estimate);
Json render(const store::Token& token);
Json render(const store::AuditEntry& entry);
Json render(const store::Project& project);
Json render(const store::Membership& membership);
Json render(const Identity& identity);

/// {"items": […], "next_cursor": "…" or null}.
Json render_list(Json items, const std::string& next_cursor = {});
JsonText render_list(const std::vector<JsonText>& items, const std::string& next_cursor = {});

/// Null, or the time as RFC 3339.
Json render_time(const std::optional<Instant>& time);
using store::stored_json;

/// The ETag of an object's version: "\"v7\"".
std::string version_etag(std::int64_t version);

/// JSON as it is sent. Text from users may be broken where an older version let it in: such bytes
/// become U+FFFD.
std::string to_text(const Json& value);

Response json_response(const Json& body, int status = 200);
Response json_text_response(JsonText body, int status = 200);
Response text_response(std::string body, std::string media_type = "text/plain; charset=utf-8");
/// 204.
Response no_content();

}    // namespace slipway
