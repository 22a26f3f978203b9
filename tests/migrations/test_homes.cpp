// Databases of the builds before the first release: the first of them (number 4) and the newest
// (75), each with 1,000 jobs in every state, 120 of them with a live attempt. What they hold is
// asked in the words of their schema before the upgrade, and in today's after it.
#include <gtest/gtest.h>

#include <array>
#include <sstream>

#include "api/base/error.h"
#include "migrations/migrate.h"
#include "scheduler/store/cluster/process.h"
#include "scheduler/store/invariants.h"
#include "tests/support/temp_folder.h"
#include "tests/support/temp_postgres.h"

namespace slipway::migrations {

namespace {

struct Content {
    const char* name;
    const char* newest;
    const char* first;    ///< where the first build has other tables
};

constexpr auto contents = std::to_array<Content>({
    {"job",
     "select id, name, project, labels, state, reason_code, spec, best, dataset_id, queue_class, "
     "cores, not_before, event_seq, attempts, restarts, version, created_by, created_at, "
     "started_at, finished_at from job",
     nullptr},
    {"intent", "select id, intent from job where intent is not null",
     "select id, case state when 'cancelling' then 'cancel' when 'pausing' then 'pause' "
     "else 'preempt' end from job where state in ('cancelling', 'pausing', 'preempting')"},
    {"job_event", "select job_id, seq, type, body::text, created_at from job_event", nullptr},
    {"attempt",
     "select job_id, attempt, fence, exit_kind, created_at, started_at, ended_at from attempt",
     "select job_id, attempt, token, exit_kind, created_at, started_at, ended_at from attempt"},
    {"member", "select job_id, attempt, host, cores, pid, start_ticks from attempt_member",
     "select job_id, attempt, host, cores, pid, start_ticks from attempt"},
    {"lease", "select host, core, job_id, attempt, leased_at, expires_at from lease", nullptr},
    {"host", "select name, cores, heartbeat_at from host", nullptr},
    {"dataset", "select id, project, name, state, source, checked_at from dataset", nullptr},
    {"checkpoint", "select id, job_id, attempt, name, step, files, bytes from checkpoint", nullptr},
    {"points",
     "select job_id, name, sum(points), min(step_first), max(step_last) from "
     "metric_chunk group by 1, 2",
     "select job_id, name, count(*), min(step), max(step) from metric_point group by 1, 2"},
    {"queue", "select job_id, class_rank, queued_at, cores, not_before from queue",
     "select job_id, class_rank, age_key, cores, not_before from queue"},
    {"states", "select state, sum(jobs) from current_job_count group by 1 having sum(jobs) <> 0",
     "select state, count(*) from job group by 1"},
});

std::string script(const std::string& name) {
    return read_file(SLIPWAY_SOURCE_DIR "/tests/migrations/" + name);
}

/// What pg_dump makes of the schema, without the lines that differ from run to run, and the rows
/// that it begins with.
std::string schema_of(const TempDatabase& database) {
    const TempFolder folder;
    const std::filesystem::path file = folder.path() / "schema.sql";
    EXPECT_EQ(
        store::run_process({.words = {"/usr/bin/pg_dump", "--schema-only",
                                      "--dbname=" + database.url(), "--file=" + file.string()}}),
        0);
    std::istringstream lines(read_file(file));
    std::string schema = database.sql(
        "select string_agg(row::text, ' ' order by row::text) from ("
        "select name, final::text from job_state "
        "union all select from_state, to_state from job_transition "
        "union all select kind, '' from retention_mark "
        "union all select number::text, checksum from schema_migration) as row");
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with('\\')) schema += line + '\n';
    return schema;
}

class Homes : public ::testing::Test {
protected:
    std::vector<std::string> contents_of(bool first) const {
        std::vector<std::string> digests;
        for (const Content& content : contents) {
            const std::string query = first && content.first ? content.first : content.newest;
            digests.push_back(std::string(content.name) + " " +
                              database.sql("select count(*) || ' ' || md5(coalesce(string_agg("
                                           "line::text, '|' order by line::text), '')) from (" +
                                           query + ") as line"));
        }
        return digests;
    }

    void expect_no_violation() const {
        store::Store store({.database = database.url()});
        for (const store::Invariant& invariant : store::invariants()) {
            const auto violations = store::find_violations(store, invariant, 3);
            EXPECT_TRUE(violations.empty())
                << invariant.name << ": " << violations[0].object << " " << violations[0].detail;
        }
    }

    void make_first() const {
        database.sql(script("first_build.sql") + script("first_jobs.sql") + script("jobs.sql"));
    }

    void make_newest() const {
        up(database.url(), {}, all().first(1));
        database.sql(script("newest_jobs.sql") + script("jobs.sql") +
                     "alter table job alter column kind drop default; "
                     "delete from schema_migration; "
                     "insert into schema_migration values (1, 'access', ''), (75, 'watched', '')");
    }

    void expect_upgraded(bool first) {
        const std::vector<std::string> before = contents_of(first);
        ASSERT_EQ(database.sql("select count(*) from job"), "1000");
        int backups = 0;
        EXPECT_EQ(up(database.url(), [&] { ++backups; }).size(), all().size());
        EXPECT_EQ(backups, 1);
        EXPECT_EQ(contents_of(false), before);
        EXPECT_EQ(schema_of(database), schema_of(TempDatabase()));
        expect_no_violation();
        EXPECT_TRUE(up(database.url(), [&] { ++backups; }).empty());
        EXPECT_EQ(backups, 1);
    }

    TempDatabase database{true};
};

TEST_F(Homes, the_first_build_is_upgraded_and_loses_nothing) {
    make_first();
    expect_upgraded(true);
}

TEST_F(Homes, the_newest_build_is_upgraded_and_loses_nothing) {
    make_newest();
    expect_upgraded(false);
}

// What a build did not have: members, points in chunks, rows of cores, counts.
TEST_F(Homes, jobs_of_the_first_build_go_on) {
    make_first();
    up(database.url());
    EXPECT_EQ(database.sql("select count(*) from core_slot"), "128");
    EXPECT_EQ(database.sql("select kind from job group by 1"), "train");
    const std::string job = "'job_" + std::string(24, '0') + "15'";
    database.sql("update job set state = 'running' where id = " + job);
    database.sql("begin; update job set state = 'failed' where id = " + job +
                 "; update attempt set ended_at = now(), exit_kind = 'failed' where job_id = " +
                 job + "; delete from lease where job_id = " + job + "; commit");
    EXPECT_EQ(database.sql("select type from job_event where job_id = " + job +
                           " order by seq desc limit 1"),
              "end");
    expect_no_violation();
}

TEST_F(Homes, identities_go_on_after_those_that_were_deleted) {
    make_first();
    database.sql(
        "insert into garbage (path) values ('runs/a'), ('runs/b'); "
        "delete from garbage where path = 'runs/b'");
    up(database.url());
    EXPECT_EQ(database.sql("insert into garbage (path) values ('runs/c') returning id"), "3");
}

TEST_F(Homes, an_unknown_build_is_refused_and_left_alone) {
    make_first();
    for (const char* number : {"3", "76"}) {
        database.sql(std::string("delete from schema_migration where number > 1; "
                                 "insert into schema_migration values (") +
                     number + ", 'other', '')");
        try {
            up(database.url());
            FAIL() << "there was no build " << number;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::conflict);
        }
        EXPECT_EQ(database.sql("select to_regclass('unreleased.job') is null"), "t");
    }
}

TEST_F(Homes, the_status_of_an_unreleased_build_says_that_it_can_be_upgraded) {
    make_first();
    const std::vector<Status> steps = status(database.url());
    EXPECT_EQ(steps[0].number, 4);
    EXPECT_EQ(steps[0].problem, "of a build before release 0.1");
    EXPECT_TRUE(steps[0].is_older);
    EXPECT_FALSE(steps[1].applied_at);
}

}    // namespace

}    // namespace slipway::migrations
