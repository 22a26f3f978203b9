#include "scheduler/store/access.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <future>

#include "api/base/sha256.h"
#include "tests/scheduler/store/samples.h"

namespace slipway::store {

namespace {

using ::testing::ElementsAre;
using namespace std::chrono_literals;

class Access : public StoreTest {
protected:
    Token token(const std::string& lookup) {
        return create_token(store, {.id = new_id("tok"),
                                    .name = lookup,
                                    .lookup = lookup,
                                    .sha256 = sha256_hex(lookup),
                                    .role = "editor",
                                    .projects = {"a", "b,\"c\""}});
    }
};

TEST_F(Access, a_token_is_found_by_its_public_part) {
    const Token made = token("abc");
    const Token found = find_token_by_lookup(store, "abc").value();
    EXPECT_EQ(found.id, made.id);
    EXPECT_EQ(found.sha256, sha256_hex("abc"));
    EXPECT_THAT(found.projects, ElementsAre("a", "b,\"c\""));
    EXPECT_TRUE(found.usable);
    EXPECT_FALSE(found.last_used_at);
    EXPECT_FALSE(find_token_by_lookup(store, "ab"));
    EXPECT_FALSE(find_token(store, new_id("tok")));
    EXPECT_EQ(code_of([&] { token("abc"); }), ErrorCode::conflict);

    touch_token(store, made.id);
    const auto used_at = find_token(store, made.id)->last_used_at;
    EXPECT_TRUE(used_at);
    touch_token(store, made.id);
    EXPECT_EQ(find_token(store, made.id)->last_used_at, used_at);    // once a minute
}

TEST_F(Access, revoked_and_expired_tokens_are_of_no_use) {
    const Token revoked = token("a");
    create_session(store, sha256_hex("cookie"), revoked.id, 1h);
    create_login_ticket(store, sha256_hex("link"), revoked.id, 1h);
    EXPECT_EQ(revoke_token(store, revoked.id), 1);
    EXPECT_EQ(revoke_token(store, revoked.id), 1);
    EXPECT_EQ(revoke_token(store, new_id("tok")), 0);
    EXPECT_FALSE(find_token(store, revoked.id)->usable);
    EXPECT_FALSE(find_session(store, sha256_hex("cookie")));
    EXPECT_FALSE(use_login_ticket(store, sha256_hex("link")));

    const Token old = create_token(store, {.id = new_id("tok"),
                                           .name = "old",
                                           .lookup = "old",
                                           .sha256 = sha256_hex("old"),
                                           .role = "viewer",
                                           .expires_at = Instant{}});
    EXPECT_FALSE(old.usable);
    create_session(store, sha256_hex("cookie"), old.id, 1h);
    EXPECT_FALSE(find_session(store, sha256_hex("cookie")));
    EXPECT_EQ(list_tokens(store, {.limit = 1}).items.at(0).id, old.id);
    EXPECT_EQ(list_tokens(store, {}).items.size(), 2U);
}

TEST_F(Access, what_a_token_made_ends_with_it) {
    const auto made_by = [&](const std::string& maker, const std::string& lookup) {
        return create_token(store, {.id = new_id("tok"),
                                    .name = lookup,
                                    .lookup = lookup,
                                    .sha256 = sha256_hex(lookup),
                                    .role = "admin",
                                    .created_by = maker})
            .id;
    };
    const auto usable = [&](const std::string& id) { return find_token(store, id)->usable; };
    const std::string root = made_by("", "root");
    const std::string other = made_by(root, "other");
    const std::string child = made_by(root, "child");
    const std::string grandchild = made_by(child, "grandchild");
    create_session(store, sha256_hex("cookie"), grandchild, 1h);

    EXPECT_EQ(revoke_token(store, child), 2);
    EXPECT_FALSE(usable(grandchild));
    EXPECT_FALSE(find_session(store, sha256_hex("cookie")));
    EXPECT_TRUE(usable(root) && usable(other));
    EXPECT_EQ(code_of([&] { made_by(child, "late"); }), ErrorCode::unauthenticated);

    EXPECT_EQ(revoke_token(store, root, true), 1);
    EXPECT_TRUE(usable(other));
    EXPECT_EQ(revoke_token(store, root), 4);
    EXPECT_FALSE(usable(other));
}

// Goal: a limit of made tokens holds for all generations together.
TEST_F(Access, made_tokens_count_for_the_first_of_their_line) {
    constexpr std::int64_t most = 4;
    const auto made_by = [&](const std::string& maker) {
        const std::string id = new_id("tok");
        create_token(store,
                     {.id = id,
                      .name = "t",
                      .lookup = id,
                      .sha256 = sha256_hex(id),
                      .role = "admin",
                      .created_by = maker},
                     most);
        return id;
    };
    const std::string root = made_by("");
    const std::string child = made_by(root);
    const std::string grandchild = made_by(child);
    const std::string last = made_by(grandchild);
    made_by(last);
    for (const std::string& maker : {root, child, grandchild, last})
        EXPECT_EQ(code_of([&] { made_by(maker); }), ErrorCode::exhausted);
    const std::string other = made_by("");
    made_by(other);
    EXPECT_EQ(revoke_token(store, last), 2);
    made_by(child);
    made_by(root);
    EXPECT_EQ(code_of([&] { made_by(grandchild); }), ErrorCode::exhausted);
    // A middle one that is gone does not divide the line.
    EXPECT_EQ(revoke_token(store, child, true), 1);
    made_by(grandchild);
    EXPECT_EQ(code_of([&] { made_by(root); }), ErrorCode::exhausted);
}

// Goal: no token is left of one that was revoked while it made tokens as fast as it could.
TEST_F(Access, a_token_that_is_being_revoked_leaves_none_behind) {
    const Token maker = token("maker");
    const auto make_until_refused = [&](int thread) {
        int made = 0;
        try {
            for (;; ++made)
                create_token(store, {.id = new_id("tok"),
                                     .name = "made",
                                     .lookup = fmt::format("made {} {}", thread, made),
                                     .sha256 = sha256_hex("made"),
                                     .role = "admin",
                                     .created_by = maker.id});
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::unauthenticated) << error.what();
        }
        return made;
    };
    std::vector<std::future<int>> threads;
    for (int thread = 0; thread < 3; ++thread)
        threads.push_back(std::async(std::launch::async, make_until_refused, thread));
    while (list_tokens(store, {.limit = 30}).items.size() < 30U) {
    }
    const std::int64_t revoked = revoke_token(store, maker.id);
    std::int64_t made = 0;
    for (std::future<int>& thread : threads)
        made += thread.get();
    EXPECT_EQ(revoked, made + 1);
}

TEST_F(Access, a_ticket_works_once_and_a_session_until_it_ends) {
    const Token made = token("a");
    create_login_ticket(store, sha256_hex("link"), made.id, 1h);
    create_login_ticket(store, sha256_hex("late"), made.id, -1s);
    EXPECT_EQ(use_login_ticket(store, sha256_hex("link"))->id, made.id);
    EXPECT_FALSE(use_login_ticket(store, sha256_hex("link")));
    EXPECT_FALSE(use_login_ticket(store, sha256_hex("late")));
    EXPECT_FALSE(use_login_ticket(store, "no hash"));

    create_session(store, sha256_hex("cookie"), made.id, 1h);
    create_session(store, sha256_hex("stale"), made.id, -1s);
    EXPECT_EQ(find_session(store, sha256_hex("cookie"))->id, made.id);
    EXPECT_FALSE(find_session(store, sha256_hex("stale")));
    end_session(store, sha256_hex("cookie"));
    EXPECT_FALSE(find_session(store, sha256_hex("cookie")));
}

TEST_F(Access, a_token_keeps_its_newest_sessions_and_tickets) {
    const Token made = token("a");
    const Token other = token("b");
    create_session(store, sha256_hex("of another"), other.id, 1h);
    create_login_ticket(store, sha256_hex("of another"), other.id, 1h);
    for (int i = 0; i < 25; ++i) {
        create_session(store, sha256_hex(std::to_string(i)), made.id, 1h);
        create_login_ticket(store, sha256_hex(std::to_string(i)), made.id, 1h);
    }
    EXPECT_EQ(count("session"), 21);
    EXPECT_EQ(count("login_ticket"), 21);
    EXPECT_FALSE(find_session(store, sha256_hex("4")));
    EXPECT_TRUE(find_session(store, sha256_hex("5")));
    EXPECT_TRUE(find_session(store, sha256_hex("24")));
    EXPECT_TRUE(find_session(store, sha256_hex("of another")));
    EXPECT_FALSE(use_login_ticket(store, sha256_hex("4")));
    EXPECT_TRUE(use_login_ticket(store, sha256_hex("5")));
}

TEST_F(Access, the_audit_is_listed_newest_first) {
    for (int i = 0; i < 3; ++i) {
        append_audit(store, {.token_id = "tok",
                             .action = "job.cancel",
                             .object = std::to_string(i),
                             .request_id = "r"});
    }
    const Page<AuditEntry> first = list_audit(store, {.limit = 2});
    ASSERT_EQ(first.items.size(), 2U);
    EXPECT_EQ(first.items[0].object, "2");
    const Page<AuditEntry> rest = list_audit(store, {.limit = 2, .cursor = first.next_cursor});
    ASSERT_EQ(rest.items.size(), 1U);
    EXPECT_EQ(rest.items[0].object, "0");
    EXPECT_EQ(rest.items[0].detail, "{}");
}

}    // namespace

}    // namespace slipway::store
