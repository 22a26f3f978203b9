// Goal: an attempt that was replaced writes nothing, whatever it tries after it comes back.
// Method: 500 attempts made from one seed, each replaced in one of the ways there are, its job left
// waiting, running again, ended or deleted. Then the attempt tries every write that an agent or an
// executor has, in any order, with its own key and with keys near it. Counted is what the store
// takes; compared are all rows about the job. That the writes are good ones is seen from a live
// attempt, of which the store takes each.

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <latch>
#include <numeric>
#include <random>
#include <thread>

#include "scheduler/agent/frame_tail.h"
#include "scheduler/store/checkpoints.h"
#include "scheduler/store/invariants.h"
#include "tests/scheduler/store/samples.h"
#include "tests/support/temp_folder.h"

namespace slipway::store {
namespace {

using namespace std::chrono_literals;
using enum JobState;
using Random = std::mt19937_64;

int below(Random& random, int bound) {
    return int(random() % std::uint64_t(bound));
}

/// An attempt that writes: what it knows, and where its executor wrote.
struct Writer {
    Store& store;
    AttemptKey key;
    std::int64_t frame = 100;    ///< a number that no frame of its has had
    std::filesystem::path run_folder;
    std::string newest;    ///< name of the newest checkpoint of its job; may be empty
};

/// Whether the store took it: what is not fenced is taken.
template <class Call>
bool is_taken(const Call& call) {
    try {
        call();
        return true;
    } catch (const Fenced&) {
        return false;
    }
}

bool relays(const Writer& writer, RelayedFrame frame) {
    frame.number = writer.frame;
    return is_taken([&] { relay_frames(writer.store, writer.key, {frame}); });
}

bool saves(const Writer& writer, const std::string& name, std::vector<std::string> pruned = {}) {
    RelayedCheckpoint checkpoint{
        .id = new_id("ckp"), .name = name, .step = 1'000'000, .kinds = {"last"}, .files = "[]"};
    checkpoint.pruned = std::move(pruned);
    return relays(writer, {.checkpoint = std::move(checkpoint)});
}

template <JobState state>
bool enters(const Writer& writer) {
    return relays(writer, {.state = RelayedState{state}});
}

template <JobState state>
bool ends(const Writer& writer) {
    AttemptEnd end{.exit_kind = "zombie", .message = "it came back", .job_state = state};
    if (state == failed) end.reason = Reason{"zombie", ""};
    end.result = R"({"zombie": true})";
    return is_taken([&] { finish_attempt(writer.store, writer.key, end); });
}

/// Its executor goes on in its run folder, and its agent, which was stopped, too.
bool relays_its_file(const Writer& writer) {
    std::ofstream(writer.run_folder / "frames.ndjson", std::ios::app)
        << R"({"n":)" << writer.frame
        << R"(,"type":"metric","step":7,"epoch":1,"values":{"zombie":1}})" << '\n';
    FrameTail tail(writer.run_folder / "frames.ndjson", 0);
    std::vector<RelayedFrame> frames;
    for (const ReadFrame& read : tail.peek())
        frames.push_back(read.frame);
    EXPECT_EQ(frames.size(), 1U);
    return is_taken([&] { relay_frames(writer.store, writer.key, frames); });
}

/// Every write there is.
struct Write {
    const char* name;
    bool (*is_taken)(const Writer& writer);
    bool is_end = false;
};

constexpr auto writes = std::to_array<Write>({
    {"a process",
     [](const Writer& writer) {
         return is_taken([&] { record_process(writer.store, writer.key, 0, 4711, 1, ""); });
     }},
    {"no frames",
     [](const Writer& writer) {
         return is_taken([&] { relay_frames(writer.store, writer.key, {}); });
     }},
    {"the state compiling", enters<compiling>},
    {"the state running", enters<running>},
    {"the state finishing", enters<finishing>},
    {"an event",
     [](const Writer& writer) {
         return relays(writer, {.events = {{"log", R"({"message": "zombie"})"}}});
     }},
    {"a metric",
     [](const Writer& writer) {
         return relays(writer, {.metrics = {{.name = "zombie", .step = 1, .value = 1}}});
     }},
    {"an earlier point of a metric",
     [](const Writer& writer) {
         return relays(writer, {.metrics = {{.name = "loss", .step = 1, .value = 9}}});
     }},
    {"the progress",
     [](const Writer& writer) {
         return relays(writer, {.progress = R"({"step": -1})",
                                .best = R"({"value": -1})",
                                .effective = R"({"lr": -1})"});
     }},
    {"a checkpoint", [](const Writer& writer) { return saves(writer, "step_000900_zombie"); }},
    {"a checkpoint under the name of the newest",
     [](const Writer& writer) {
         return saves(writer, writer.newest.empty() ? "step_000901_zombie" : writer.newest);
     }},
    {"a checkpoint in place of the newest",
     [](const Writer& writer) { return saves(writer, "step_000902_zombie", {writer.newest}); }},
    {"the frames in its run folder", relays_its_file},
    {"a lease",
     [](const Writer& writer) {
         const auto lost = renew_leases(writer.store, "host-a", {writer.key}, 1h);
         return std::ranges::find(lost, writer.key) == lost.end();
     }},
    {"the end succeeded", ends<succeeded>, true},
    {"the end failed", ends<failed>, true},
    {"the end cancelled", ends<cancelled>, true},
    {"the end timed_out", ends<timed_out>, true},
    {"the end paused", ends<paused>, true},
    {"the end queued", ends<queued>, true},
});

class Zombies : public StoreTest {
protected:
    void SetUp() override {
        add_host();
        add_host("host-b");
    }

    /// A job of any size that has done some of its training on host-a.
    AttemptKey begin_job(int restarts_max = 3) {
        NewJob job = new_job();
        job.cores = 1 + below(random_, 8);
        job.restarts_max = restarts_max;
        submit(job);
        const AttemptKey key = place_job(job.id, host);
        train(key, below(random_, 5));
        return key;
    }

    AttemptKey place_job(const std::string& id, const std::string& where) {
        std::vector<int> cores(std::size_t(
            std::stoi(database.sql(fmt::format("select cores from job where id = '{}'", id)))));
        std::iota(cores.begin(), cores.end(), 1);
        return place(id, cores, where);
    }

    /// So many of: compiling, running with a point, a checkpoint, finishing.
    void train(const AttemptKey& key, int stages) {
        const std::string name = fmt::format("step_000{}00_attempt_{}", key.attempt, key.attempt);
        const std::array<RelayedFrame, 4> frames{
            {{.number = 1, .state = RelayedState{compiling}},
             {.number = 2,
              .state = RelayedState{running},
              .metrics = {{.name = "loss", .step = key.attempt, .value = 0.5}}},
             {.number = 3,
              .checkpoint = RelayedCheckpoint{.id = new_id("ckp"),
                                              .name = name,
                                              .step = key.attempt,
                                              .kinds = {"last"},
                                              .files = "[]"}},
             {.number = 4, .state = RelayedState{finishing}}}};
        for (int i = 0; i < stages; ++i)
            relay_frames(store, key, {frames[std::size_t(i)]});
    }

    void expire_leases() const {
        database.sql("update lease set expires_at = clock_timestamp() - interval '1 minute'");
    }

    Writer writer(const AttemptKey& key) {
        const std::filesystem::path run = folder_.path() / key.job_id / std::to_string(key.attempt);
        std::filesystem::create_directories(run);
        const auto newest = find_newest_checkpoint(store, key.job_id);
        return {.store = store,
                .key = key,
                .run_folder = run,
                .newest = newest ? newest->name : std::string()};
    }

    /// All that is stored about the job, and what has been counted or thrown away for it.
    std::string all_rows(const std::string& job_id) const {
        std::string sql;
        for (const std::string table :
             {"job", "queue", "attempt", "attempt_member", "lease", "job_event", "metric_chunk",
              "metric_rollup", "checkpoint", "checkpoint_use", "garbage", "project_usage"}) {
            const bool shared = table == "garbage" || table == "project_usage";
            sql += fmt::format(
                "{} select '{}', {}::text from {} {}", sql.empty() ? "" : " union all", table,
                table, table,
                shared ? ""
                       : fmt::format("where {} = '{}'", table == "job" ? "id" : "job_id", job_id));
        }
        return database.sql(
            "select md5(coalesce(string_agg(a || b, '\n' order by a, b), '')) from (" + sql +
            ") as rows (a, b)");
    }

    // ---- how an attempt is replaced; each leaves its job queued or ended ----
    void lose_lease(const AttemptKey&) { ASSERT_EQ(rescue_from(host).size(), 1U); }
    void lose_host(const AttemptKey&) {
        database.sql(
            "update host set heartbeat_at = clock_timestamp() - interval '1 hour' "
            "where name = 'host-a'");
        register_host(store, {.name = host, .instance = random_hex(8), .home = random_hex(8)});
        ASSERT_EQ(rescue_from(host).size(), 1U);
    }
    void kill_executor(const AttemptKey& key) {
        finish_attempt(store, key, {.exit_kind = "crashed", .job_state = queued});
    }
    void preempt(const AttemptKey& key) {
        preempt_job(store, key.job_id, {"preempted", ""}, {});
        finish_attempt(store, key,
                       {.exit_kind = "orphaned", .job_state = queued, .counts_as_restart = false});
    }
    void pause(const AttemptKey& key) {
        if (state_of(key.job_id) == finishing) return kill_executor(key);
        request_intent(store, key.job_id, Intent::pause, {"user", ""});
        finish_attempt(store, key, {.exit_kind = "cancelled", .job_state = paused});
        resume_job(store, key.job_id);
    }
    void cancel_a_lost_one(const AttemptKey& key) {
        request_intent(store, key.job_id, Intent::cancel, {"user", ""});
        lose_lease(key);
    }
    void fail(const AttemptKey& key) {
        finish_attempt(store, key, {.exit_kind = "failed", .job_state = failed});
    }

    using Replacement = void (Zombies::*)(const AttemptKey&);
    static constexpr auto replacements = std::to_array<Replacement>(
        {&Zombies::lose_lease, &Zombies::lose_host, &Zombies::kill_executor, &Zombies::preempt,
         &Zombies::pause, &Zombies::cancel_a_lost_one, &Zombies::fail});

    static constexpr auto sudden_replacements =
        std::to_array<Replacement>({&Zombies::kill_executor, &Zombies::lose_lease, &Zombies::fail});

    /// The job goes on without it: it waits, runs again, has ended or is deleted.
    std::optional<AttemptKey> go_on(const AttemptKey& old) {
        if (is_final(state_of(old.job_id))) {
            if (below(random_, 2) == 0) delete_job(store, old.job_id);
            return std::nullopt;
        }
        if (below(random_, 4) == 0) return std::nullopt;
        const AttemptKey next = place_job(old.job_id, below(random_, 2) == 0 ? host : "host-b");
        train(next, below(random_, 5));
        if (below(random_, 3) > 0) return next;
        finish_attempt(store, next, {.exit_kind = "succeeded", .job_state = succeeded});
        return std::nullopt;
    }

    /// Its own key, or what it could make of it.
    AttemptKey key_near(const AttemptKey& own) {
        AttemptKey key = own;
        if (below(random_, 2) == 0) key.attempt += 1;
        if (key == own || below(random_, 2) == 0) key.fence = random_hex(16);
        return key;
    }

    Random random_{1};
    TempFolder folder_;
};

TEST_F(Zombies, of_a_live_attempt_every_write_is_taken) {
    Writer live = writer(begin_job());
    for (const Write& write : writes) {
        EXPECT_TRUE(write.is_taken(live)) << write.name;
        ++live.frame;
        if (!write.is_end) continue;
        const AttemptKey next = place_job(submit(), host);
        train(next, 2);
        live.key = next;
    }
}

TEST_F(Zombies, of_500_replaced_attempts_no_write_is_taken) {
    constexpr int trials = 500;
    int tried = 0, taken = 0;
    for (int trial = 0; trial < trials; ++trial) {
        SCOPED_TRACE(fmt::format("trial {}", trial));
        const AttemptKey old = begin_job();
        (this->*replacements[std::size_t(trial) % replacements.size()])(old);
        const std::optional<AttemptKey> next = go_on(old);
        Writer zombie = writer(old);
        const std::string before = all_rows(old.job_id);
        std::vector<std::pair<Write, AttemptKey>> attempts_to_write;
        for (const Write& write : writes) {
            attempts_to_write.emplace_back(write, old);
            if (below(random_, 4) == 0) attempts_to_write.emplace_back(write, key_near(old));
        }
        std::ranges::shuffle(attempts_to_write, random_);
        for (const auto& [write, key] : attempts_to_write) {
            zombie.key = key;
            ++tried;
            const bool was_taken = write.is_taken(zombie);
            taken += was_taken;
            EXPECT_FALSE(was_taken) << write.name << " as attempt " << key.attempt;
            std::filesystem::remove(zombie.run_folder / "frames.ndjson");
        }
        EXPECT_EQ(all_rows(old.job_id), before);
        if (next) finish_attempt(store, *next, {.exit_kind = "succeeded", .job_state = succeeded});
        if (HasFailure()) break;
    }
    std::printf("%d zombie attempts (seed 1), %d stale writes tried, %d accepted\n", trials, tried,
                taken);
    for (const Invariant& invariant : invariants())
        EXPECT_TRUE(find_violations(store, invariant, 1).empty()) << invariant.promise;
}

// Goal: the same while the attempt is being replaced. Method: it writes without a pause from a
// thread of its own. Once the replacement has returned, the write that was under way may end either
// way; no later one is taken, and none after one that was fenced.
TEST_F(Zombies, an_attempt_that_writes_while_it_is_replaced_stops_there) {
    constexpr int trials = 40;
    for (int trial = 0; trial < trials; ++trial) {
        const AttemptKey old = begin_job();
        const std::int64_t relayed_before =
            list_attempts(store, old.job_id).items[0].members[0].frames_relayed;
        std::atomic<bool> is_replaced = false;
        std::latch begun(1);
        std::int64_t last_taken = relayed_before;
        int taken_after = 0, fenced = 0;
        std::thread stalled([&] {
            Writer zombie = writer(old);
            for (zombie.frame = relayed_before + 1; fenced < 20; ++zombie.frame) {
                const bool was_replaced = is_replaced;
                const bool taken =
                    relays(zombie,
                           {.metrics = {{.name = "loss", .step = 100 + zombie.frame, .value = 1}}});
                if (taken) last_taken = zombie.frame;
                taken_after += taken && (was_replaced || fenced > 0);
                fenced += !taken;
                if (zombie.frame == relayed_before + 3) begun.count_down();
            }
        });
        begun.wait();
        (this->*sudden_replacements[std::size_t(trial) % sudden_replacements.size()])(old);
        is_replaced = true;
        stalled.join();
        EXPECT_EQ(taken_after, 0);
        EXPECT_EQ(list_attempts(store, old.job_id).items[0].members[0].frames_relayed, last_taken);
    }
    for (const Invariant& invariant : invariants())
        EXPECT_TRUE(find_violations(store, invariant, 1).empty()) << invariant.promise;
}

}    // namespace
}    // namespace slipway::store
