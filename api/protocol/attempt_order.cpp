#include "api/protocol/attempt_order.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "api/protocol/compatibility.h"
#include "api/protocol/members.h"

namespace slipway {

namespace {

Json to_json(const DatasetOrder& dataset) {
    return {{"id", dataset.id},           {"name", dataset.name},
            {"format", dataset.format},   {"path", dataset.path},
            {"options", dataset.options}, {"content_hash", dataset.content_hash}};
}

DatasetOrder read_dataset_order(const Json& json) {
    return {.id = member<std::string>(json, "id"),
            .name = member<std::string>(json, "name"),
            .format = member<std::string>(json, "format"),
            .path = member<std::string>(json, "path"),
            .options = member<Json>(json, "options"),
            .content_hash = member<std::string>(json, "content_hash")};
}

JobKind read_kind(const Json& json) {
    const auto word = member<std::string>(json, "kind");
    if (const auto kind = parse_word<JobKind>(word)) return *kind;
    throw Error{ErrorCode::invalid_argument,
                fmt::format("kind must be one of {}, got \"{}\"",
                            fmt::join(all_words<JobKind>(), ", "), word)};
}

Json read_payload(const Json& json) {
    Json payload = member<Json>(json, "payload");
    if (payload.is_null() || payload.is_object()) return payload;
    throw Error{ErrorCode::invalid_argument,
                fmt::format("payload must be null or an object, got {}", payload.type_name())};
}

Json to_json(const StoredSplitOrder& split) {
    return {{"path", split.path}, {"hash", split.hash}};
}

StoredSplitOrder read_stored_split_order(const Json& json) {
    return {.path = member<std::string>(json, "path"), .hash = member<std::string>(json, "hash")};
}

Json to_json(const MemberOrder& member) {
    return {{"rank", member.rank},
            {"hosts", member.hosts},
            {"rendezvous_folder", member.rendezvous_folder},
            {"secret", member.secret},
            {"bind_address", member.bind_address},
            {"timeout_s", member.timeout_s}};
}

MemberOrder read_member_order(const Json& json) {
    MemberOrder order{.rank = member<int>(json, "rank"),
                      .hosts = member<std::vector<std::string>>(json, "hosts"),
                      .rendezvous_folder = member<std::string>(json, "rendezvous_folder"),
                      .secret = member<std::string>(json, "secret"),
                      .bind_address = member<std::string>(json, "bind_address"),
                      .timeout_s = member<double>(json, "timeout_s")};
    if (order.hosts.size() < 2) {
        throw Error{
            ErrorCode::invalid_argument,
            fmt::format("member.hosts must name at least 2 hosts, got {}", order.hosts.size())};
    }
    if (order.rank < 0 || std::size_t(order.rank) >= order.hosts.size()) {
        throw Error{ErrorCode::invalid_argument,
                    fmt::format("member.rank must be within 0..{}, got {}", order.hosts.size() - 1,
                                order.rank)};
    }
    return order;
}

Json to_json(const std::string& text) {
    return text;
}

std::string read_text(const Json& json) {
    return json.get<std::string>();
}

template <class T>
Json or_null(const std::optional<T>& value) {
    return value ? to_json(*value) : Json();
}

template <class T>
std::optional<T> unless_null(const Json& json, const char* name, T (*read)(const Json&)) {
    const Json value = member<Json>(json, name);
    if (value.is_null()) return std::nullopt;
    return read(value);
}

}    // namespace

Json to_json(const AttemptOrder& order) {
    return {{"version", order.version},
            {"job_id", order.job_id},
            {"attempt", order.attempt},
            {"fence", order.fence},
            {"kind", to_string(order.kind)},
            {"spec", order.spec},
            {"payload", order.payload},
            {"dataset", to_json(order.dataset)},
            {"checkpoint_folder", order.checkpoint_folder},
            {"resume_from", or_null(order.resume_from)},
            {"init_from", or_null(order.init_from)},
            {"network_from", or_null(order.network_from)},
            {"checkpoints", order.checkpoints},
            {"split", or_null(order.split)},
            {"member", or_null(order.member)},
            {"saves_requested", order.saves_requested},
            {"worker_threads", order.worker_threads},
            {"grace_s", order.grace_s},
            {"memory_bytes", order.memory_bytes},
            {"report_folder", order.report_folder},
            {"cache_folder", order.cache_folder},
            {"packed_folder", order.packed_folder},
            {"decoded_folder", order.decoded_folder},
            {"decoded_bytes_max", order.decoded_bytes_max},
            {"traceparent", order.traceparent}};
}

AttemptOrder read_attempt_order(const Json& json) {
    try {
        AttemptOrder order;
        order.version = member<int>(json, "version");
        if (answer_of(Program::executor, age_of(order.version, protocol_version)) !=
            Answer::serve) {
            throw Error{ErrorCode::invalid_argument,
                        fmt::format("the order is of protocol version {}, and this executor is of "
                                    "version {}; install the service and the executor of one build",
                                    order.version, protocol_version)};
        }
        order.job_id = member<std::string>(json, "job_id");
        order.attempt = member<int>(json, "attempt");
        order.fence = member<std::string>(json, "fence");
        order.kind = read_kind(json);
        order.spec = member<Json>(json, "spec");
        order.payload = read_payload(json);
        order.dataset = read_dataset_order(member<Json>(json, "dataset"));
        order.checkpoint_folder = member<std::string>(json, "checkpoint_folder");
        order.resume_from = unless_null(json, "resume_from", read_text);
        order.init_from = unless_null(json, "init_from", read_text);
        order.network_from = unless_null(json, "network_from", read_text);
        order.checkpoints = member<std::vector<std::string>>(json, "checkpoints");
        order.split = unless_null(json, "split", read_stored_split_order);
        order.member = unless_null(json, "member", read_member_order);
        order.saves_requested = member<std::int64_t>(json, "saves_requested");
        order.worker_threads = member<int>(json, "worker_threads");
        order.grace_s = member<double>(json, "grace_s");
        order.memory_bytes = member<std::int64_t>(json, "memory_bytes");
        order.report_folder = member<std::string>(json, "report_folder");
        order.cache_folder = member<std::string>(json, "cache_folder");
        order.packed_folder = member<std::string>(json, "packed_folder");
        order.decoded_folder = member<std::string>(json, "decoded_folder");
        order.decoded_bytes_max = member<std::int64_t>(json, "decoded_bytes_max");
        order.traceparent = member<std::string>(json, "traceparent");
        return order;
    } catch (const Json::exception& error) {
        throw Error{ErrorCode::invalid_argument, error.what()};
    }
}

}    // namespace slipway
