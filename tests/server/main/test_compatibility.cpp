#include "api/protocol/compatibility.h"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "api/base/error.h"
#include "api/protocol/attempt_order.h"
#include "migrations/migrate.h"
#include "server/main/host_checks.h"
#include "tests/support/temp_postgres.h"

namespace slipway {

namespace {

/// A database whose schema is of this age.
void change_schema(const TempDatabase& database, Age age) {
    if (age != Age::older) migrations::up(database.url());
    if (age == Age::newer) database.sql("insert into schema_migration values (9999, 'later', '')");
}

bool is_refused(const std::function<void()>& meet) {
    try {
        meet();
        return false;
    } catch (const Error& error) {
        EXPECT_TRUE(error.code() == ErrorCode::conflict ||
                    error.code() == ErrorCode::invalid_argument)
            << error.what();
        return true;
    }
}

Answer answer_to_schema(Program program, Age age) {
    const TempDatabase database(true);
    change_schema(database, age);
    std::size_t applied = 0;
    const bool refused = is_refused([&] {
        if (program == Program::server) applied = migrations::up(database.url()).size();
        Options options;
        options.database = database.url();
        if (program == Program::agent) open_service_database(options);
    });
    if (refused) return Answer::refuse;
    return applied > 0 ? Answer::upgrade : Answer::serve;
}

Answer answer_to_order(Age age) {
    Json order = to_json(AttemptOrder{.job_id = "job_1",
                                      .fence = "f00d",
                                      .spec = Json::object(),
                                      .dataset = {},
                                      .checkpoint_folder = "/c"});
    order["version"] = protocol_version + (age == Age::newer) - (age == Age::older);
    return is_refused([&] { read_attempt_order(order); }) ? Answer::refuse : Answer::serve;
}

// Goal: each meeting of versions ends as the table says. Method: every row, with the real checks.
TEST(Compatibility, every_meeting_ends_as_its_row_says) {
    for (const Meeting& row : meetings) {
        SCOPED_TRACE(testing::Message()
                     << "program " << int(row.program) << ", age " << int(row.age));
        const Answer answer = row.program == Program::executor
                                  ? answer_to_order(row.age)
                                  : answer_to_schema(row.program, row.age);
        EXPECT_EQ(answer, row.answer);
        EXPECT_EQ(answer_of(row.program, row.age), row.answer);
    }
}

}    // namespace

}    // namespace slipway
