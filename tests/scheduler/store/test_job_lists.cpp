// Lists of jobs by time and by the values of a metric.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "scheduler/store/attempts.h"
#include "scheduler/store/deleted_jobs.h"
#include "tests/scheduler/store/samples.h"

namespace slipway::store {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using enum JobState;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

class JobLists : public StoreTest {
protected:
    /// A running job that has measured these values of val_loss, each in a batch of its own.
    AttemptKey measured(const std::string& name, const std::vector<double>& values, int core) {
        NewJob job = new_job(name);
        job.dataset_id = dataset;
        const AttemptKey key = place(submit(job), {core});
        relay_state(key, 1, compiling);
        relay_state(key, 2, running);
        std::int64_t number = 2;
        for (const double value : values) {
            RelayedFrame frame;
            frame.number = ++number;
            frame.progress = R"({"step": 1})";
            frame.metrics = {{"val_loss", number, 1, value}, {"other", number, 1, -value}};
            relay_frames(store, key, {frame});
        }
        return key;
    }

    std::vector<std::string> names(const MetricOrder& order, const JobFilter& filter = {},
                                   int limit = 2) {
        std::vector<std::string> names;
        PageRequest request{.limit = limit};
        do {
            Page<Job> page = list_jobs_by_metric(store, filter, request, order);
            for (const Job& job : page.items) {
                EXPECT_TRUE(job.order_value) << job.name;
                names.push_back(job.name);
            }
            request.cursor = page.next_cursor;
        } while (!request.cursor.empty());
        return names;
    }

    std::vector<std::string> all_names(const JobFilter& filter, JobOrder order, bool descending) {
        std::vector<std::string> names;
        for (const Job& job : list_jobs(store, filter, {}, order, descending).items)
            names.push_back(job.name);
        return names;
    }

    std::string dataset = (add_host(), ready_dataset());
};

// Goal: jobs that run and jobs that have ended are in one order, whatever the size of the pages.
TEST_F(JobLists, a_metric_orders_jobs_by_its_last_lowest_and_highest_value) {
    finish_attempt(store, measured("a", {3, 1, 2}, 1), {.exit_kind = "test", .job_state = failed});
    measured("b", {0.5, 9}, 2);
    finish_attempt(store, measured("c", {5}, 3), {.exit_kind = "test", .job_state = succeeded});
    measured("d", {nan, infinity}, 4);
    measured("e", {4, nan}, 5);
    submit(new_job("waits"));
    for (const int limit : {1, 2, 50}) {
        EXPECT_THAT(names({"val_loss"}, {}, limit), ElementsAre("a", "c", "b"));
        EXPECT_THAT(names({"val_loss", MetricValue::last, true}, {}, limit),
                    ElementsAre("b", "c", "a"));
        EXPECT_THAT(names({"val_loss", MetricValue::lowest}, {}, limit),
                    ElementsAre("b", "a", "e", "c"));
        EXPECT_THAT(names({"val_loss", MetricValue::highest, true}, {}, limit),
                    ElementsAre("b", "c", "e", "a"));
        EXPECT_THAT(names({"other", MetricValue::lowest}, {}, limit),
                    ElementsAre("b", "c", "e", "a"));
    }
    EXPECT_THAT(names({"nothing"}), IsEmpty());
    EXPECT_THAT(names({"val_loss"}, {.states = {running}}), ElementsAre("b"));
    EXPECT_THAT(names({"val_loss"}, {.projects = {"other"}}), IsEmpty());
    EXPECT_THAT(names({"val_loss", MetricValue::lowest}, {.name_contains = "c"}), ElementsAre("c"));
    EXPECT_EQ(count("job_metric"), 4);
    EXPECT_EQ(count("live_job_metric"), 6);
}

TEST_F(JobLists, equal_values_are_listed_once_each) {
    for (int core = 1; core <= 8; ++core)
        measured(std::to_string(core), {1, 1}, core);
    for (const bool descending : {false, true})
        for (const int limit : {1, 3})
            EXPECT_EQ(names({"val_loss", MetricValue::last, descending}, {}, limit).size(), 8U);
}

TEST_F(JobLists, a_cursor_is_good_for_its_metric_and_order_only) {
    measured("a", {1}, 1);
    measured("b", {2}, 2);
    const std::string cursor =
        list_jobs_by_metric(store, {}, {.limit = 1}, {"val_loss"}).next_cursor;
    const auto refused = [&](const MetricOrder& order) {
        return code_of([&] { list_jobs_by_metric(store, {}, {.cursor = cursor}, order); });
    };
    EXPECT_EQ(refused({"other"}), ErrorCode::invalid_argument);
    EXPECT_EQ(refused({"val_loss", MetricValue::lowest}), ErrorCode::invalid_argument);
    EXPECT_EQ(refused({"val_loss", MetricValue::last, true}), ErrorCode::invalid_argument);
}

TEST_F(JobLists, values_of_a_deleted_job_are_gone) {
    const AttemptKey key = measured("a", {1}, 1);
    finish_attempt(store, key, {.exit_kind = "test", .job_state = failed});
    EXPECT_TRUE(delete_job(store, key.job_id));
    EXPECT_EQ(count("job_metric"), 0);
}

// Goal: bounds of time hold in every order, also where a page starts or ends at one.
TEST_F(JobLists, a_time_narrows_every_order) {
    for (const std::string name : {"a", "b", "c", "d"}) {
        finish_attempt(store, measured(name, {1}, 1), {.exit_kind = "test", .job_state = failed});
        // Days apart: further than the clocks of service and database may be.
        const int days = name[0] - 'a';
        const std::string id = database.sql("select id from job where name = '" + name + "'");
        const Instant then = *parse_rfc3339(fmt::format("2030-01-0{}T00:00:00Z", days + 1));
        std::string moved = first_id_at("job", then);
        database.sql(
            fmt::format("set session_replication_role = replica; "
                        "update job set id = '{0}', created_at = '2030-01-0{2}Z', "
                        "finished_at = '2030-01-0{2} 12:00Z' where id = '{1}'; "
                        "update job_metric set job_id = '{0}' where job_id = '{1}'; "
                        "update attempt set job_id = '{0}' where job_id = '{1}'",
                        moved, id, days + 1));
    }
    submit(new_job("waits"));
    const auto day = [](int number) {
        return *parse_rfc3339(fmt::format("2030-01-0{}T00:00:00Z", number));
    };
    const JobFilter created{.created = {.from = day(2), .until = day(4)}};
    const JobFilter finished{.finished = {.from = day(2), .until = day(4)}};
    for (const JobOrder order : {JobOrder::created_at, JobOrder::name, JobOrder::finished_at})
        for (const JobFilter& filter : {created, finished}) {
            JobFilter of_states = filter;
            of_states.states = {failed, queued};
            for (const JobFilter& one : {filter, of_states}) {
                EXPECT_THAT(all_names(one, order, false), ElementsAre("b", "c")) << int(order);
                EXPECT_THAT(all_names(one, order, true), ElementsAre("c", "b")) << int(order);
            }
        }
    EXPECT_EQ(names({"val_loss"}, created).size(), 2U);
    EXPECT_THAT(all_names({.created = {.from = day(4)}}, JobOrder::name, false), ElementsAre("d"));
    EXPECT_THAT(all_names({.finished = {.until = day(2)}}, JobOrder::name, false),
                ElementsAre("a"));
    EXPECT_THAT(all_names({.created = {.from = day(3), .until = day(3)}}, JobOrder::name, false),
                IsEmpty());
}

}    // namespace

}    // namespace slipway::store
