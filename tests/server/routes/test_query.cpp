#include "server/routes/query.h"

#include <gtest/gtest.h>

#include "api/spec/job_state.h"
#include "server/http/problem.h"

namespace slipway {
namespace {

Request asking(std::vector<Pair> pairs) {
    Request request;
    request.query_pairs = std::move(pairs);
    return request;
}

TEST(Query, values_are_read_by_type) {
    const Request request = asking({{"limit", "7"},
                                    {"state", "running,queued"},
                                    {"label", "team:ct,stage:2"},
                                    {"dry_run", "true"},
                                    {"cursor", "abc"}});
    EXPECT_EQ(query_number(request, "limit", 50), 7);
    EXPECT_EQ(query_number(request, "after", 50), 50);
    EXPECT_EQ(query_enumerators<JobState>(request, "state"),
              (std::vector{JobState::running, JobState::queued}));
    EXPECT_EQ(query_pairs(request, "label"),
              (std::map<std::string, std::string>{{"team", "ct"}, {"stage", "2"}}));
    EXPECT_TRUE(query_flag(request, "dry_run"));
    EXPECT_FALSE(query_flag(request, "other"));
    EXPECT_EQ(query_page(request).limit, 7);
    EXPECT_EQ(query_page(request).cursor, "abc");
    EXPECT_EQ(query_text(request, "name"), "");
}

TEST(Query, a_word_counts_once) {
    EXPECT_EQ(query_words(asking({{"names", "b,a,b,a,a"}}), "names"),
              (std::vector<std::string>{"b", "a"}));
}

TEST(Query, an_endpoints_row_says_what_is_allowed) {
    const Endpoint& list = find_endpoint("list_jobs");
    EXPECT_NO_THROW(require_query(asking({{"limit", "200"}, {"state", "queued"}}), list));
    for (const Pair& wrong :
         {Pair{"limit", "0"}, Pair{"limit", "201"}, Pair{"limit", "x"}, Pair{"state", "sleeping"},
          Pair{"order_by", "size"}, Pair{"limitt", "5"}}) {
        try {
            require_query(asking({wrong}), list);
            ADD_FAILURE() << wrong.name << "=" << wrong.value << " was taken";
        } catch (const ProblemError& refusal) {
            EXPECT_EQ(refusal.fields().status, 422);
            EXPECT_EQ(refusal.fields().code, "invalid_query");
            ASSERT_EQ(refusal.fields().items.size(), 1U);
            EXPECT_EQ(refusal.fields().items[0].pointer, "?" + wrong.name);
        }
    }
}

TEST(Query, every_problem_is_told_at_once) {
    try {
        require_query(asking({{"limit", "0"}, {"state", "x"}, {"nonsense", "1"}}),
                      find_endpoint("list_jobs"));
        ADD_FAILURE() << "it was taken";
    } catch (const ProblemError& refusal) {
        EXPECT_EQ(refusal.fields().items.size(), 3U);
    }
}

struct PreferCase {
    const char* header;
    double wait_s;    // 0: none
};

TEST(Query, prefer_says_how_long_to_wait) {
    for (const PreferCase& one :
         {PreferCase{"wait=5", 5}, PreferCase{"respond-async, wait=7", 7},
          PreferCase{"wait=100000", 60}, PreferCase{"wait=0", 0}, PreferCase{"wait=-1", 0},
          PreferCase{"wait=", 0}, PreferCase{"wait=x", 0}, PreferCase{"return=minimal", 0}}) {
        Request request;
        request.headers = {{"prefer", one.header}};
        EXPECT_EQ(preferred_wait_s(request).value_or(0), one.wait_s) << one.header;
    }
    EXPECT_FALSE(preferred_wait_s(Request{}).has_value());
}

}    // namespace
}    // namespace slipway
