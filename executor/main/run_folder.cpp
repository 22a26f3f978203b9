#include "executor/main/run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "api/base/descriptors.h"
#include "api/base/parsed_json.h"
#include "api/protocol/attempt_order.h"
#include "api/protocol/slice_memory.h"
#include "api/spec/documents.h"
#include "executor/main/job_kinds.h"
#include "executor/runtime/cpus.h"
#include "executor/runtime/run_plan.h"

namespace slipway {

namespace {

Result<JobSpec> decode(Decoded<JobSpec> decoded) {
    if (decoded.ok()) return std::move(decoded.value);
    return Error{ErrorCode::invalid_argument, joined_messages(decoded.problems)};
}

/// errors  invalid_argument naming the field
void require_sound(const MemberOrder& member, JobKind kind, std::int64_t cores) {
    const auto refuse = [](const std::string& message) {
        throw Error{ErrorCode::invalid_argument, message};
    };
    const auto members = std::int64_t(member.hosts.size());
    if (kind != JobKind::train)
        refuse(fmt::format("member must be null for the kind {}", to_string(kind)));
    if (members < 2) refuse(fmt::format("member.hosts must be at least 2, got {}", members));
    if (member.rank < 0 || member.rank >= members)
        refuse(fmt::format("member.rank must be 0 to {}, got {}", members - 1, member.rank));
    if (member.timeout_s <= 0)
        refuse(fmt::format("member.timeout_s must be positive, got {}", member.timeout_s));
    if (cores % members != 0 || !std::has_single_bit(std::uint64_t(cores / members)))
        refuse(
            fmt::format("{} cores cannot be shared by {} hosts: each must have the same power "
                        "of two of them",
                        cores, members));
}

AttemptPlan plan_of(const AttemptOrder& order) {
    AttemptPlan plan;
    plan.kind = order.kind;
    row_of(order.kind).read_payload(order, plan);
    plan.spec = decode(decode_job_spec(order.spec)).value();
    plan.dataset_format = order.dataset.format;
    plan.dataset_path = order.dataset.path;
    plan.dataset_options = order.dataset.options.dump();
    plan.dataset_content_hash = order.dataset.content_hash;
    plan.checkpoint_folder = order.checkpoint_folder;
    plan.resume_from = order.resume_from;
    plan.init_from = order.init_from;
    plan.network_from = order.network_from;
    if (order.split) {
        plan.split_file = SplitFile{.path = order.split->path,
                                    .hash = order.split->hash,
                                    .content_hash = order.dataset.content_hash};
    }
    plan.attempt = order.attempt;
    // Who wrote the order may not know how many CPUs are granted here, on another machine.
    plan.worker_threads = std::min(order.worker_threads, granted_cpus());
    plan.memory_bytes_max = order.memory_bytes;
    plan.report_folder = order.report_folder;
    plan.cache_folder = order.cache_folder;
    plan.packed_folder = order.packed_folder;
    plan.sharing.folder = order.decoded_folder;
    plan.sharing.bytes_max = order.decoded_bytes_max;
    plan.cpu_scope = machine_cpu_scope;
    if (order.member) require_sound(*order.member, order.kind, plan.spec.accelerator.cores);
    plan.member = order.member;
    if (plan.member) plan.member->shared_memory = inherited_descriptor(slice_memory_variable);
    return plan;
}

}    // namespace

Result<ResolvedAttempt> read_attempt(const std::filesystem::path& run_folder) {
    const std::filesystem::path path = run_folder / "attempt.json";
    std::ifstream file(path, std::ios::binary);
    if (!file) return Error{ErrorCode::not_found, fmt::format("cannot read {}", path.string())};
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    // The service wrote it, and refuses jobs that make it too large.
    const auto parsed = parse_json(text, {.bytes_max = attempt_order_bytes_max});
    if (!parsed)
        return Error{ErrorCode::internal,
                     fmt::format("{} is no order: {}", path.string(), parsed.error().what())};
    try {
        const AttemptOrder order = read_attempt_order(parsed->value);
        return ResolvedAttempt{.plan = plan_of(order),
                               .job_id = order.job_id,
                               .fence = order.fence,
                               .grace_s = order.grace_s,
                               .saves_requested = order.saves_requested,
                               .traceparent = order.traceparent};
    } catch (const Error& error) {
        return Error{ErrorCode::conflict, fmt::format("{}: {}", path.string(), error.what())};
    }
}

Result<JobSpec> read_job_spec(const std::string& text) {
    const auto parsed = parse_json(text);
    if (!parsed) return parsed.error();
    return decode(decode_job_spec(*parsed));
}

}    // namespace slipway
