// Goal: what happens to a job is told to those who asked, at least once, whatever fails between.
// Method: a real database and a real receiver on the loopback.
#include "server/webhooks/dispatcher.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/base/id.h"
#include "api/base/json.h"
#include "scheduler/store/access.h"
#include "scheduler/store/attempts.h"
#include "scheduler/store/webhooks.h"
#include "server/webhooks/signature.h"
#include "tests/scheduler/store/samples.h"
#include "tests/server/webhooks/receiver.h"
#include "tests/support/eventually.h"

namespace slipway {
namespace {

using namespace std::chrono_literals;
using store::WebhookDelivery;

TEST(RetryDelay, grows_threefold_with_jitter_up_to_a_bound_and_ends) {
    const WebhookOptions options;
    EXPECT_EQ(retry_delay(options, 1, 0.5), 5000ms);
    EXPECT_EQ(retry_delay(options, 2, 0.5), 15000ms);
    EXPECT_EQ(retry_delay(options, 1, 0), 4000ms);
    EXPECT_EQ(retry_delay(options, 1, 1), 6000ms);
    EXPECT_EQ(retry_delay(options, 9, 0.5), std::chrono::hours{6});
    EXPECT_FALSE(retry_delay(options, 10, 0.5));
}

TEST(WebhookSignature, is_that_of_standard_webhooks) {
    // The example of the specification's reference libraries.
    EXPECT_EQ(
        webhook_signature("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek",
                          1614265330, R"({"test": 2432232314})"),
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    const std::string secret = make_webhook_secret();
    EXPECT_NE(secret, make_webhook_secret());
    EXPECT_NE(webhook_signature(secret, "a", 1, "b"), webhook_signature(secret, "a", 2, "b"));
}

class Dispatching : public store::StoreTest {
protected:
    Dispatching() {
        token = store::create_token(store, {.id = new_id("tok"),
                                            .name = "t",
                                            .lookup = "l",
                                            .sha256 = std::string(64, 'a'),
                                            .role = "editor"})
                    .id;
        add_host();
    }

    std::string hook(const std::string& url,
                     std::vector<std::string> events = {"job.created", "job.ended"}) {
        const std::string id = new_id("whk");
        store::create_webhook(store,
                              {.id = id,
                               .project = "default",
                               .url = url,
                               .events = std::move(events),
                               .created_by = token},
                              secret, 10);
        return id;
    }

    static WebhookOptions options() {
        WebhookOptions made;
        made.allowed = {parse_network("127.0.0.0/8")};
        made.limits.total = 1s;
        made.poll = 10ms;
        made.retry_first = 20ms;
        made.tries_max = 4;
        return made;
    }

    std::vector<WebhookDelivery> deliveries(const std::string& id, const std::string& state = "") {
        return store::list_webhook_deliveries(store, id, state, {.limit = 200}).items;
    }

    /// A job that runs and fails.
    std::string whole_job() {
        const store::AttemptKey key = place(submit());
        relay_state(key, 1, JobState::compiling);
        relay_state(key, 2, JobState::running);
        store::finish_attempt(store, key,
                              {.exit_kind = "test",
                               .job_state = JobState::failed,
                               .reason = store::Reason{"nan_loss", "not a number"}});
        return key.job_id;
    }

    const std::string secret = make_webhook_secret();
    std::string token;
    WebhookReceiver receiver;
};

TEST_F(Dispatching, events_are_signed_and_tell_what_happened) {
    const std::string id = hook(receiver.url(), {"job.created", "job.started", "job.ended"});
    const std::string job = whole_job();
    WebhookDispatcher dispatcher(store, options(), system_clock());
    ASSERT_TRUE(eventually([&] { return deliveries(id, "delivered").size() == 3; }));
    std::map<std::string, Json> bodies;
    for (const Request& message : receiver.messages()) {
        const Json body = Json::parse(message.body);
        bodies[body.at("type")] = body;
        const std::string message_id(*message.header("webhook-id"));
        EXPECT_EQ(*message.header("webhook-signature"),
                  webhook_signature(secret, message_id,
                                    std::stoll(std::string(*message.header("webhook-timestamp"))),
                                    message.body));
    }
    ASSERT_EQ(bodies.size(), 3U);
    EXPECT_EQ(bodies["job.created"]["job"]["state"], "queued");
    EXPECT_EQ(bodies["job.started"]["job"]["attempts"], 1);
    const Json& ended = bodies["job.ended"];
    EXPECT_EQ(ended["job"]["id"], job);
    EXPECT_EQ(ended["job"]["state"], "failed");
    EXPECT_EQ(ended["job"]["reason"]["code"], "nan_loss");
    EXPECT_EQ(ended["project"], "default");
    // It counts what it has stored.
    EXPECT_TRUE(eventually([&] { return dispatcher.counts().delivered == 3; }));
    EXPECT_EQ(count("webhook_event"), 0);
}

TEST_F(Dispatching, a_secret_that_was_replaced_signs_beside_the_new_one_for_a_while) {
    const std::string id = hook(receiver.url(), {"job.created"});
    const std::string newer = make_webhook_secret();
    store::patch_webhook(store, id, {.secret = newer, .changed_by = token}, {});
    WebhookDispatcher dispatcher(store, options(), system_clock());
    submit();
    ASSERT_TRUE(eventually([&] { return deliveries(id, "delivered").size() == 1; }));
    database.sql("update webhook set secret_until = statement_timestamp()");
    submit();
    ASSERT_TRUE(eventually([&] { return deliveries(id, "delivered").size() == 2; }));
    const std::vector<Request> messages = receiver.messages();
    ASSERT_EQ(messages.size(), 2U);
    const auto signature = [&](const Request& message, const std::string& by) {
        return webhook_signature(by, *message.header("webhook-id"),
                                 std::stoll(std::string(*message.header("webhook-timestamp"))),
                                 message.body);
    };
    EXPECT_EQ(*messages[0].header("webhook-signature"),
              signature(messages[0], newer) + " " + signature(messages[0], secret));
    EXPECT_EQ(*messages[1].header("webhook-signature"), signature(messages[1], newer));
}

TEST_F(Dispatching, only_what_was_asked_for_is_sent) {
    const std::string id = hook(receiver.url(), {"job.paused"});
    whole_job();
    EXPECT_EQ(count("webhook_event"), 3);
    while (store::expand_webhook_events(store)) {
    }
    EXPECT_TRUE(deliveries(id).empty());
    EXPECT_EQ(count("webhook_event"), 0);
    store::delete_webhook(store, id);
    whole_job();
    EXPECT_EQ(count("webhook_event"), 0) << "a project without a webhook writes none";
}

// Goal: the event is in the transaction of the job: both or none.
TEST_F(Dispatching, a_job_that_was_not_stored_is_not_told_of) {
    hook(receiver.url());
    database.sql(
        "begin; insert into job (id, name, project, kind, spec, queue_class, restarts_max, "
        "created_by, cores) values ('job_00000000000000000000000001', 'n', 'default', "
        "'train', '{}', 'normal', 3, 't', 1); rollback");
    EXPECT_EQ(count("webhook_event"), 0);
}

TEST_F(Dispatching, a_receiver_that_is_away_is_tried_again) {
    std::uint16_t port = 0;
    {
        const WebhookReceiver gone;
        port = gone.port();
    }
    const std::string id = hook(fmt::format("http://127.0.0.1:{}/hook", port), {"job.created"});
    submit();
    WebhookOptions patient = options();
    patient.tries_max = 1000;
    patient.retry_max = 50ms;
    WebhookDispatcher dispatcher(store, patient, system_clock());
    ASSERT_TRUE(eventually([&] {
        const auto all = deliveries(id);
        return all.size() == 1 && all[0].attempts > 2;
    }));
    EXPECT_EQ(deliveries(id)[0].state, "pending");
    EXPECT_NE(deliveries(id)[0].error.find("no connection"), std::string::npos);
    const WebhookReceiver back(port);
    ASSERT_TRUE(eventually([&] { return deliveries(id)[0].state == "delivered"; }));
    EXPECT_EQ(back.messages().size(), 1U);
}

TEST_F(Dispatching, tries_are_used_up_and_410_ends_at_once) {
    receiver.status = 500;
    const std::string id = hook(receiver.url(), {"job.created"});
    submit();
    WebhookDispatcher dispatcher(store, options(), system_clock());
    ASSERT_TRUE(eventually([&] { return deliveries(id, "failed").size() == 1; }));
    EXPECT_EQ(deliveries(id)[0].attempts, 4);
    EXPECT_EQ(deliveries(id)[0].status, 500);
    receiver.status = 410;
    submit();
    ASSERT_TRUE(eventually([&] { return deliveries(id, "failed").size() == 2; }));
    EXPECT_EQ(deliveries(id)[0].attempts, 1);
    EXPECT_TRUE(eventually([&] { return dispatcher.counts().failed == 2; })) << "counted at last";
}

TEST_F(Dispatching, a_slow_receiver_does_not_hold_up_another) {
    const std::string slow = hook(receiver.url("/slow"), {"job.created"});
    for (int i = 0; i < 30; ++i)
        submit();
    const std::string quick = hook(receiver.url(), {"job.created"});
    submit();
    WebhookOptions few = options();
    few.senders = 4;
    few.limits.total = 120s;
    WebhookDispatcher dispatcher(store, few, system_clock());
    ASSERT_TRUE(eventually([&] { return !deliveries(quick, "delivered").empty(); }, 60s));
    EXPECT_TRUE(deliveries(slow, "delivered").empty());
    receiver.release();
    ASSERT_TRUE(eventually([&] { return deliveries(slow, "delivered").size() == 31; }));
}

// Goal: a process that is killed after the commit, after the claim or after the message was sent
// loses nothing. Method: what it would have left behind is made by its own steps.
TEST_F(Dispatching, a_process_that_was_killed_leaves_nothing_undelivered) {
    const std::string id = hook(receiver.url(), {"job.created"});
    submit();
    submit();
    store::expand_webhook_events(store);    // killed before it claimed the second one
    const auto claimed = store::claim_webhook_deliveries(store, {}, 1, 10, 200ms);
    ASSERT_EQ(claimed.size(), 1U);    // killed while it sent, or before it noted that it had
    submit();                         // killed before it looked at the outbox
    EXPECT_TRUE(store::claim_webhook_deliveries(store, {id}, 1, 10, 200ms).empty());
    WebhookDispatcher dispatcher(store, options(), system_clock());
    ASSERT_TRUE(eventually([&] { return deliveries(id, "delivered").size() == 3; }));
    // It was only stopped, and comes back: another one has sent it meanwhile.
    EXPECT_FALSE(store::finish_webhook_delivery(store, claimed[0], {.error = "late"}));
    EXPECT_EQ(deliveries(id, "delivered").size(), 3U);
}

TEST_F(Dispatching, two_processes_share_the_work) {
    const std::string id = hook(receiver.url(), {"job.created"});
    for (int i = 0; i < 50; ++i)
        submit();
    store::Store other({.database = database.url()});
    WebhookDispatcher one(store, options(), system_clock());
    WebhookDispatcher two(other, options(), system_clock());
    ASSERT_TRUE(eventually([&] { return deliveries(id, "delivered").size() == 50; }));
    EXPECT_EQ(receiver.messages().size(), 50U);
}

TEST_F(Dispatching, who_lost_the_right_hears_nothing) {
    const std::string id = hook(receiver.url(), {"job.created"});
    submit();
    store::expand_webhook_events(store);
    store::revoke_token(store, token);
    submit();
    WebhookDispatcher dispatcher(store, options(), system_clock());
    ASSERT_TRUE(eventually([&] { return deliveries(id, "failed").size() == 1; }));
    ASSERT_TRUE(eventually([&] { return count("webhook_event") == 0; }));
    EXPECT_EQ(deliveries(id).size(), 1U);
    EXPECT_TRUE(receiver.messages().empty());
}

// Goal: the webhook of a member's token hears of the project while the member has a role in it.
TEST_F(Dispatching, whose_member_has_lost_the_role_hears_nothing) {
    database.sql(
        "insert into project (name, number) values ('default', 1) on conflict do nothing;"
        "insert into member (name, created_by) values ('ann', '');"
        "insert into membership (project, member, role, changed_by)"
        " values ('default', 'ann', 'viewer', '');"
        "update token set member = 'ann'");
    const std::string id = hook(receiver.url(), {"job.created"});
    submit();
    WebhookDispatcher dispatcher(store, options(), system_clock());
    ASSERT_TRUE(eventually([&] { return deliveries(id, "delivered").size() == 1; }));
    database.sql("delete from membership");
    submit();
    dispatcher.wake();
    ASSERT_TRUE(eventually([&] { return count("webhook_event") == 0; }));
    EXPECT_EQ(deliveries(id).size(), 1U);
    EXPECT_EQ(receiver.messages().size(), 1U);
}

TEST_F(Dispatching, the_log_of_a_webhook_is_bounded) {
    const std::string id = hook(receiver.url(), {"job.created"});
    database.sql(fmt::format(
        "insert into webhook_delivery (id, webhook_id, type, body, state, ended_at) "
        "select 'dlv_' || lpad(n::text, 26, '0'), '{}', 'job.created', '{{}}', 'delivered', "
        "clock_timestamp() - n * interval '1 hour' from generate_series(1, 50) as n",
        id));
    EXPECT_EQ(store::prune_webhook_deliveries(store, 40h, 1000, {}), 11);
    EXPECT_EQ(store::prune_webhook_deliveries(store, 40h, 10, {}), 29);
    EXPECT_EQ(deliveries(id).size(), 10U);
    EXPECT_EQ(store::prune_webhook_deliveries(store, 40h, 10, {}), 0);
}

TEST_F(Dispatching, too_many_that_wait_fail_at_once) {
    const std::string id = hook(receiver.url(), {"job.created"});
    database.sql(
        fmt::format("insert into webhook_delivery (id, webhook_id, type, body) "
                    "select 'dlv_' || lpad(n::text, 26, '0'), '{}', 'job.created', '{{}}' "
                    "from generate_series(1, {}) as n",
                    id, store::webhook_waiting_max));
    submit();
    store::expand_webhook_events(store);
    ASSERT_EQ(deliveries(id, "failed").size(), 1U);
    EXPECT_NE(deliveries(id, "failed")[0].error.find("wait"), std::string::npos);
}

TEST_F(Dispatching, a_project_has_a_bounded_number) {
    for (int i = 0; i < 10; ++i)
        hook(receiver.url());
    EXPECT_EQ(store::code_of([&] { hook(receiver.url()); }), ErrorCode::exhausted);
}

}    // namespace
}    // namespace slipway
