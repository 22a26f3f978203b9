#include "api/protocol/agent_messages.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(AgentMessage, says_what_the_agent_wants) {
    const auto hello = read_agent_message(R"({"type":"hello","fence":"7-1","after":12})");
    ASSERT_TRUE(hello);
    EXPECT_EQ(hello->type, "hello");
    EXPECT_EQ(hello->fence, "7-1");
    EXPECT_EQ(hello->after, 12);
    EXPECT_EQ(read_agent_message(R"({"type":"stop","reason":"kill"})")->reason, "kill");
}

TEST(AgentMessage, what_the_agent_writes_is_read) {
    const auto hello = read_agent_message(hello_line("f00d", 12));
    ASSERT_TRUE(hello);
    EXPECT_EQ(hello->type, "hello");
    EXPECT_EQ(hello->fence, "f00d");
    EXPECT_EQ(hello->after, 12);
    const auto stop = read_agent_message(stop_line(Intent::preempt));
    ASSERT_TRUE(stop);
    EXPECT_EQ(stop->type, "stop");
    EXPECT_EQ(stop->reason, "preempt");
    const auto save = read_agent_message(save_line(3));
    ASSERT_TRUE(save);
    EXPECT_EQ(save->type, "save");
    EXPECT_EQ(save->number, 3);
    EXPECT_EQ(read_agent_message(heartbeat_line)->type, "heartbeat");
    for (const std::string& line : {hello_line("f00d", 12), stop_line(Intent::cancel), save_line(1),
                                    std::string(heartbeat_line)})
        EXPECT_EQ(line.find('\n'), line.size() - 1);
}

TEST(AgentMessage, fields_of_another_form_are_absent) {
    for (const char* after :
         {"-1", "18446744073709551615", "9223372036854775808", "1e300", "\"3\""})
        EXPECT_EQ(read_agent_message(std::string(R"({"after":)") + after + "}")->after, 0) << after;
    EXPECT_FALSE(read_agent_message(R"({"type":"hello","fence":7})")->fence);
    EXPECT_EQ(read_agent_message(R"({"type":["stop"],"reason":{}})")->type, "");
    EXPECT_EQ(read_agent_message(R"({"type":"stop","reason":{}})")->reason, "");
}

TEST(AgentMessage, what_is_no_object_is_no_message) {
    for (const std::string& line : {std::string(), std::string("[]"), std::string("{"),
                                    std::string("{\"type\":\"\xff\"}"), std::string(60000, '[')})
        EXPECT_FALSE(read_agent_message(line)) << line.substr(0, 20);
}

}    // namespace
}    // namespace slipway
