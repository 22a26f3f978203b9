// Goal: many small jobs on eight cores all succeed, and no core ever belongs to two of them.
// Method: the real loop, agent and store with executors that train nothing; a trigger writes down
// every lease, and SQL looks for two of one core that overlap.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "scheduler/maintenance/loop.h"
#include "tests/scheduler/agent/bench.h"

namespace slipway {
namespace {

class ManyJobs : public AgentBench {
protected:
    static constexpr int job_count = 200;

    void watch_leases() const {
        database.sql(R"(
            create table lease_history (host text, core int, job_id text, began timestamptz, ended timestamptz);
            create function remember_lease() returns trigger language plpgsql as $$
            begin
                if new.job_id is not null then
                    insert into lease_history values (new.host, new.core, new.job_id, clock_timestamp(), null);
                else
                    update lease_history set ended = clock_timestamp()
                    where host = old.host and core = old.core and job_id = old.job_id and ended is null;
                end if;
                return null;
            end $$;
            create trigger remember after update on core_slot
                for each row when (old.job_id is distinct from new.job_id)
                execute function remember_lease();)");
    }
};

TEST_F(ManyJobs, all_succeed_and_no_core_is_booked_twice) {
    watch_leases();
    for (int i = 0; i < job_count; ++i)
        submit_labelled({{"steps", "5"}, {"crash_at", i % 20 == 7 ? "3" : "0"}});
    const Tick began = system_clock().tick();
    // Made before the agent and there until it has gone: the agent's thread wakes it.
    MaintenanceLoop maintenance(store, MaintenanceOptions{.host = host}, system_clock());
    options.on_freed = [&] { maintenance.wake(); };
    start_agent();
    const bool all = eventually([&] { return count("job where state = 'succeeded'") == job_count; },
                                std::chrono::seconds(100));
    const double took_s = std::chrono::duration<double>(system_clock().tick() - began).count();
    agent.reset();
    EXPECT_TRUE(all) << count("job where state = 'succeeded'");
    EXPECT_EQ(database.sql("select count(*) from lease_history a join lease_history b "
                           "on a.host = b.host and a.core = b.core and a.ctid <> b.ctid "
                           "and tstzrange(a.began, a.ended) && tstzrange(b.began, b.ended)"),
              "0");
    EXPECT_EQ(count("lease_history"), job_count + job_count / 20);
    EXPECT_EQ(count("lease"), 0);
    EXPECT_EQ(count("metric_chunk cross join lateral generate_series(1, points)"), 5 * job_count);
    RecordProperty("jobs_per_minute", std::to_string(job_count * 60 / took_s));
    fmt::print("{} jobs in {:.1f} s, {:.0f} a minute\n", job_count, took_s,
               job_count * 60 / took_s);
}

}    // namespace
}    // namespace slipway
