// Goal: a few requests that take long run at a time. Others wait without a worker, then are refused
// with a request to retry. A request whose client has left is not run.
#include "server/routes/heavy_requests.h"

#include <gtest/gtest.h>

#include "api/base/error.h"

namespace slipway {
namespace {

constexpr int busy = -1;
constexpr int waits = -2;

/// What comes of a request meanwhile.
int state_of(HeavyRequests& requests, const std::string& token, const Request& request = {}) {
    try {
        const Response response =
            requests.run(request, token, [] { return Response{.status = 204}; });
        return response.again_after_s ? waits : response.status;
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::exhausted);
        return busy;
    }
}

TEST(HeavyRequests, one_of_a_token_and_two_in_all) {
    HeavyRequests requests;
    const Request patient{.waited_s = 1};
    const Request impatient{.waited_s = 3};
    requests.run({}, "a", [&] {
        EXPECT_EQ(state_of(requests, "a"), waits);
        EXPECT_EQ(state_of(requests, "a", patient), waits);
        EXPECT_EQ(state_of(requests, "a", impatient), busy);
        EXPECT_EQ(state_of(requests, "b"), 204);
        requests.run({}, "b", [&] {
            EXPECT_EQ(state_of(requests, "c"), waits);
            EXPECT_EQ(state_of(requests, "c", impatient), busy);
            return Response{};
        });
        EXPECT_EQ(state_of(requests, "c", impatient), 204);
        return Response{};
    });
    EXPECT_EQ(state_of(requests, "a", impatient), 204);
}

TEST(HeavyRequests, one_that_fails_leaves_its_place) {
    HeavyRequests requests;
    for (int i = 0; i < 3; ++i)
        EXPECT_THROW(requests.run({}, "a",
                                  []() -> Response {
                                      throw Error{ErrorCode::conflict, "no"};
                                  }),
                     Error);
    EXPECT_EQ(state_of(requests, "a"), 204);
}

TEST(HeavyRequests, nothing_is_done_for_a_client_that_has_left) {
    HeavyRequests requests;
    EXPECT_EQ(state_of(requests, "a", {.client_has_left = [] { return true; }}), busy);
    EXPECT_EQ(state_of(requests, "a", {.client_has_left = [] { return false; }}), 204);
}

}    // namespace
}    // namespace slipway
