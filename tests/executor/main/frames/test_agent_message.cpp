#include "executor/main/frames/agent_message.h"

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
