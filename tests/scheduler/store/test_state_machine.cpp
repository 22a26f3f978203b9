#include <gtest/gtest.h>

#include "api/spec/event.h"
#include "tests/scheduler/store/samples.h"

namespace slipway::store {

namespace {

class StateMachine : public StoreTest {
protected:
    /// A job put into `from` behind the triggers' back, with a live attempt exactly when `to` needs
    /// one, so that only the transition itself can be refused.
    std::string job_in(JobState from, JobState to) {
        const std::string id = submit();
        const std::optional<Intent> intent = default_intent(from);
        std::string script = fmt::format(
            "begin; set local session_replication_role = replica; "
            "update job set state = '{0}', finished_at = {2}, intent = {3} where id = '{1}';",
            to_string(from), id, is_final(from) ? "clock_timestamp()" : "null",
            intent ? fmt::format("'{}'", to_string(*intent)) : "null");
        if (from != JobState::queued)
            script += fmt::format("delete from queue where job_id = '{}';", id);
        if (is_active(to)) {
            script +=
                fmt::format("insert into attempt (job_id, attempt, fence) values ('{}', 1, '{}');",
                            id, random_hex(16));
        }
        database.sql(script + "commit");
        return id;
    }
};

// Goal: the database allows exactly the moves of api/spec/job_state. Method: every pair.
TEST_F(StateMachine, every_pair_of_states_is_as_in_the_table) {
    add_host();
    for (const std::string_view from_word : all_words<JobState>()) {
        for (const std::string_view to_word : all_words<JobState>()) {
            const JobState from = *parse_word<JobState>(from_word);
            const JobState to = *parse_word<JobState>(to_word);
            if (from == to) continue;
            const std::string id = job_in(from, to);
            const std::int64_t events = count("job_event where job_id = '" + id + "'");
            bool moved = true;
            try {
                move_job(store, id, to, Reason{"test", "because"});
            } catch (const IllegalTransition& refusal) {
                moved = false;
                EXPECT_EQ(refusal.from(), from_word);
                EXPECT_EQ(refusal.to(), to_word);
            }
            EXPECT_EQ(moved, allowed(from, to)) << from_word << " -> " << to_word;
            const std::int64_t added = moved ? 1 + int(is_final(to)) : 0;
            const Job job = find_job(store, id).value();
            EXPECT_EQ(job.state, moved ? to : from);
            EXPECT_EQ(count("job_event where job_id = '" + id + "'"), events + added);
            EXPECT_EQ(job.event_seq, events + added);
            EXPECT_EQ(job.finished_at.has_value(), is_final(job.state));
            EXPECT_EQ(count("queue where job_id = '" + id + "'"), job.state == JobState::queued);
        }
    }
}

TEST_F(StateMachine, the_tables_are_equal) {
    EXPECT_EQ(count("job_transition"), std::int64_t(transitions().size()));
    for (const Transition& row : transitions()) {
        EXPECT_EQ(count(fmt::format("job_transition where from_state = '{}' and to_state = '{}'",
                                    to_string(row.from), to_string(row.to))),
                  1);
    }
    EXPECT_EQ(count("job_state"), std::int64_t(all_words<JobState>().size()));
    for (const std::string_view word : all_words<JobState>()) {
        EXPECT_EQ(count(fmt::format("job_state where name = '{}' and final = {}", word,
                                    is_final(*parse_word<JobState>(word)))),
                  1);
    }
}

TEST_F(StateMachine, the_table_of_events_takes_the_types_of_the_api_but_for_a_streams_own) {
    const std::string id = submit();
    std::int64_t seq = 1000;
    for (const std::string_view word : all_words<EventType>()) {
        const std::string insert = fmt::format(
            "insert into job_event (job_id, seq, type, body) values ('{}', {}, '{}', '{{}}')", id,
            ++seq, word);
        if (word == to_string(EventType::gap))
            EXPECT_THROW(database.sql(insert), Error);
        else
            EXPECT_NO_THROW(database.sql(insert)) << word;
    }
}

TEST_F(StateMachine, a_job_holding_cores_leaves_them_only_with_its_attempt) {
    const AttemptKey key = running_job();
    // Legal moves of the table, but an executor is still there.
    EXPECT_THROW(move_job(store, key.job_id, JobState::queued, std::nullopt), IllegalTransition);
    EXPECT_THROW(move_job(store, key.job_id, JobState::failed, std::nullopt), IllegalTransition);
    EXPECT_EQ(state_of(key.job_id), JobState::running);
    EXPECT_EQ(count("lease"), 1);
    EXPECT_THROW(database.sql("update attempt set ended_at = clock_timestamp(), exit_kind = 'x'"),
                 Error);
}

TEST_F(StateMachine, a_job_and_its_attempt_change_in_two_statements_of_one_transaction) {
    const std::string id = running_job().job_id;
    const std::string end_attempt =
        "update attempt set ended_at = clock_timestamp(), exit_kind = 'x';";
    const std::string end_job = "update job set state = 'failed';";
    EXPECT_THROW(database.sql("begin;" + end_attempt + "commit"), Error);
    EXPECT_THROW(database.sql("begin;" + end_job + "commit"), Error);
    EXPECT_EQ(state_of(id), JobState::running);
    EXPECT_NO_THROW(database.sql("begin;" + end_job + end_attempt + "commit"));
    EXPECT_EQ(state_of(id), JobState::failed);
    EXPECT_EQ(count("job_to_check"), 0);
}

// Goal: states that an executor passed unsaid are no way around the table of moves, and the next
// move knows nothing of them.
TEST_F(StateMachine, states_passed_on_the_way_are_moves_of_the_table) {
    add_host();
    const std::string id = place(submit()).job_id;
    const std::string end = "update attempt set ended_at = clock_timestamp(), exit_kind = 'x';";
    for (const char* passed :
         {"{compiling,starting}", "{finishing,running}", "{queued}", "{succeeded}", "{paused}"}) {
        EXPECT_THROW(database.sql(fmt::format(
                         "begin; {} update job set state = 'succeeded', passed = '{}'; commit", end,
                         passed)),
                     Error)
            << passed;
    }
    database.sql("begin;" + end + "update job set state = 'paused', passed = '{pausing}'; commit");
    EXPECT_EQ(count("job_event where job_id = '" + id + "'"), 4);
    EXPECT_EQ(count("job_event where seq = 3 and body ->> 'state' = 'pausing' and body ->> 'from' "
                    "= 'starting'"),
              1);
    EXPECT_EQ(count("job_event where seq = 4 and body ->> 'state' = 'paused' and body ->> 'from' "
                    "= 'pausing'"),
              1);
    move_job(store, id, JobState::queued, std::nullopt);
    EXPECT_EQ(count("job_event where seq = 5 and body ->> 'state' = 'queued' and body ->> 'from' "
                    "= 'paused'"),
              1);
    EXPECT_EQ(find_job(store, id).value().event_seq, 5);
}

TEST_F(StateMachine, a_statement_that_moves_many_jobs_records_each_of_them) {
    for (int i = 0; i < 20; ++i)
        submit();
    database.sql("update job set state = 'cancelled'");
    EXPECT_EQ(count("job_event where type = 'state' and body ->> 'from' = 'queued' and seq = 2"),
              20);
    EXPECT_EQ(count("job_event where type = 'end' and seq = 3"), 20);
    EXPECT_EQ(count("queue"), 0);
    EXPECT_EQ(
        count("(select sum(jobs) as jobs from job_count where state = 'cancelled') as counted "
              "where jobs = 20"),
        1);
    EXPECT_EQ(count("(select sum(jobs) as jobs from job_count where state = 'queued') as counted "
                    "where jobs = 0"),
              1);
}

TEST_F(StateMachine, history_cannot_be_changed) {
    submit();
    for (const char* script : {"update job_event set body = '{}'", "delete from job_event",
                               "truncate job_event", "update job set event_seq = 0"}) {
        EXPECT_THROW(database.sql(script), Error) << script;
    }
    EXPECT_EQ(count("job_event"), 1);
}

TEST_F(StateMachine, a_core_has_one_row_and_who_holds_it_keeps_it) {
    const AttemptKey key = running_job();
    ASSERT_EQ(count("core_slot where job_id is not null"), 1);
    for (const char* script : {
             "insert into core_slot (host, core) select host, core from core_slot limit 1",
             "insert into core_slot (host, core, turn) select host, core, turn + 9 from core_slot "
             "limit 1",
             "update core_slot set core = 90 where job_id is null and core = 2",
             "update core_slot set job_id = null where job_id is not null",
             "update core_slot set attempt = attempt + 1 where job_id is not null",
             "update core_slot as slot set turn = slot.turn + 1, job_id = held.job_id, attempt = "
             "held.attempt, leased_at = held.leased_at, expires_at = held.expires_at from lease as "
             "held where slot.core = 2",
             "insert into lease (host, core, job_id, attempt, expires_at) "
             "select host, core, job_id, attempt, expires_at from lease",
         }) {
        EXPECT_THROW(database.sql(script), Error) << script;
    }
    EXPECT_EQ(count("(select host, core from core_slot group by 1, 2 having count(*) > 1) x"), 0);
    EXPECT_EQ(database.sql("select job_id from lease"), key.job_id);
}

// Goal: an older program, which knows leases as a table, ends and places attempts beside a newer
// one. Method: the statements that it has.
TEST_F(StateMachine, leases_begin_and_end_by_the_view_too) {
    const AttemptKey key = running_job();
    database.sql("create table kept as select * from lease; delete from lease");
    EXPECT_EQ(count("lease"), 0);
    database.sql(
        "insert into lease (host, core, job_id, attempt, expires_at) "
        "select host, core, job_id, attempt, expires_at from kept");
    EXPECT_EQ(database.sql("select job_id from lease"), key.job_id);
    EXPECT_EQ(count("core_slot where turn = 3"), 1) << "taken, freed, taken";
    EXPECT_THROW(database.sql("insert into lease (host, core, job_id, attempt, expires_at) "
                              "select host, 7, job_id, attempt, expires_at from kept"),
                 Error)
        << "no core of the attempt";
}

TEST_F(StateMachine, nonsense_is_refused_by_constraints) {
    const AttemptKey key = running_job();
    for (const char* script : {
             "update job set state = 'sleeping'",
             "update job set intent = 'cancel'",
             "update job set state = 'cancelling'",
             "update job set state = 'cancelling', intent = 'pause'",
             "update job set queue_class = 'now'",
             "update job set labels = '[]'",
             "update job set core_id = 3, cores = 8",
             "insert into lease (host, core, job_id, attempt, expires_at) "
             "select 'host-a', 2, job_id, attempt, expires_at from lease",
             "insert into attempt (job_id, attempt, fence) select job_id, 2, fence from attempt",
             "update attempt set fence = 'short'",
             "update attempt_member set rank = -1",
             "update attempt_member set cores = '{}'",
             "update attempt_member set pid = 1",
             "update attempt_member set host = 'moon'",
             "insert into attempt_member (job_id, attempt, rank, host, cores) "
             "select job_id, attempt, 1, host, array[2] from attempt_member",
             "insert into garbage (path) values ('/etc/passwd')",
             "insert into garbage (path) values ('runs/../../etc')",
         }) {
        EXPECT_THROW(database.sql(script), Error) << script;
    }
}

}    // namespace

}    // namespace slipway::store
