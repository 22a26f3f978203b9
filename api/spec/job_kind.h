#pragma once

#include <array>
#include <string_view>

#include "api/spec/spelling.h"

namespace slipway {

/// What a job does: one enumerator per row of job_kinds.def.
enum class JobKind {
#define JOB_KIND(name, ...) name,
#include "api/spec/job_kinds.def"
#undef JOB_KIND
};

/// What every part of the service knows of a kind.
struct JobKindTraits {
    std::string_view collection;      ///< its endpoints are below /v1/<collection>
    std::string_view request_name;    ///< what messages call the body of its POST
    /// The member of the answer that holds the payload: what the kind asks for beside the job spec
    /// that it runs. Empty: the job spec is all that there is.
    std::string_view payload_member = {};
};

inline constexpr auto job_kind_traits = std::to_array<JobKindTraits>({
#define JOB_KIND(name, ...) {__VA_ARGS__},
#include "api/spec/job_kinds.def"
#undef JOB_KIND
});

template <>
struct Spelling<JobKind> {
    static constexpr auto words = std::to_array<std::string_view>({
#define JOB_KIND(name, ...) #name,
#include "api/spec/job_kinds.def"
#undef JOB_KIND
    });
};

inline constexpr auto all_job_kinds = std::to_array<JobKind>({
#define JOB_KIND(name, ...) JobKind::name,
#include "api/spec/job_kinds.def"
#undef JOB_KIND
});

constexpr const JobKindTraits& traits(JobKind kind) noexcept {
    return job_kind_traits[std::size_t(kind)];
}

/// A job of this kind stores a payload.
constexpr bool has_payload(JobKind kind) noexcept {
    return !traits(kind).payload_member.empty();
}

}    // namespace slipway
