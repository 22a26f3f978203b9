#include "api/protocol/worker_messages.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(WorkerMessages, are_read_as_they_were_written) {
    const WorkerOrder order{.run_folder = "/home/runs/job_1/2 \"ä\""};
    EXPECT_EQ(read_worker_order(to_message(order)), order);
    const WorkerAnswer answer{.exit_code = 75};
    EXPECT_EQ(read_worker_answer(to_message(answer)), answer);
}

TEST(WorkerMessages, of_another_kind_are_none) {
    for (const char* text :
         {"", "{", "[]", "7", "null", "{}", R"({"run_folder": 3})", R"({"exit_code": "0"})"}) {
        EXPECT_FALSE(read_worker_order(text)) << text;
        EXPECT_FALSE(read_worker_answer(text)) << text;
    }
}

}    // namespace
}    // namespace slipway
