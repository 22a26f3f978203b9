#include "scheduler/store/relay.h"

#include <gmock/gmock.h>

#include <future>

#include <cmath>
#include <thread>

#include "scheduler/store/checkpoints.h"
#include "scheduler/store/events.h"
#include "scheduler/store/pg/connection.h"
#include "scheduler/store/queries.h"
#include "scheduler/store/webhooks.h"
#include "tests/scheduler/store/samples.h"
#include "tests/support/eventually.h"

namespace slipway::store {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using enum JobState;

class Relay : public StoreTest {
protected:
    static RelayedFrame log_frame(std::int64_t number) {
        RelayedFrame frame;
        frame.number = number;
        frame.events = {{"log", fmt::format(R"({{"message": "line {}"}})", number)}};
        return frame;
    }

    static RelayedFrame checkpoint_frame(std::int64_t number, const std::string& name,
                                         std::vector<std::string> pruned = {}) {
        RelayedFrame frame;
        frame.number = number;
        frame.checkpoint = RelayedCheckpoint{.id = new_id("ckp"),
                                             .name = name,
                                             .step = number,
                                             .kinds = {"last"},
                                             .files = R"([{"bytes": 3}])",
                                             .bytes = 3,
                                             .pruned = std::move(pruned)};
        return frame;
    }

    std::vector<std::string> types(const std::string& job_id) {
        std::vector<std::string> types;
        std::int64_t seq = 0;
        for (const Event& event : list_events(store, job_id, {.limit = 5000})) {
            types.push_back(event.type);
            EXPECT_EQ(event.seq, ++seq);
        }
        EXPECT_EQ(find_job(store, job_id)->event_seq, seq);
        return types;
    }
};

TEST_F(Relay, a_batch_keeps_the_order_of_states_and_events) {
    add_host();
    const AttemptKey key = place(submit());
    std::vector<RelayedFrame> frames(5);
    for (std::size_t i = 0; i < frames.size(); ++i)
        frames[i] = log_frame(std::int64_t(i) + 1);
    frames[1].state = RelayedState{compiling};
    frames[2].state = RelayedState{running};
    frames[3].progress = R"({"step": 4})";
    frames[4].progress = R"({"step": 5})";
    frames[4].best = R"({"value": 0.1})";
    const Relayed relayed = relay_frames(store, key, frames);
    EXPECT_EQ(relayed.frames_relayed, 5);
    EXPECT_EQ(relayed.job_state, running);
    EXPECT_EQ(relayed.event_seq, 9);
    EXPECT_THAT(types(key.job_id),
                ElementsAre("state", "state", "log", "state", "log", "state", "log", "log", "log"));
    const Job job = find_job(store, key.job_id).value();
    EXPECT_EQ(job.progress, R"({"step": 5})");
    EXPECT_EQ(job.best, R"({"value": 0.1})");
}

// Goal: after an unknown outcome the agent sends everything again, and nothing is doubled.
// Goal: of two relays of an attempt, the one that waits sees what the other one has stored.
TEST_F(Relay, one_that_waited_for_another_sees_its_frames) {
    const AttemptKey key = running_job();
    const std::initializer_list<Param> asked{std::vector{key.job_id}, std::vector{key.attempt},
                                             std::vector{key.fence}, std::vector{0}};
    Connection first_connection({.database = database.url()});
    Connection second_connection({.database = database.url()});
    Transaction first(first_connection);
    EXPECT_EQ(first.run(queries::lock_relays, asked).size(), 1U);
    std::future<std::int64_t> seen = std::async(std::launch::async, [&] {
        Transaction second(second_connection);
        return second.run(queries::lock_relays, asked)[0].integer("frames_relayed");
    });
    EXPECT_TRUE(eventually(
        [&] { return database.sql("select count(*) from pg_locks where not granted") == "1"; }));
    const Query store_frames{"store_frames", "update attempt_member set frames_relayed = 99"};
    first.commit({{&store_frames, {}}});
    EXPECT_EQ(seen.get(), 99);
}

TEST_F(Relay, a_batch_sent_again_is_skipped) {
    const AttemptKey key = running_job();
    std::vector<RelayedFrame> frames{log_frame(3), log_frame(4)};
    frames[1].metrics = {{"loss", 10, 1, 0.5}};
    const Relayed first = relay_frames(store, key, frames);
    frames.push_back(log_frame(5));
    const Relayed second = relay_frames(store, key, frames);
    EXPECT_EQ(second.event_seq, first.event_seq + 1);
    EXPECT_EQ(relay_frames(store, key, frames).event_seq, second.event_seq);
    EXPECT_EQ(relay_frames(store, key, {}).frames_relayed, 5);
    EXPECT_EQ(types(key.job_id).size(), 7U);
    EXPECT_EQ(list_live_attempts(store, host).at(0).member().frames_relayed, 5);
}

TEST_F(Relay, states_that_do_not_fit_any_more_are_left_out) {
    const AttemptKey key = running_job();
    EXPECT_EQ(relay_state(key, 3, compiling).job_state, running);
    EXPECT_EQ(relay_state(key, 4, succeeded).job_state, running);
    EXPECT_EQ(relay_state(key, 5, queued).job_state, running);
    request_intent(store, key.job_id, Intent::cancel, {"user", ""});
    EXPECT_EQ(relay_state(key, 6, finishing).job_state, cancelling);
    EXPECT_THAT(types(key.job_id), ElementsAre("state", "state", "state", "state", "state"));
}

TEST_F(Relay, the_state_of_the_last_words_is_left_to_the_end) {
    const AttemptKey key = running_job();
    std::vector<RelayedFrame> frames{log_frame(3), {.number = 4}, {.number = 5}};
    frames[1].state = RelayedState{finishing};
    frames[2].state = RelayedState{finishing};
    frames[2].ends = true;
    const Relayed relayed = relay_frames(store, key, frames);
    EXPECT_EQ(relayed.job_state, running);
    EXPECT_EQ(relayed.frames_relayed, 5);
    EXPECT_EQ(finish_attempt(store, key, {.exit_kind = "succeeded", .job_state = succeeded}),
              succeeded);
    EXPECT_THAT(types(key.job_id),
                ElementsAre("state", "state", "state", "state", "log", "state", "state", "end"));
    EXPECT_THAT(list_events(store, key.job_id, {.limit = 100}).at(5).body,
                HasSubstr(R"("state" : "finishing")"));
}

// Goal: a webhook names the state before the end, also one that the end has passed.
TEST_F(Relay, a_webhook_hears_of_the_state_that_the_end_passes) {
    create_webhook(store,
                   {.id = new_id("whk"),
                    .project = "default",
                    .url = "https://hooks.example.com/",
                    .events = {"job.ended"},
                    .created_by = new_id("tok")},
                   "whsec_c2VjcmV0", 10);
    const AttemptKey key = running_job();
    std::vector<RelayedFrame> frames{{.number = 3}};
    frames[0].state = RelayedState{finishing};
    frames[0].ends = true;
    relay_frames(store, key, frames);
    finish_attempt(store, key, {.exit_kind = "succeeded", .job_state = succeeded});
    EXPECT_EQ(database.sql("select body #>> '{job,from}' from webhook_event "
                           "where type = 'job.ended'"),
              "finishing");
}

TEST_F(Relay, a_state_with_an_event_behind_it_is_not_left_to_the_end) {
    const AttemptKey key = running_job();
    std::vector<RelayedFrame> frames{{.number = 3}, log_frame(4), {.number = 5}};
    frames[0].state = RelayedState{finishing};
    frames[2].state = RelayedState{finishing};
    frames[2].ends = true;
    EXPECT_EQ(relay_frames(store, key, frames).job_state, finishing);
    EXPECT_THAT(types(key.job_id), ElementsAre("state", "state", "state", "state", "state", "log"));
}

TEST_F(Relay, the_end_that_is_said_does_not_swallow_another_state) {
    add_host();
    const AttemptKey key = place(submit());
    std::vector<RelayedFrame> frames{{.number = 1}, {.number = 2}};
    frames[0].state = RelayedState{running};
    frames[1].ends = true;    // a failure says no state
    EXPECT_EQ(relay_frames(store, key, frames).job_state, running);
}

TEST_F(Relay, a_process_is_recorded_with_its_first_words) {
    add_host();
    const AttemptKey key = place(submit());
    const std::vector<RelayedFrame> frames{log_frame(1)};
    MetricSeries series;
    RelayedOne one{.key = &key,
                   .frames = &frames,
                   .series = &series,
                   .process = RelayedProcess{.pid = 71, .start_ticks = 9, .resumed_from_id = ""}};
    RelayedOne* const alone = &one;
    std::exception_ptr error;
    relay_frames(store, std::span(&alone, 1), std::span(&error, 1));
    EXPECT_FALSE(error);
    ASSERT_TRUE(one.stored);
    const HostAttempt live = list_live_attempts(store, host).at(0);
    EXPECT_EQ(live.member().pid, 71);
    EXPECT_EQ(live.member().start_ticks, 9);
    EXPECT_TRUE(live.attempt.started_at);
    EXPECT_EQ(live.member().frames_relayed, 1);
}

TEST_F(Relay, a_process_of_a_replaced_attempt_is_not_recorded) {
    add_host();
    AttemptKey other = place(submit());
    other.fence = std::string(32, '0');
    const std::vector<RelayedFrame> frames{log_frame(1)};
    MetricSeries series;
    RelayedOne one{.key = &other,
                   .frames = &frames,
                   .series = &series,
                   .process = RelayedProcess{.pid = 71, .start_ticks = 9, .resumed_from_id = ""}};
    RelayedOne* const alone = &one;
    std::exception_ptr error;
    relay_frames(store, std::span(&alone, 1), std::span(&error, 1));
    EXPECT_FALSE(one.stored);
    EXPECT_FALSE(list_live_attempts(store, host).at(0).member().pid);
}

TEST_F(Relay, a_skipped_compiling_is_added) {
    add_host();
    const AttemptKey key = place(submit());
    EXPECT_EQ(relay_state(key, 1, running).job_state, running);
    EXPECT_THAT(types(key.job_id), ElementsAre("state", "state", "state", "state"));
}

TEST_F(Relay, a_resumed_attempt_overwrites_the_points_it_repeats) {
    const AttemptKey first = running_job();
    RelayedFrame frame;
    frame.number = 3;
    frame.metrics = {{"loss", 1, 1, 0.9}, {"loss", 2, 1, 0.8}, {"loss", 2, 1, 0.7}};
    relay_frames(store, first, {frame});
    finish_attempt(store, first, {.exit_kind = "crashed", .job_state = queued});
    const AttemptKey second = place(first.job_id);
    frame.number = 1;
    frame.metrics = {{"loss", 2, 1, 0.6}, {"loss", 3, 2, std::nan("")}, {"loss", 4, 2, HUGE_VAL}};
    relay_frames(store, second, {frame});

    const std::vector<MetricSample> points = samples_of(first.job_id, "loss");
    ASSERT_EQ(points.size(), 4U);
    EXPECT_EQ(points[0].value, 0.9);
    EXPECT_EQ(points[0].attempt, 1);
    EXPECT_EQ(points[1].value, 0.6);
    EXPECT_EQ(points[1].attempt, 2);
    EXPECT_TRUE(std::isnan(points[2].value));
    EXPECT_TRUE(std::isinf(points[3].value));
}

// With best.keep 1 there is one best checkpoint, also while the one before is among the last.
TEST_F(Relay, a_new_best_takes_the_word_from_the_one_before) {
    const AttemptKey key = running_job();
    RelayedFrame first = checkpoint_frame(3, "a");
    first.checkpoint->kinds = {"last", "best"};
    first.checkpoint->kept = {.last = {"a"}, .best = {"a"}};
    RelayedFrame second = checkpoint_frame(4, "b");
    second.checkpoint->kinds = {"last", "best"};
    second.checkpoint->kept = {.last = {"a", "b"}, .best = {"b"}};
    relay_frames(store, key, {first, second});
    std::map<std::string, std::vector<std::string>> kinds;
    for (const Checkpoint& one : list_checkpoints(store, {.job_id = key.job_id}, {}).items)
        kinds[one.name] = one.kinds;
    EXPECT_THAT(kinds["a"], ElementsAre("last"));
    EXPECT_THAT(kinds["b"], ElementsAre("last", "best"));

    pin_checkpoint(store, find_newest_checkpoint(store, key.job_id)->id, true);
    RelayedFrame third = checkpoint_frame(5, "c", {"a", "b"});
    third.checkpoint->kinds = {"last", "best"};
    third.checkpoint->kept = {.last = {"c"}, .best = {"c"}};
    relay_frames(store, key, {third});
    kinds.clear();
    for (const Checkpoint& one : list_checkpoints(store, {.job_id = key.job_id}, {}).items)
        kinds[one.name] = one.kinds;
    EXPECT_EQ(kinds.size(), 2U);
    EXPECT_TRUE(kinds["b"].empty()) << "pinned, and neither last nor best";
}

TEST_F(Relay, values_that_are_no_numbers_are_stored_as_what_they_are) {
    const AttemptKey key = running_job();
    RelayedFrame frame = checkpoint_frame(3, "a");
    frame.checkpoint->metric_name = "val_loss";
    frame.checkpoint->metric_value = std::nan("");
    frame.metrics = {{.name = "val_loss", .step = 1, .value = std::nan("")},
                     {.name = "val_loss", .step = 2, .value = -INFINITY}};
    relay_frames(store, key, {frame});
    const auto points = samples_of(key.job_id, "val_loss");
    ASSERT_EQ(points.size(), 2U);
    EXPECT_TRUE(std::isnan(points[0].value));
    EXPECT_EQ(points[1].value, -INFINITY);
    EXPECT_TRUE(std::isnan(find_newest_checkpoint(store, key.job_id)->metric_value.value()));
}

TEST_F(Relay, checkpoints_come_and_go) {
    const AttemptKey key = running_job();
    relay_frames(store, key, {checkpoint_frame(3, "a"), checkpoint_frame(4, "b")});
    EXPECT_EQ(find_newest_checkpoint(store, key.job_id)->name, "b");
    pin_checkpoint(store, find_newest_checkpoint(store, key.job_id)->id, true);
    relay_frames(store, key, {checkpoint_frame(5, "c", {"a", "b", "unknown", "../x"})});
    std::vector<std::string> names;
    for (const Checkpoint& checkpoint : list_checkpoints(store, {.job_id = key.job_id}, {}).items) {
        names.push_back(checkpoint.name);
    }
    EXPECT_THAT(names, ElementsAre("c", "b"));
    ASSERT_EQ(list_garbage(store, host).size(), 1U);
    EXPECT_EQ(list_garbage(store, host).at(0).path, "checkpoints/" + key.job_id + "/a");
    // The name a resumed attempt commits again is the same checkpoint, back again.
    relay_frames(store, key, {checkpoint_frame(6, "a")});
    EXPECT_EQ(list_checkpoints(store, {.job_id = key.job_id}, {}).items.size(), 3U);
}

// Goal: a job has points of a bounded number of metrics; what it reports beyond is said once.
TEST_F(Relay, points_of_more_metrics_than_a_job_may_have_are_left_out) {
    const AttemptKey key = running_job();
    MetricSeries series{.names_max = 3};
    RelayedFrame first;
    first.number = 3;
    first.metrics = {{"of_another_attempt", 1, 1, 0.5}};
    relay_frames(store, key, {first});
    const auto relay = [&](std::int64_t number, const std::vector<std::string>& metrics) {
        RelayedFrame frame;
        frame.number = number;
        for (const std::string& metric : metrics)
            frame.metrics.push_back({metric, number, 1, 0.5});
        relay_frames(store, key, {frame}, series);
    };
    relay(4, {"a", "b", "c"});
    relay(5, {"a", "b", "d", "of_another_attempt", "e"});
    EXPECT_THAT(list_metric_names(store, key.job_id, 10),
                ElementsAre("a", "b", "of_another_attempt"));
    EXPECT_EQ(samples_of(key.job_id, "a").size(), 2U);
    EXPECT_EQ(series.points_skipped, 3);
    EXPECT_EQ(series.ends.size(), 3U);
    ASSERT_EQ(count("job_event where type = 'warning'"), 1);
    const std::string body = database.sql("select body from job_event where type = 'warning'");
    EXPECT_NE(body.find("metric_names_limit"), std::string::npos) << body;
    EXPECT_NE(body.find("points of c "), std::string::npos) << body;
}

// Goal: an executor cannot stop its own relay by what it says.
TEST_F(Relay, poisoned_frames_are_repaired) {
    using namespace std::string_literals;
    const AttemptKey key = running_job();
    std::vector<RelayedFrame> frames;
    const std::vector<std::string> bodies{"not json",          "",
                                          "{\"m\": \"\xff\"}", R"({"m": "\u0000"})",
                                          "{\"m\": \"\0\"}"s,  "[1e999999]"};
    for (const std::string& body : bodies) {
        frames.push_back(log_frame(std::int64_t(frames.size()) + 3));
        frames.back().events = {{"log", body}, {"no_such_type", "{}"}};
        frames.back().progress = body;
        frames.back().metrics = {{"\xfe\0"s, 1, 1, 0.5}, {std::string(9000, 'x'), 1, 1, 0.5}};
    }
    frames.push_back(checkpoint_frame(20, "../../etc"));
    // Once it had a row, and the garbage that its pruning left was refused, in each turn again.
    frames.push_back(checkpoint_frame(21, "a..b"));
    frames.push_back(checkpoint_frame(22, "fine", {"nul\0"s, "a..b"}));
    frames.back().checkpoint->files = "[";
    frames.back().checkpoint->bytes = -1;
    const Relayed relayed = relay_frames(store, key, frames);
    EXPECT_EQ(relayed.frames_relayed, 22);
    EXPECT_EQ(types(key.job_id).size(), 4U + 2 * bodies.size());
    EXPECT_EQ(list_checkpoints(store, {}, {}).items.size(), 1U);
}

struct Together {
    AttemptKey key;
    std::vector<RelayedFrame> frames;
    MetricSeries series = {};
    RelayedOne one = {};
};

std::vector<std::exception_ptr> relay_all(Store& store, std::vector<Together>& all) {
    std::vector<RelayedOne*> ones;
    for (Together& each : all) {
        each.one = {.key = &each.key, .frames = &each.frames, .series = &each.series};
        ones.push_back(&each.one);
    }
    std::vector<std::exception_ptr> errors(ones.size());
    relay_frames(store, ones, errors);
    return errors;
}

// Goal: what is stored together is what would have been stored one by one, twice as once.
TEST_F(Relay, batches_of_several_jobs_are_one_transaction) {
    add_host();
    std::vector<Together> all;
    for (int core = 1; core <= 3; ++core) {
        all.push_back({.key = place(submit(), {core}), .frames = {log_frame(1), log_frame(2)}});
        all.back().frames[0].state = RelayedState{running};
        all.back().frames[0].metrics = {{"loss", 1, 1, double(core)}};
        all.back().frames[1].progress = fmt::format(R"({{"step": {}}})", core);
    }
    for (int time = 0; time < 2; ++time)
        EXPECT_THAT(relay_all(store, all), testing::Each(nullptr));
    EXPECT_EQ(database.sql("select count(distinct xmin::text) from job_event where type = 'log'"),
              "1");
    for (int core = 1; core <= 3; ++core) {
        const Together& each = all[std::size_t(core) - 1];
        EXPECT_EQ(each.one.stored->frames_relayed, 2);
        EXPECT_EQ(each.series.ends.at("loss").points, 1);
        EXPECT_THAT(types(each.key.job_id),
                    ElementsAre("state", "state", "state", "state", "log", "log"));
        const auto points = samples_of(each.key.job_id, "loss");
        ASSERT_EQ(points.size(), 1U);
        EXPECT_EQ(points[0].value, core);
        EXPECT_EQ(find_job(store, each.key.job_id)->progress,
                  fmt::format(R"({{"step": {}}})", core));
    }
}

// Goal: nobody gets what is wrong with another one's batch.
TEST_F(Relay, of_a_group_only_the_refused_and_the_fenced_are_not_stored) {
    add_host();
    std::vector<Together> all;
    for (int core = 1; core <= 4; ++core)
        all.push_back({.key = place(submit(), {core}), .frames = {log_frame(1)}});
    all[0].frames.push_back(checkpoint_frame(2, "mine"));
    all[1].frames.push_back(checkpoint_frame(2, "with_the_id_of_another"));
    all[1].frames[1].checkpoint->id = all[0].frames[1].checkpoint->id;
    all[2].key.fence = "another";
    const std::vector<std::exception_ptr> errors = relay_all(store, all);
    EXPECT_EQ(errors[0], nullptr);
    EXPECT_EQ(errors[2], nullptr);
    EXPECT_EQ(errors[3], nullptr);
    try {
        std::rethrow_exception(errors[1]);
    } catch (const Error& error) {
        EXPECT_TRUE(is_refused_content(error)) << error.what();
    }
    EXPECT_EQ(all[0].one.stored->frames_relayed, 2);
    EXPECT_FALSE(all[1].one.stored);
    EXPECT_FALSE(all[2].one.stored);
    EXPECT_EQ(all[3].one.stored->frames_relayed, 1);
    EXPECT_EQ(types(all[1].key.job_id).size(), 2U);
    EXPECT_EQ(types(all[2].key.job_id).size(), 2U);
    EXPECT_EQ(types(all[3].key.job_id).size(), 3U);
}

// Goal: sequence numbers have no gap and no double, whoever writes.
TEST_F(Relay, events_are_gap_free_under_concurrent_writers) {
    const AttemptKey key = running_job();
    Store other{{.database = database.url()}};
    constexpr int each = 40;
    {
        std::jthread relay([&] {
            for (int i = 0; i < each; ++i)
                relay_frames(store, key, {log_frame(2 * i + 3), log_frame(2 * i + 4)});
        });
        std::vector<std::jthread> writers;
        for (int writer = 0; writer < 3; ++writer) {
            writers.emplace_back([&] {
                for (int i = 0; i < each; ++i)
                    append_event(other, key.job_id, "warning", R"({"code": "x"})");
            });
        }
    }
    EXPECT_EQ(types(key.job_id).size(), 4U + 5U * each);
}

}    // namespace

}    // namespace slipway::store
