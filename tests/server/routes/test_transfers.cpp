// Goal: a body under way ends when its token or its upload does. Method: a fake database for the
// rules, the real service for who asks it.
#include "server/routes/transfers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <set>

#include "tests/server/routes/test_service.h"
#include "tests/support/eventually.h"
#include "tests/support/raw_http.h"

namespace slipway {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

/// What the database would say.
class Answers {
public:
    TransferChecks checks() {
        return {.lost_rights =
                    [this](const std::vector<store::Right>& rights) {
                        std::vector<std::string> ids;
                        for (const store::Right& right : rights)
                            ids.push_back(right.token_id);
                        std::vector<store::Right> lost;
                        for (const std::string& id : lost_of(ids))
                            lost.push_back({.token_id = id});
                        return lost;
                    },
                .lost_uploads = [this](const auto& ids) { return lost_of(ids); }};
    }
    void lose(const std::string& id) {
        const std::lock_guard lock(mutex_);
        lost_.insert(id);
    }
    std::atomic<int> failures{0};    ///< the next questions fail
    std::atomic<int> asked{0};

private:
    std::vector<std::string> lost_of(const std::vector<std::string>& ids) {
        ++asked;
        if (failures > 0) {
            --failures;
            throw Error(ErrorCode::unavailable, "the database is down");
        }
        const std::lock_guard lock(mutex_);
        std::vector<std::string> lost;
        for (const std::string& id : ids)
            if (lost_.contains(id)) lost.push_back(id);
        return lost;
    }
    std::mutex mutex_;
    std::set<std::string> lost_;    // guarded by mutex_
};

std::vector<store::Right> of_token(const std::string& id) {
    return {{.token_id = id}};
}

TEST(Transfers, of_another_token_go_on) {
    Answers answers;
    Transfers transfers(answers.checks(), hours{1});
    const auto gone = transfers.permit(of_token("tok_1")),
               kept = transfers.permit(of_token("tok_2"));
    answers.lose("tok_1");
    EXPECT_FALSE(gone->ended());
    transfers.recheck();
    EXPECT_TRUE(eventually([&] { return gone->ended().has_value(); }));
    EXPECT_EQ(gone->ended()->status, 401);
    EXPECT_FALSE(kept->ended());
}

TEST(Transfers, end_with_their_upload) {
    Answers answers;
    Transfers transfers(answers.checks(), hours{1});
    const auto gone = transfers.permit(of_token("tok_1"), "upl_1"),
               kept = transfers.permit(of_token("tok_1"), "upl_2");
    answers.lose("upl_1");
    transfers.recheck();
    EXPECT_TRUE(eventually([&] { return gone->ended().has_value(); }));
    EXPECT_EQ(gone->ended()->status, 404);
    EXPECT_FALSE(kept->ended());
}

TEST(Transfers, are_asked_about_again_and_again_and_after_a_failure) {
    Answers answers;
    Transfers transfers(answers.checks(), milliseconds{5});
    const auto permit = transfers.permit(of_token("tok_1"));
    answers.failures = 3;
    answers.lose("tok_1");
    EXPECT_TRUE(eventually([&] { return permit->ended().has_value(); }));
    EXPECT_GE(answers.asked, 4);
}

TEST(Transfers, without_any_nothing_is_asked) {
    Answers answers;
    Transfers transfers(answers.checks(), milliseconds{1});
    transfers.permit(of_token("tok_1")).reset();
    const auto permit = transfers.permit({});
    EXPECT_FALSE(permit->ended());
    answers.lose("tok_1");
    transfers.recheck();
    EXPECT_FALSE(permit->ended());
}

TEST(Transfers, a_permit_may_outlive_them) {
    Answers answers;
    std::shared_ptr<TransferPermit> permit;
    {
        Transfers transfers(answers.checks());
        permit = transfers.permit(of_token("tok_1"));
    }
    permit.reset();
}

struct RunningTransfers : testing::Test {
    TestService service;
    const std::string token = service.token(Role::editor);

    Json call(const std::string& method, const std::string& target, const Json& body = nullptr) {
        return Json::parse(service.call_as(token, method, target, body).body);
    }
    /// A part that has begun to come in and does not end.
    std::unique_ptr<RawHttp> begin_upload(const std::string& id) {
        auto connection = std::make_unique<RawHttp>(service.server->port());
        connection->send(
            fmt::format("PATCH /v1/uploads/{} HTTP/1.1\r\nHost: localhost\r\n"
                        "Authorization: Bearer {}\r\nContent-Type: application/octet-stream\r\n"
                        "Upload-Offset: 0\r\nContent-Length: 1000\r\n\r\nhello",
                        id, token));
        const auto file = service.folder.path() / "store/uploads" / id;
        EXPECT_TRUE(eventually([&] {
            std::error_code none;
            return std::filesystem::file_size(file, none) == 5;
        }));
        return connection;
    }
    std::string announce() {
        return call("POST", "/v1/uploads", {{"filename", "x"}, {"size", 1000}}).value("id", "");
    }
};

TEST_F(RunningTransfers, a_revoked_token_sends_nothing_more) {
    const auto connection = begin_upload(announce());
    service.expect(204, "DELETE", "/v1/tokens/" + call("GET", "/v1/me").value("token_id", ""));
    const RawAnswer answer = connection->read_answer();
    EXPECT_EQ(answer.status, 401) << answer.body;
    EXPECT_TRUE(connection->is_closed_by_peer());
}

TEST_F(RunningTransfers, a_deleted_upload_takes_nothing_more) {
    const std::string id = announce();
    const auto connection = begin_upload(id);
    EXPECT_EQ(service.call_as(token, "DELETE", "/v1/uploads/" + id).status, 204);
    EXPECT_EQ(connection->read_answer().status, 404);
}

TEST_F(RunningTransfers, an_expired_upload_takes_nothing_more) {
    const std::string id = announce();
    const auto connection = begin_upload(id);
    service.database.sql("update upload set expires_at = clock_timestamp() - interval '1 second'");
    service.services.transfers->recheck();    // at the latest ten seconds later
    EXPECT_EQ(connection->read_answer().status, 404);
}

}    // namespace
}    // namespace slipway
