#include "migrations/migrate.h"

#include <gmock/gmock.h>

#include <array>
#include <thread>

#include "api/base/error.h"
#include "tests/support/temp_postgres.h"

namespace slipway::migrations {

namespace {

using ::testing::ElementsAre;
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
    const std::array<Migration, 2> small{{{1, "one", "create table one (a int)", "drop table one"},
                                          {2, "two",
                                           "create table two (b int); insert into two "
                                           "values (1)",
                                           "drop table two"}}};
};

TEST_F(Migrations, the_embedded_steps_are_numbered_without_gaps) {
    int expected = 1;
    for (const Migration& step : all()) {
        EXPECT_EQ(step.number, expected++);
        EXPECT_FALSE(step.name.empty() || step.up.empty() || step.down.empty());
    }
}

TEST_F(Migrations, up_down_up_gives_the_same_schema_at_every_step) {
    const std::string empty = schema();
    std::vector<std::string> after{empty};
    for (const Migration& step : all()) {
        EXPECT_THAT(up(database.url(), step.number), ElementsAre(step.number));
        after.push_back(schema());
    }
    EXPECT_THAT(up(database.url()), IsEmpty());
    for (int number = int(all().size()); number > 1; --number) {
        EXPECT_THAT(down(database.url(), number - 1), ElementsAre(number));
        EXPECT_EQ(schema(), after[std::size_t(number) - 1]) << "down of " << number;
    }
    down(database.url(), 0);
    EXPECT_EQ(schema(), empty);
    EXPECT_EQ(up(database.url()).size(), all().size());
    EXPECT_EQ(schema(), after.back());
}

TEST_F(Migrations, the_status_tells_what_is_applied) {
    ASSERT_EQ(status(database.url(), small).size(), 2U);
    EXPECT_FALSE(status(database.url(), small)[0].applied_at);
    up(database.url(), 1, small);
    EXPECT_TRUE(status(database.url(), small)[0].applied_at);
    EXPECT_FALSE(status(database.url(), small)[1].applied_at);
    EXPECT_THAT(problems(small), ElementsAre("", ""));
}

TEST_F(Migrations, a_changed_or_unknown_step_is_refused_before_anything_happens) {
    up(database.url(), std::nullopt, small);
    std::array<Migration, 3> changed{
        {small[0], small[1], {3, "three", "create table three ()", "drop table three"}}};
    changed[1].up = "create table two (b bigint)";
    EXPECT_THAT(problems(changed), ElementsAre("", "changed since it was applied", ""));
    EXPECT_THROW(up(database.url(), std::nullopt, changed), Error);
    EXPECT_THROW(down(database.url(), 0, changed), Error);
    EXPECT_EQ(database.sql("select to_regclass('three') is null"), "t");

    const std::span<const Migration> older(small.data(), 1);
    EXPECT_THAT(problems(older), ElementsAre("", "unknown to this program"));
    EXPECT_THROW(up(database.url(), std::nullopt, older), Error);

    database.sql("update schema_migration set checksum = 'tampered' where number = 1");
    EXPECT_THROW(up(database.url(), std::nullopt, small), Error);
}

TEST_F(Migrations, a_step_that_fails_leaves_nothing_of_itself) {
    const std::array<Migration, 3> broken{
        {small[0],
         {2, "two", "create table two (b int); select nonsense", "drop table two"},
         {3, "three", "create table three ()", "drop table three"}}};
    EXPECT_THROW(up(database.url(), std::nullopt, broken), Error);
    EXPECT_TRUE(status(database.url(), broken)[0].applied_at);
    EXPECT_FALSE(status(database.url(), broken)[1].applied_at);
    EXPECT_EQ(database.sql("select to_regclass('two') is null"), "t");
    // Mended, it goes on from there.
    EXPECT_THAT(up(database.url(), std::nullopt, small), ElementsAre(2));
}

TEST_F(Migrations, several_processes_at_once_apply_each_step_once) {
    std::vector<std::vector<int>> applied(3);
    {
        std::vector<std::jthread> threads;
        for (std::vector<int>& mine : applied)
            threads.emplace_back([&] { mine = up(database.url(), std::nullopt, small); });
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
