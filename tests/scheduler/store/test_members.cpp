// Goal: what a token may do follows from its row and from its member's rows, at each moment, and
// changes of members leave no project without an admin, whoever makes them at the same time.
#include "scheduler/store/members.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "api/base/sha256.h"
#include "scheduler/store/projects.h"
#include "tests/scheduler/store/samples.h"

namespace slipway::store {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using enum TokenRole;

class Members : public StoreTest {
protected:
    void SetUp() override {
        for (const char* project : {"ct", "nlp"})
            create_project(store, project, 1, {}, 0);
        admin = token("admin").id;
    }

    Token token(const std::string& role, const std::vector<std::string>& projects = {},
                const std::string& member = {}) {
        const std::string id = new_id("tok");
        return create_token(store, {.id = id,
                                    .name = id,
                                    .lookup = id,
                                    .sha256 = sha256_hex(id),
                                    .role = role,
                                    .projects = projects,
                                    .member = member});
    }

    MemberChange change(const std::string& project, const std::string& member,
                        const std::string& by = {}) {
        const std::string token_id = by.empty() ? admin : by;
        return {.project = project,
                .member = member,
                .by = {.token_id = token_id, .project = project, .role = TokenRole::admin},
                .may_take_last_admin = by.empty(),
                .audit = {.token_id = token_id, .action = "put_member", .request_id = "req_1"}};
    }
    Membership set(const std::string& project, const std::string& member, TokenRole role) {
        return set_member(store, change(project, member), role);
    }
    std::vector<Grant> grants_of(const std::string& token_id) {
        return find_token(store, token_id)->grants;
    }
    std::int64_t audited() {
        return std::int64_t(list_audit(store, {}, {.action = "put_member"}).items.size());
    }

    std::string admin;
};

TEST_F(Members, a_token_of_nobody_has_the_rights_of_its_row) {
    EXPECT_THAT(grants_of(admin), ElementsAre(Grant{"", TokenRole::admin}));
    const Token bound = token("editor", {"nlp", "elsewhere"});
    EXPECT_THAT(bound.grants, ElementsAre(Grant{"elsewhere", editor}, Grant{"nlp", editor}));
    revoke_token(store, bound.id);
    EXPECT_THAT(grants_of(bound.id), IsEmpty());
}

// Method: every role of the member with every role of the token, in a project of the token and in
// another one.
TEST_F(Members, a_token_may_what_both_its_member_and_its_row_allow) {
    for (const TokenRole of_member : {viewer, editor, TokenRole::admin}) {
        set("ct", "ann", of_member);
        set("nlp", "ann", viewer);
        for (const TokenRole of_token : {viewer, editor, TokenRole::admin}) {
            const std::string word(to_string(of_token));
            const Grant expected{"ct", std::min(of_member, of_token)};
            EXPECT_THAT(token(word, {}, "ann").grants, ElementsAre(expected, Grant{"nlp", viewer}));
            EXPECT_THAT(token(word, {"ct", "default"}, "ann").grants, ElementsAre(expected));
            EXPECT_THAT(token(word, {"default"}, "ann").grants, IsEmpty());
        }
    }
}

TEST_F(Members, rights_follow_the_role_at_once) {
    set("ct", "ann", editor);
    const std::string id = token("admin", {}, "ann").id;
    const std::vector<Right> rights{{id, "ct", viewer}, {id, "ct", editor}, {id, "", editor}};
    EXPECT_THAT(list_lost_rights(store, rights), IsEmpty());
    EXPECT_THAT(list_lost_rights(store, {{id, "ct", TokenRole::admin}, {id, "nlp", viewer}}),
                ::testing::SizeIs(2));
    EXPECT_EQ(list_token_projects(store, {id, admin}),
              (std::map<std::string, std::vector<std::string>>{{id, {"ct"}}, {admin, {}}}));

    set("ct", "ann", viewer);
    EXPECT_THAT(grants_of(id), ElementsAre(Grant{"ct", viewer}));
    EXPECT_THAT(list_lost_rights(store, rights),
                ::testing::UnorderedElementsAre(rights[1], rights[2]));

    EXPECT_TRUE(remove_member(store, change("ct", "ann")));
    EXPECT_FALSE(remove_member(store, change("ct", "ann")));
    EXPECT_THAT(grants_of(id), IsEmpty());
    EXPECT_TRUE(find_token(store, id)->usable);
    EXPECT_THAT(list_lost_rights(store, rights), ::testing::UnorderedElementsAreArray(rights));
    EXPECT_THAT(list_token_projects(store, {id}), IsEmpty()) << "and not all projects";
}

TEST_F(Members, a_change_is_noted_with_what_was_before) {
    const Membership made = set("ct", "ann", viewer);
    EXPECT_EQ(made.changed_by, admin);
    const Membership again = set("ct", "ann", viewer);
    EXPECT_EQ(again.changed_at, made.changed_at);
    EXPECT_EQ(audited(), 1) << "what changes nothing is not noted";
    EXPECT_EQ(set("ct", "ann", editor).created_at, made.created_at);
    const AuditEntry entry = list_audit(store, {}, {.action = "put_member"}).items.front();
    EXPECT_EQ(entry.object, "ct");
    EXPECT_EQ(entry.detail, R"({"member":"ann","role":"editor","role_before":"viewer"})");
    EXPECT_EQ(find_membership(store, "ct", "ann")->role, editor);
    EXPECT_FALSE(find_membership(store, "nlp", "ann"));
    EXPECT_TRUE(has_member(store, "ann", {}));
    EXPECT_TRUE(has_member(store, "ann", {"nlp", "ct"}));
    EXPECT_FALSE(has_member(store, "ann", {"nlp"}));
    EXPECT_FALSE(has_member(store, "bob", {}));
}

TEST_F(Members, what_cannot_be_is_refused) {
    EXPECT_EQ(code_of([&] { set("nothing", "ann", viewer); }), ErrorCode::not_found);
    set("ct", "ann", TokenRole::admin);
    const std::string anns = token("admin", {}, "ann").id;
    EXPECT_THROW(set_member(store, change("ct", "ann", anns), viewer), LastAdmin);
    EXPECT_THROW(remove_member(store, change("ct", "ann", anns)), LastAdmin);
    EXPECT_EQ(set_member(store, change("ct", "ann", anns), TokenRole::admin).role,
              TokenRole::admin);
    EXPECT_EQ(code_of([&] { set_member(store, change("nlp", "ann", anns), viewer); }),
              ErrorCode::permission_denied);
    MemberChange full = change("ct", "bob");
    full.members_max = 1;
    EXPECT_EQ(code_of([&] { set_member(store, full, viewer); }), ErrorCode::exhausted);
    full.member = "ann";
    EXPECT_EQ(set_member(store, full, editor).role, editor) << "an admin of all may";
    EXPECT_EQ(code_of([&] { set_member(store, change("ct", "ann", anns), TokenRole::admin); }),
              ErrorCode::permission_denied)
        << "who has lost the role cannot take it back";
}

TEST_F(Members, of_a_project_are_listed_by_name_and_in_pages) {
    for (int i = 0; i < 205; ++i)
        set("ct", fmt::format("m{:03}", 204 - i), viewer);
    std::vector<std::string> names;
    PageRequest request{.limit = 100};
    do {
        const Page<Membership> page = list_members(store, "ct", request);
        for (const Membership& one : page.items)
            names.push_back(one.member);
        request.cursor = page.next_cursor;
    } while (!request.cursor.empty());
    ASSERT_EQ(names.size(), 205U);
    EXPECT_TRUE(std::ranges::is_sorted(names));
    EXPECT_THAT(list_members(store, "nlp", {}).items, IsEmpty());
}

// Method: admins who remove each other, all at once, again and again.
TEST_F(Members, admins_who_remove_each_other_leave_one) {
    constexpr int admins = 4;
    std::vector<std::string> tokens;
    for (int round = 0; round < 5; ++round) {
        for (int i = 0; i < admins; ++i) {
            set("ct", fmt::format("a{}", i), TokenRole::admin);
            if (round == 0) tokens.push_back(token("admin", {}, fmt::format("a{}", i)).id);
        }
        std::atomic<int> removed = 0, unexpected = 0;
        std::vector<std::jthread> threads;
        for (int i = 0; i < admins; ++i)
            threads.emplace_back([&, i] {
                for (int other = 1; other <= admins; ++other) {
                    try {
                        removed += remove_member(
                            store, change("ct", fmt::format("a{}", (i + other) % admins),
                                          tokens[std::size_t(i)]));
                    } catch (const Error& error) {
                        const bool expected = error.code() == ErrorCode::permission_denied ||
                                              error.code() == ErrorCode::conflict;
                        unexpected += !expected;
                    }
                }
            });
        threads.clear();
        EXPECT_EQ(unexpected, 0);
        EXPECT_EQ(removed, admins - 1);
        EXPECT_EQ(list_members(store, "ct", {}).items.size(), 1U);
    }
}

TEST_F(Members, names_and_roles_are_those_of_the_schema) {
    for (const char* name : {"", "Ann", "-ann", "ann smith", "ann/bob", "a\xc3\xa4"})
        EXPECT_NE(code_of([&] { set("ct", name, viewer); }), ErrorCode::internal) << name;
    EXPECT_THAT(list_members(store, "ct", {}).items, IsEmpty());
    EXPECT_EQ(set("ct", "ann.b-c_d@example.org", viewer).member, "ann.b-c_d@example.org");
    EXPECT_EQ(set("ct", std::string(64, 'a'), viewer).role, viewer);
}

}    // namespace

}    // namespace slipway::store
