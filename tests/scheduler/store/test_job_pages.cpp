#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"
#include "scheduler/store/text.h"
#include "tests/scheduler/store/samples.h"

namespace slipway::store {

namespace {

constexpr auto every_order =
    std::to_array<JobOrder>({JobOrder::created_at, JobOrder::name, JobOrder::finished_at});

std::vector<JobState> every_job_state() {
    std::vector<JobState> states;
    for (const std::string_view word : Spelling<JobState>::words)
        states.push_back(parse_word<JobState>(word).value());
    return states;
}

class JobPages : public StoreTest {
protected:
    /// So many jobs in each state, with names in another order than ids and some alike; those that
    /// hold cores have a live attempt, and are no more than `active_max`.
    void fill(int jobs_of_state, int active_max) {
        add_host();
        const std::string dataset = ready_dataset();
        for (const JobState state : every_job_state()) {
            const int jobs = is_active(state) ? std::min(jobs_of_state, active_max) : jobs_of_state;
            insert_jobs(jobs, dataset, "cores, labels",
                        fmt::format(R"(1, '{{"in": "{}"}}')", to_string(state)));
            put_new_jobs(state);
        }
        database.sql(
            "alter table job disable trigger user; "
            "update job set name = 'n' || hashtext(id) % 500, project = 'p' || hashtext(id) % 2; "
            "update job set finished_at = clock_timestamp() - hashtext(id) % 300 * interval '1 s' "
            "where finished_at is not null; "
            "update queue set name = job.name from job where job.id = job_id; "
            "alter table job enable trigger user; analyze job; analyze queue; analyze attempt");
    }

    /// The jobs called "many" get a name and a state, whatever the state machine says.
    void put_new_jobs(JobState state) const {
        std::string script = "alter table job disable trigger user; ";
        if (state != JobState::queued)
            script +=
                "delete from queue where job_id in (select id from job where name = 'many'); ";
        if (is_active(state))
            script +=
                "insert into attempt (job_id, attempt, fence) "
                "select id, 1, md5(id) from job where name = 'many'; ";
        script += fmt::format(
            "update job set name = 'put', state = '{}', finished_at = {}, intent = {} where name = "
            "'many'; "
            "alter table job enable trigger user",
            to_string(state), is_final(state) ? "clock_timestamp()" : "null",
            default_intent(state) ? fmt::format("'{}'", to_string(*default_intent(state)))
                                  : "null");
        database.sql(script);
    }

    std::vector<Job> all_pages(const JobFilter& filter, JobOrder order, bool descending,
                               int limit) {
        std::vector<Job> jobs;
        std::string cursor;
        do {
            Page<Job> page =
                list_jobs(store, filter, {.limit = limit, .cursor = cursor}, order, descending);
            std::ranges::move(page.items, std::back_inserter(jobs));
            cursor = page.next_cursor;
        } while (!cursor.empty());
        return jobs;
    }
};

/// What a list is sorted by.
std::tuple<Instant, std::string, std::string> sort_key(const Job& job, JobOrder order) {
    return {order == JobOrder::finished_at ? job.finished_at.value_or(Instant::max()) : Instant{},
            order == JobOrder::name ? job.name : "", job.id};
}

// Goal: whatever is asked for and in whatever order, the pages together are exactly those jobs.
// Method: the judge filters and sorts all jobs in memory.
TEST_F(JobPages, every_state_in_every_order_gives_every_job_once) {
    fill(7, 2);
    database.sql(
        "update job set name = 'few' || id where hashtext(id) % 3 = 0; "
        "update queue set name = job.name from job where job.id = job_id");
    const std::vector<Job> all = all_pages({}, JobOrder::created_at, true, 200);
    ASSERT_EQ(all.size(), 8U * 7 + 7 * 2);
    std::vector<JobFilter> filters{
        {},
        {.projects = {"p1"}},
        {.name_contains = "Few"},
        {.states = {JobState::queued, JobState::failed}, .labels = {{"in", "failed"}}}};
    filters.push_back({.states = every_job_state()});
    filters.push_back({.states = {JobState::queued, JobState::running, JobState::paused}});
    for (const JobState state : every_job_state())
        filters.push_back({.states = {state}});
    for (const JobFilter& filter : filters) {
        for (const JobOrder order : every_order) {
            std::vector<Job> wanted;
            std::ranges::copy_if(all, std::back_inserter(wanted), [&](const Job& job) {
                return (filter.states.empty() ||
                        std::ranges::find(filter.states, job.state) != filter.states.end()) &&
                       (filter.projects.empty() || job.project == filter.projects[0]) &&
                       (filter.name_contains.empty() || job.name.starts_with("few")) &&
                       (filter.labels.empty() || job.labels == filter.labels);
            });
            std::ranges::sort(wanted, {}, [&](const Job& job) { return sort_key(job, order); });
            for (const bool descending : {false, true}) {
                const std::vector<Job> listed = all_pages(filter, order, descending, 6);
                EXPECT_TRUE(std::ranges::equal(listed, wanted, {}, &Job::id, &Job::id))
                    << int(order) << (descending ? " descending, " : ", ") << listed.size()
                    << " instead of " << wanted.size();
                std::ranges::reverse(wanted);
            }
        }
    }
}

TEST_F(JobPages, a_renamed_job_that_waits_is_listed_by_its_new_name) {
    const std::string first = submit(new_job("b"));
    const std::string second = submit(new_job("c"));
    patch_job(store, second, {.name = "a"}, std::nullopt);
    const std::vector<Job> listed =
        all_pages({.states = {JobState::queued}}, JobOrder::name, false, 1);
    ASSERT_EQ(listed.size(), 2U);
    EXPECT_EQ(listed[0].id, second);
    EXPECT_EQ(listed[1].id, first);
}

/// The most rows that one node of a plan has given or thrown away; a scan of the whole table is as
/// many as there are.
double rows_read(const nlohmann::json& node) {
    const double loops = node.at("Actual Loops").get<double>();
    double most =
        (node.at("Actual Rows").get<double>() + node.value("Rows Removed by Filter", 0.0) +
         node.value("Rows Removed by Join Filter", 0.0)) *
        loops;
    if (node.contains("Plans"))
        for (const nlohmann::json& child : node.at("Plans"))
            most = std::max(most, rows_read(child));
    return most;
}

struct Asked {
    JobOrder order;
    const Query& query;
    const char* key;    ///< what it sorts by before ids
    std::string first_id;
    std::string first_key;
    const char* parent = "null";
};

const std::array<Asked, 2> own_lists{
    {{JobOrder::created_at, queries::list_own_jobs_by_created_at_descending, "''::text", "k", "",
      "'none'"},
     {JobOrder::finished_at, queries::list_own_jobs_by_finished_at_descending,
      "coalesce(finished_at, 'infinity')", "k", "infinity", "'none'"}}};

const std::array<Asked, 6> lists{
    {{JobOrder::created_at, queries::list_jobs_by_created_at_descending, "''::text", "k", ""},
     {JobOrder::created_at, queries::list_jobs_by_created_at, "''::text", "", ""},
     {JobOrder::name, queries::list_jobs_by_name_descending, "name", "k", "~"},
     {JobOrder::name, queries::list_jobs_by_name, "name", "", ""},
     {JobOrder::finished_at, queries::list_jobs_by_finished_at_descending,
      "coalesce(finished_at, 'infinity')", "k", "infinity"},
     {JobOrder::finished_at, queries::list_jobs_by_finished_at, "coalesce(finished_at, 'infinity')",
      "", "-infinity"}}};

class JobPagePlans : public JobPages {
protected:
    static constexpr int limit = 20;

    /// The id and the key of the job in the middle of a list.
    std::pair<std::string, std::string> middle_of(const Asked& asked,
                                                  const std::string& states) const {
        const std::string row = database.sql(fmt::format(
            "select id || ' ' || {0} from job where state = any ('{{{1}}}') order by {0}, id "
            "offset (select count(*) / 2 from job where state = any ('{{{1}}}')) limit 1",
            asked.key, states));
        return {row.substr(0, row.find(' ')), row.substr(row.find(' ') + 1)};
    }

    /// Of a page from the beginning and one from the middle, as the store asks for them: PostgreSQL
    /// may keep a plan for any values from the sixth time on.
    double rows_of_pages(const Asked& asked, const std::string& states) const {
        const auto [id, key] = middle_of(asked, states);
        const std::string first = call_of(asked, states, asked.first_id, asked.first_key);
        const std::string middle = call_of(asked, states, id, key);
        std::string script = fmt::format("prepare list as {}; ", asked.query.sql);
        for (int i = 0; i < 3; ++i)
            script += first + "; " + middle + "; ";
        double most = 0;
        for (const std::string& call : {first, middle}) {
            const std::string plan =
                database.sql(script + "explain (analyze, format json) " + call);
            most = std::max(most, rows_read(nlohmann::json::parse(plan).at(0).at("Plan")));
        }
        return most;
    }

    static std::string call_of(const Asked& asked, const std::string& states, const std::string& id,
                               const std::string& key) {
        return fmt::format(
            "execute list ('{{{}}}', null, null, null, null, null, null, null, {}, '{}', {}{}, "
            "1000000, null)",
            states, asked.parent, id, limit,
            asked.order == JobOrder::created_at ? "" : fmt::format(", '{}'", key));
    }
};

// Goal: a page costs what it holds, however many jobs there are.
// Method: every state and all of them, in every order, from the beginning and from the middle.
TEST_F(JobPagePlans, no_page_of_a_state_reads_past_its_end) {
    fill(500, 8);
    std::vector<std::string> state_lists;
    for (const std::string_view word : Spelling<JobState>::words)
        state_lists.emplace_back(word);
    state_lists.push_back(fmt::format("{}", fmt::join(Spelling<JobState>::words, ",")));
    for (const Asked& asked : lists) {
        for (const std::string& states : state_lists) {
            EXPECT_LE(rows_of_pages(asked, states), limit * 20)
                << asked.query.name << ' ' << states;
        }
    }
}

// Goal: a search for a name that few jobs have costs as much as these jobs, in whatever state they
// are. Method: the plans of both statements of such a list.
TEST_F(JobPagePlans, a_search_by_name_does_not_read_every_job) {
    fill(500, 8);
    database.sql(
        "alter table job disable trigger user; "
        "update job set name = 'needle' where id in (select id from job order by id limit 3); "
        "alter table job enable trigger user");
    database.sql("vacuum analyze job");
    const auto rows_of = [&](const Query& query, const std::string& call) {
        const std::string plan =
            database.sql(fmt::format("set plan_cache_mode = force_custom_plan; prepare list as {}; "
                                     "explain (analyze, format json) execute list ({})",
                                     query.sql, call));
        return rows_read(nlohmann::json::parse(plan).at(0).at("Plan"));
    };
    EXPECT_LE(rows_of(queries::list_named_jobs, "'%needle%', 1001"), 10);
    const std::string ids =
        database.sql("select quote_literal(array_agg(id)::text) from job where name = 'needle'");
    const std::string filter = ", null, '%needle%', null, null, null, null, null, null";
    EXPECT_LE(
        rows_of(queries::list_newest_jobs, filter.substr(2) + ", 'k', 51, '', 1000000, " + ids),
        30);
    const std::string states = fmt::format("'{{{}}}'", fmt::join(Spelling<JobState>::words, ","));
    for (const Asked& asked : lists) {
        const std::string key =
            asked.order == JobOrder::created_at ? "" : fmt::format(", '{}'", asked.first_key);
        EXPECT_LE(rows_of(asked.query, fmt::format("{}{}, '{}', 51{}, 1000000, {}", states, filter,
                                                   asked.first_id, key, ids)),
                  60)
            << asked.query.name;
    }
}

// Goal: however many trials have ended last, the jobs that are none are found. Method: 99 of 100
// jobs are trials; a page of the others reads few of them.
TEST_F(JobPagePlans, a_page_of_own_jobs_reads_no_trials) {
    fill(1000, 1);
    database.sql(
        "alter table job disable trigger user; "
        "update job set parent_id = 'swp_' || repeat('0', 26), parent_key = id "
        "where hashtext(id) % 100 <> 0; "
        "alter table job enable trigger user");
    database.sql("vacuum analyze job");
    for (const Asked& asked : own_lists) {
        for (const char* states : {"succeeded", "failed", "paused", "succeeded,failed,cancelled"}) {
            EXPECT_LE(rows_of_pages(asked, states), limit * 5) << asked.query.name << ' ' << states;
        }
    }
}

}    // namespace

}    // namespace slipway::store
