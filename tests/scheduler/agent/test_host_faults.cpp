// Goal: a host that cannot start jobs does not collect them, and a job that cannot be started
// anywhere drains no host.
#include "scheduler/agent/host_faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/store/avoided_hosts.h"

namespace slipway {
namespace {

using testing::HasSubstr;

store::Host host(const std::string& name, const std::string& pool = "local") {
    return {.name = name, .pool = pool};
}

store::AttemptEnd refused_by(const std::string& name, bool fails_everywhere = true) {
    store::AttemptEnd end;
    end.exit_kind = "not_started";
    end.message = "m";
    end.job_state = JobState::queued;
    end.counts_as_restart = false;
    end.retry_after = std::chrono::seconds{10};
    end.reason = store::Reason{.code = "data_error", .message = "m"};
    end.fault_host = name;
    end.fails_everywhere = fails_everywhere;
    return end;
}

TEST(TryElsewhere, a_job_goes_to_another_host_at_once) {
    const store::AttemptEnd end =
        try_elsewhere(refused_by("a"), {.cores = 8}, {host("a"), host("b")});
    EXPECT_EQ(end.job_state, JobState::queued);
    EXPECT_EQ(end.retry_after.count(), 0);
    EXPECT_EQ(store::avoided_hosts(end.crash_key), std::set<std::string>{"a"});
    EXPECT_THAT(end.reason->message, HasSubstr("another host"));
}

TEST(TryElsewhere, a_job_that_every_host_refuses_ends_with_their_names) {
    store::AttemptEnd end =
        try_elsewhere(refused_by("b"), {.avoided = {"a"}}, {host("a"), host("b")});
    EXPECT_EQ(end.job_state, JobState::failed);
    EXPECT_EQ(end.reason->code, "data_error");
    EXPECT_THAT(end.reason->message, HasSubstr("a, b"));
    end = try_elsewhere(refused_by("a"), {}, {host("a")});
    EXPECT_EQ(end.job_state, JobState::failed) << "the only host";
    end = try_elsewhere(refused_by("a", false), {}, {host("a")});
    EXPECT_EQ(end.job_state, JobState::queued) << "a program may be put back";
    EXPECT_EQ(end.retry_after, std::chrono::seconds{10});
    store::AttemptEnd never_began = refused_by("b", false);
    never_began.crash_key = "never_began";
    EXPECT_EQ(try_elsewhere(never_began, {}, {host("b")}).job_state, JobState::queued);
    EXPECT_EQ(try_elsewhere(never_began, {.avoided = {"a"}}, {host("a"), host("b")}).job_state,
              JobState::failed);
}

TEST(TryElsewhere, hosts_that_take_no_such_jobs_are_none) {
    store::Host drained = host("b");
    drained.drain = store::HostDrain{};
    store::Host silent = host("c");
    silent.silent_for = std::chrono::minutes{1};
    store::Host small = host("d");
    small.cores = 4;
    const std::vector<store::Host> hosts{host("a"), drained, silent, small, host("e", "other")};
    const WantedHosts wanted{.cores = 8, .pool = "local"};
    EXPECT_EQ(try_elsewhere(refused_by("a"), wanted, hosts).job_state, JobState::failed);
    EXPECT_EQ(try_elsewhere(refused_by("a"), {.cores = 4, .pool = "local"}, hosts).job_state,
              JobState::queued);
    EXPECT_EQ(try_elsewhere(refused_by("a"), {.cores = 8}, hosts).job_state, JobState::queued);
}

TEST(TryElsewhere, a_slice_needs_enough_hosts_of_one_pool) {
    const std::vector<store::Host> hosts{host("a"), host("b"), host("c"), host("d", "other")};
    EXPECT_EQ(try_elsewhere(refused_by("a"), {.hosts = 2}, hosts).job_state, JobState::queued);
    EXPECT_EQ(try_elsewhere(refused_by("a"), {.hosts = 3}, hosts).job_state, JobState::failed);
}

bool never(const std::string&) {
    return false;
}

bool always(const std::string&) {
    return true;
}

TEST(HostFaults, three_starts_in_a_row_drain_the_host) {
    HostFaults faults;
    faults.add("job_1", "no program", false);
    faults.add("job_1", "no program", false);
    EXPECT_FALSE(faults.reason_to_drain(always));
    faults.add("job_2", "no home", false);
    EXPECT_THAT(*faults.reason_to_drain(never), HasSubstr("no home"));
    faults.clear();
    EXPECT_FALSE(faults.reason_to_drain(never));
}

TEST(HostFaults, a_job_counts_once_and_only_when_it_runs_elsewhere) {
    HostFaults faults;
    for (int again = 0; again < 5; ++again)
        faults.add("job_1", "no dataset", true);
    EXPECT_FALSE(faults.reason_to_drain(always));
    faults.add("job_2", "no dataset", true);
    faults.add("job_3", "no dataset", true);
    EXPECT_FALSE(faults.reason_to_drain(never)) << "the dataset is gone everywhere";
    EXPECT_FALSE(faults.reason_to_drain([](const auto& job) { return job != "job_2"; }));
    EXPECT_TRUE(faults.reason_to_drain(always));
}

TEST(AvoidedHosts, are_read_from_the_key_they_make) {
    EXPECT_TRUE(store::avoided_hosts("").empty());
    EXPECT_TRUE(store::avoided_hosts("none 1 7").empty());
    const std::set<std::string> hosts{"a", "b-2"};
    EXPECT_EQ(store::avoided_hosts(store::key_of_avoided(hosts)), hosts);
}

}    // namespace
}    // namespace slipway
