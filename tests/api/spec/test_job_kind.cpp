// Goal: a row of job_kinds.def promises what the API has.
#include "api/spec/job_kind.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "api/spec/documents.h"
#include "api/spec/endpoints.h"

namespace slipway {
namespace {

TEST(JobKinds, every_kind_has_an_endpoint_that_submits_it) {
    for (const JobKind kind : all_job_kinds) {
        const std::string path = fmt::format("/v1/{}", traits(kind).collection);
        EXPECT_TRUE(std::ranges::any_of(endpoints(), [&](const Endpoint& one) {
            return one.method == "POST" && one.path == path && one.response == "Job";
        })) << to_string(kind);
    }
}

TEST(JobKinds, every_payload_is_a_member_of_the_answer_of_its_own) {
    const Json members = schema_document("Job")["properties"];
    std::set<std::string_view> seen;
    for (const JobKind kind : all_job_kinds) {
        if (!has_payload(kind)) continue;
        EXPECT_TRUE(members.contains(traits(kind).payload_member)) << to_string(kind);
        EXPECT_TRUE(seen.insert(traits(kind).payload_member).second) << to_string(kind);
    }
    EXPECT_EQ(members["kind"]["enum"].size(), all_job_kinds.size());
}

}    // namespace
}    // namespace slipway
