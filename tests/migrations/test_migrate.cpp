#include "migrations/migrate.h"

#include <gmock/gmock.h>

#include <array>
#include <thread>

#include "api/base/error.h"
#include "tests/support/temp_postgres.h"

namespace slipway::migrations {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Migrations : public ::testing::Test {
protected:
    /// Everything the schema consists of, as text: to compare two states of a database.
    std::string schema() const {
        return database.sql(
            "select md5(coalesce(string_agg(line, e'\\n' order by line), 'empty')) from ("
            "  select table_name || column_name || data_type || is_nullable "
            "    || coalesce(column_default, '') as line "
            "  from information_schema.columns where table_schema = 'public' "
            "  union all select conrelid::regclass || conname || pg_get_constraintdef(oid) "
            "  from pg_constraint where connamespace = 'public'::regnamespace "
            "  union all select indexdef from pg_indexes where schemaname = 'public' "
            "  union all select pg_get_triggerdef(oid) from pg_trigger where not tgisinternal "
            "  union all select pg_get_functiondef(oid) from pg_proc "
            "  where pronamespace = 'public'::regnamespace) as lines");
    }

    std::vector<std::string> problems(std::span<const Migration> steps) const {
        std::vector<std::string> problems;
        for (const Status& step : status(database.url(), steps))
            problems.push_back(step.problem);
        return problems;
    }

    TempDatabase database{true};
    const std::array<Migration, 2> small{
        {{1, "one", "0.1", "create table one (a int)", ""},
         {2, "two", "0.2", "create table two (b int); insert into two values (1)",
          "drop table two"}}};
    /// A second step of release 0.2, and one of 0.3.
    const std::array<Migration, 4> four{
        {small[0],
         small[1],
         {3, "three", "0.2", "create table three ()", "drop table three"},
         {4, "four", "0.3", "create table four ()", "drop table four"}}};
};

TEST_F(Migrations, the_embedded_steps_are_numbered_without_gaps) {
    int expected = 1;
    for (const Migration& step : all()) {
        EXPECT_EQ(step.number, expected++);
        EXPECT_FALSE(step.name.empty() || step.release.empty() || step.up.empty());
        EXPECT_EQ(step.down.empty(), step.number == 1);
    }
}

TEST_F(Migrations, an_empty_database_gets_the_schema_once) {
    EXPECT_EQ(up(database.url()).size(), all().size());
    EXPECT_THAT(up(database.url()), IsEmpty());
}

// Each release has its way back: the schema is the same as before its steps, and that of schema.sql
// at the end.
TEST_F(Migrations, down_leaves_the_schema_of_the_release_before) {
    up(database.url(), {}, all().first(1));
    std::vector<std::string> before_release{schema()};
    std::string release = std::string(all()[0].release);
    for (std::size_t count = 2; count <= all().size(); ++count) {
        if (all()[count - 1].release != release) before_release.push_back(schema());
        release = all()[count - 1].release;
        up(database.url(), {}, all().first(count));
    }
    const std::string newest = schema();
    for (auto before = before_release.rbegin(); before != before_release.rend(); ++before) {
        down(database.url());
        EXPECT_EQ(schema(), *before);
    }
    EXPECT_THROW(down(database.url()), Error);
    up(database.url());
    EXPECT_EQ(schema(), newest);
}

// Goal: a database whose owner may not create the extension says what to do, and is as it was.
TEST_F(Migrations, an_extension_that_cannot_be_created_is_named) {
    up(database.url(), {}, all().first(1));
    Migration names = all()[1];
    std::string script(names.up);
    const auto try_as = [&](const char* from, const char* to) {
        std::string changed = script;
        changed.replace(changed.find(from), std::string_view(from).size(), to);
        names.up = changed;
        const std::array<Migration, 2> steps{all()[0], names};
        try {
            up(database.url(), {}, steps);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_THAT(try_as("from pg_available_extensions where name = 'pg_trgm'",
                       "from pg_available_extensions where false"),
                HasSubstr("postgresql-contrib"));
    EXPECT_THAT(try_as("has_database_privilege(current_database(), 'create')", "false"),
                HasSubstr("as a superuser"));
    EXPECT_EQ(status(database.url()).at(1).applied_at, std::nullopt);
    database.sql("create extension pg_trgm");
    EXPECT_THAT(up(database.url()), ElementsAre(2, 3, 4)) << "one that a superuser has created";
    EXPECT_THAT(down(database.url()), ElementsAre(4, 3, 2));
}

TEST_F(Migrations, down_reverts_all_steps_of_the_newest_release) {
    up(database.url(), {}, four);
    EXPECT_THAT(down(database.url(), {}, four), ElementsAre(4));
    EXPECT_THAT(down(database.url(), {}, four), ElementsAre(3, 2));
    EXPECT_EQ(database.sql("select to_regclass('two') is null"), "t");
    try {
        down(database.url(), {}, four);
        FAIL() << "there is no schema before the first";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::conflict);
    }
    EXPECT_THAT(up(database.url(), {}, four), ElementsAre(2, 3, 4));
}

// Goal: a database that holds something is backed up before its schema changes, and only then.
TEST_F(Migrations, a_backup_comes_before_each_change_of_a_schema) {
    int backups = 0;
    const Backup backup = [&] { ++backups; };
    up(database.url(), backup, std::span(four).first(1));
    EXPECT_EQ(backups, 0) << "the database was empty";
    up(database.url(), backup, four);
    EXPECT_EQ(backups, 1) << "three steps";
    up(database.url(), backup, four);
    EXPECT_EQ(backups, 1) << "nothing to change";
    down(database.url(), backup, four);
    EXPECT_EQ(backups, 2);
}

TEST_F(Migrations, nothing_changes_without_its_backup) {
    const Backup fails = [] { throw Error{ErrorCode::unavailable, "the disk is full"}; };
    up(database.url(), {}, small);
    EXPECT_THROW(up(database.url(), fails, four), Error);
    EXPECT_EQ(database.sql("select to_regclass('three') is null"), "t");
    EXPECT_THROW(down(database.url(), fails, four), Error);
    EXPECT_EQ(database.sql("select to_regclass('two') is null"), "f");
}

TEST_F(Migrations, the_status_tells_what_is_applied) {
    ASSERT_EQ(status(database.url(), small).size(), 2U);
    EXPECT_FALSE(status(database.url(), small)[0].applied_at);
    up(database.url(), {}, std::span(small).first(1));
    EXPECT_TRUE(status(database.url(), small)[0].applied_at);
    EXPECT_FALSE(status(database.url(), small)[1].applied_at);
    EXPECT_THAT(problems(small), ElementsAre("", ""));
}

TEST_F(Migrations, a_changed_or_unknown_step_is_refused_before_anything_happens) {
    up(database.url(), {}, small);
    std::array<Migration, 3> changed{
        {small[0], small[1], {3, "three", "0.3", "create table three ()", "drop table three"}}};
    changed[1].up = "create table two (b bigint)";
    EXPECT_THAT(problems(changed), ElementsAre("", "changed since it was applied", ""));
    EXPECT_THROW(up(database.url(), {}, changed), Error);
    EXPECT_THROW(down(database.url(), {}, changed), Error);
    EXPECT_EQ(database.sql("select to_regclass('three') is null"), "t");

    const std::span<const Migration> older(small.data(), 1);
    EXPECT_THAT(problems(older), ElementsAre("", "unknown to this program"));
    EXPECT_THROW(up(database.url(), {}, older), Error);

    database.sql("update schema_migration set checksum = 'tampered' where number = 1");
    EXPECT_THROW(up(database.url(), {}, small), Error);
}

TEST_F(Migrations, a_step_that_fails_leaves_nothing_of_itself) {
    const std::array<Migration, 3> broken{
        {small[0],
         {2, "two", "0.2", "create table two (b int); select nonsense", "drop table two"},
         {3, "three", "0.3", "create table three ()", "drop table three"}}};
    EXPECT_THROW(up(database.url(), {}, broken), Error);
    EXPECT_TRUE(status(database.url(), broken)[0].applied_at);
    EXPECT_FALSE(status(database.url(), broken)[1].applied_at);
    EXPECT_EQ(database.sql("select to_regclass('two') is null"), "t");
    // Fixed, it continues from there.
    EXPECT_THAT(up(database.url(), {}, small), ElementsAre(2));
}

TEST_F(Migrations, several_processes_at_once_apply_each_step_once) {
    std::vector<std::vector<int>> applied(3);
    {
        std::vector<std::jthread> threads;
        for (std::vector<int>& mine : applied)
            threads.emplace_back([&] { mine = up(database.url(), {}, small); });
    }
    EXPECT_EQ(applied[0].size() + applied[1].size() + applied[2].size(), 2U);
    EXPECT_EQ(database.sql("select count(*) from two"), "1");
}

TEST_F(Migrations, an_unreachable_database_is_unavailable) {
    try {
        up("host=/nowhere dbname=slipway");
        FAIL() << "there is no database at /nowhere";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::unavailable);
    }
}

}    // namespace

}    // namespace slipway::migrations
