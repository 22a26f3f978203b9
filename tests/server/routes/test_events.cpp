#include <gtest/gtest.h>

#include "api/client/sse_parser.h"
#include "scheduler/store/access.h"
#include "scheduler/store/datasets.h"
#include "tests/server/routes/test_service.h"
#include "tests/support/eventually.h"

namespace slipway {
namespace {

using EventTrace = std::vector<std::string>;

struct EventStreams : testing::Test {
    TestService service;

    /// Opens a stream, does `work` once it is open, and reads until `count` events, or so many of
    /// the text `counted`, have come.
    EventTrace events(const std::string& token, const std::string& query, std::int64_t count,
                      const std::function<void()>& work, std::string last_id = {},
                      const std::string& counted = {}) {
        EventTrace seen;
        client::SseParser parser([&](const client::SseEvent& event) {
            const Json data = Json::parse(event.data);
            const Json body = data.value("body", Json::object());
            seen.push_back(data.value("project", "-") + " " + event.type + " " +
                           body.value("state", ""));
            id = event.id;
        });
        client::ClientRequest request{.target = "/v1/events" + query};
        if (!last_id.empty()) request.headers = {{"Last-Event-ID", last_id}};
        bool worked = false;
        const auto response = service.client(token).stream(request, [&](std::string_view bytes) {
            if (!std::exchange(worked, true)) work();
            parser.feed(bytes);
            return (counted.empty() ? std::ssize(seen) : std::ranges::count(seen, counted)) < count;
        });
        EXPECT_EQ(response.status, 200) << response.body;
        return seen;
    }

    std::string id;    // of the last event that was seen
};

TEST_F(EventStreams, show_jobs_datasets_and_what_is_deleted_in_one_stream) {
    service.ready_dataset("points");
    std::string job;
    const auto work = [&] {
        job = service.submit();
        service.expect(200, "POST", "/v1/jobs/" + job + "/cancel");
        service.expect(204, "DELETE", "/v1/jobs/" + job);
        service.ready_dataset("others");
        service.expect(204, "DELETE", "/v1/datasets/others");
    };
    const EventTrace seen = events(service.admin, "", 2, work, {}, "default deleted ");
    // The events of the job are gone when they are read only after it; what it is told is not.
    for (const char* one :
         {"default deleted ", "default dataset checking", "default dataset ready"})
        EXPECT_NE(std::ranges::find(seen, one), seen.end()) << one;
}

TEST_F(EventStreams, show_each_state_in_order_and_go_on_where_they_broke_off) {
    service.ready_dataset("points");
    std::string job;
    EXPECT_EQ(events(service.admin, "?types=state", 1, [&] { job = service.submit(); }),
              EventTrace{"default state queued"});
    const std::string first = id;
    service.expect(200, "POST", "/v1/jobs/" + job + "/cancel");
    EXPECT_EQ(events(
                  service.admin, "?types=state", 1, [] {}, first),
              EventTrace{"default state cancelled"});
    EXPECT_EQ(events(
                  service.admin, "?types=state,end", 1, [] {}, first),
              EventTrace{"- gap "})
        << "ends were not read before: that something is missing is said";
    EXPECT_EQ(events(
                  service.admin, "?types=state", 1, [] {}, "evt_01jd0000000000000000000000-9"),
              EventTrace{"- gap "});
    service.expect(422, "GET", "/v1/events?types=rumour");
    service.expect(400, "GET", "/v1/events", nullptr, {{"Last-Event-ID", "9"}});
}

TEST_F(EventStreams, have_only_what_the_caller_sees) {
    service.ready_dataset("points");
    service.ready_dataset("points", "other");
    const std::string viewer = service.token(Role::viewer, {"other"});
    const auto both = [&] {
        service.submit();
        service.submit({{"project", "other"}});
    };
    // States alone: a stream may begin with what happened within the second before it was opened.
    EXPECT_EQ(events(viewer, "?types=state", 1, both), EventTrace{"other state queued"});
    EXPECT_EQ(events(service.admin, "?types=state&project=other", 1, both),
              EventTrace{"other state queued"});
    EXPECT_EQ(service.call_as(viewer, "GET", "/v1/events?project=default").status, 404);
    EXPECT_EQ(service.call_as("", "GET", "/v1/events").status, 401);
}

TEST_F(EventStreams, end_when_their_token_is_revoked_by_another_process) {
    const std::string viewer = service.token(Role::viewer, {"other"});
    const std::string token_id =
        Json::parse(service.call_as(viewer, "GET", "/v1/me").body)["token_id"];
    // Not by the route: as another process does it.
    events(viewer, "", 1, [&] { store::revoke_token(service.store, token_id); });
    EXPECT_TRUE(eventually([&] { return service.project_hub.stream_count() == 0; }));
}

}    // namespace
}    // namespace slipway
