#include "executor/main/frames/frame_channel.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <fmt/format.h>
#include <array>
#include <atomic>
#include <nlohmann/json.hpp>
#include <vector>

#include "api/base/posix.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

using namespace std::chrono_literals;

/// An agent as the protocol describes it, without our agent's code.
class TestAgent {
public:
    TestAgent(const std::filesystem::path& folder, const std::string& fence, int after) {
        auto connection = connect_unix(folder, "executor.sock");
        if (!connection) return;
        socket_ = std::move(*connection);
        say(fmt::format("{{\"type\":\"hello\",\"fence\":\"{}\",\"after\":{}}}\n", fence, after));
    }

    void say(const std::string& text) const {
        send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
    }

    /// Reads for as long as there is something; false when the other side has closed.
    bool listen() {
        std::array<char, 4096> chunk{};
        while (true) {
            const ssize_t got = recv(socket_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
            if (got == 0) return false;
            if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
            text_.append(chunk.data(), std::size_t(got));
        }
    }

    std::vector<std::int64_t> numbers() const {
        std::vector<std::int64_t> numbers;
        for (const std::string& line : lines())
            if (const auto number = frame_number(line)) numbers.push_back(*number);
        return numbers;
    }

    std::size_t heartbeats() const {
        std::size_t count = 0;
        for (const std::string& line : lines())
            count += line == "{\"type\":\"heartbeat\"}" ? 1 : 0;
        return count;
    }

    bool hears_numbers(std::size_t count,
                       std::chrono::milliseconds patience = std::chrono::seconds{10}) {
        return eventually(
            [&] {
                listen();
                return numbers().size() >= count;
            },
            patience);
    }

private:
    std::vector<std::string> lines() const {
        std::vector<std::string> lines;
        std::size_t start = 0;
        for (std::size_t end = text_.find('\n'); end != std::string::npos;
             end = text_.find('\n', start)) {
            lines.push_back(text_.substr(start, end - start));
            start = end + 1;
        }
        return lines;
    }

    UniqueFd socket_;
    std::string text_;
};

struct Executor {
    explicit Executor(const std::filesystem::path& folder)
        : log(folder / "frames.ndjson", system_clock()),
          channel(log, {.run_folder = folder, .fence = "f00d", .heartbeat_every = 20ms},
                  system_clock()) {}

    void say(int count) {
        for (int i = 0; i < count; ++i) {
            log.emit({{"type", "log"}, {"level", "info"}, {"message", "x"}});
            channel.wake();
        }
    }

    FrameLog log;
    FrameChannel channel;
};

std::vector<std::int64_t> range(std::int64_t first, std::int64_t last) {
    std::vector<std::int64_t> numbers;
    for (std::int64_t number = first; number <= last; ++number)
        numbers.push_back(number);
    return numbers;
}

TEST(FrameChannel, what_was_said_before_and_after_the_hello_comes_once_and_in_order) {
    const TempFolder folder;
    Executor executor(folder.path());
    executor.say(3);
    TestAgent agent(folder.path(), "f00d", 0);
    ASSERT_TRUE(agent.hears_numbers(3));
    executor.say(2);
    ASSERT_TRUE(agent.hears_numbers(5));
    EXPECT_EQ(agent.numbers(), range(1, 5));
}

// Goal: a frame that comes while the channel rests is sent after it, whenever that is.
// Method: no heartbeat that could send it by chance, and pauses of all lengths around the rests.
TEST(FrameChannel, what_comes_while_it_rests_is_not_forgotten) {
    const TempFolder folder;
    FrameLog log(folder.path() / "frames.ndjson", system_clock());
    FrameChannel channel(log, {.run_folder = folder.path(), .fence = "f00d", .heartbeat_every = 1h},
                         system_clock());
    TestAgent agent(folder.path(), "f00d", 0);
    constexpr int frames = 60;
    for (int i = 1; i <= frames; ++i) {
        log.emit({{"type", "log"}, {"level", "info"}, {"message", "x"}});
        channel.wake();
        if (i % 3 == 0) ASSERT_TRUE(agent.hears_numbers(std::size_t(i))) << i;
        poll(nullptr, 0, i * 7 % 23);
    }
    ASSERT_TRUE(agent.hears_numbers(frames));
    EXPECT_EQ(agent.numbers(), range(1, frames));
}

// Goal: a frame that wakes nobody is sent as well: before the first that is sent at once, after it,
// and when none comes.
// Method: no heartbeat that could send it by chance.
TEST(FrameChannel, what_goes_with_others_needs_none) {
    const TempFolder folder;
    for (const auto age : {0ms, 100ms}) {
        std::filesystem::remove(folder.path() / "frames.ndjson");
        FrameLog log(folder.path() / "frames.ndjson", system_clock());
        FrameChannel channel(log,
                             {.run_folder = folder.path(), .fence = "f00d", .heartbeat_every = 1h},
                             system_clock());
        TestAgent agent(folder.path(), "f00d", 0);
        poll(nullptr, 0, int(age.count()));
        std::size_t said = 0;
        const auto say = [&](Urgency urgency) {
            log.emit({{"type", "log"}, {"level", "info"}, {"message", "x"}});
            channel.wake(urgency);
            ++said;
        };
        using enum Urgency;
        for (const Urgency urgency : {with_others, now, with_others, now, soon, with_others, now}) {
            say(with_others);
            say(urgency);
            ASSERT_TRUE(agent.hears_numbers(said)) << said << " after " << age.count() << " ms";
        }
    }
}

TEST(FrameChannel, a_new_agent_gets_only_what_it_does_not_know) {
    const TempFolder folder;
    Executor executor(folder.path());
    executor.say(10);
    TestAgent agent(folder.path(), "f00d", 7);
    ASSERT_TRUE(agent.hears_numbers(3));
    EXPECT_EQ(agent.numbers(), range(8, 10));
}

TEST(FrameChannel, a_wrong_fence_hears_nothing) {
    const TempFolder folder;
    Executor executor(folder.path());
    executor.say(1);
    TestAgent agent(folder.path(), "bad", 0);
    EXPECT_TRUE(eventually([&] { return !agent.listen(); }));
    EXPECT_TRUE(agent.numbers().empty());
    EXPECT_EQ(agent.heartbeats(), 0U);
}

TEST(FrameChannel, words_before_a_hello_close_the_connection) {
    for (const char* words :
         {"{\"type\":\"stop\",\"reason\":\"cancel\"}\n", "nonsense\n", "[]\n"}) {
        const TempFolder folder;
        Executor executor(folder.path());
        auto socket = connect_unix(folder.path(), "executor.sock");
        ASSERT_TRUE(socket);
        send(socket->get(), words, std::char_traits<char>::length(words), MSG_NOSIGNAL);
        pollfd closed{socket->get(), POLLIN, 0};
        EXPECT_EQ(poll(&closed, 1, 10000), 1);
        EXPECT_EQ(executor.channel.stop_reason(), std::nullopt) << words;
    }
}

TEST(FrameChannel, the_newer_agent_takes_the_place_of_the_older) {
    const TempFolder folder;
    Executor executor(folder.path());
    TestAgent older(folder.path(), "f00d", 0);
    executor.say(1);
    ASSERT_TRUE(older.hears_numbers(1));
    TestAgent newer(folder.path(), "f00d", 0);
    ASSERT_TRUE(newer.hears_numbers(1));
    EXPECT_TRUE(eventually([&] { return !older.listen(); }));
    executor.say(1);
    ASSERT_TRUE(newer.hears_numbers(2));
    EXPECT_EQ(older.numbers(), range(1, 1));
}

TEST(FrameChannel, the_first_stop_request_stays) {
    const TempFolder folder;
    Executor executor(folder.path());
    TestAgent agent(folder.path(), "f00d", 0);
    EXPECT_EQ(executor.channel.stop_reason(), std::nullopt);
    agent.say(
        "{\"type\":\"stop\",\"reason\":\"pause\"}\n{\"type\":\"stop\",\"reason\":\"cancel\"}\n");
    ASSERT_TRUE(eventually([&] { return executor.channel.stop_reason().has_value(); }));
    EXPECT_EQ(executor.channel.stop_reason(), "pause");
}

TEST(FrameChannel, heartbeats_go_both_ways) {
    const TempFolder folder;
    Executor executor(folder.path());
    TestAgent agent(folder.path(), "f00d", 0);
    EXPECT_TRUE(eventually([&] {
        agent.listen();
        return agent.heartbeats() >= 3;
    }));
    ASSERT_TRUE(eventually([&] { return executor.channel.agent_silence() > 50ms; }));
    agent.say("{\"type\":\"heartbeat\"}\n");
    EXPECT_TRUE(eventually([&] { return executor.channel.agent_silence() < 50ms; }));
}

TEST(FrameChannel, an_agent_that_does_not_read_costs_no_memory_and_misses_nothing) {
    const TempFolder folder;
    Executor executor(folder.path());
    TestAgent agent(folder.path(), "f00d", 0);
    const std::string message(2000, 'x');
    for (int i = 0; i < 2000; ++i) {
        executor.log.emit({{"type", "log"}, {"level", "info"}, {"message", message}});
        executor.channel.wake();
    }
    EXPECT_FALSE(executor.channel.flush(30ms));    // 4 MB do not fit into a socket
    ASSERT_TRUE(agent.hears_numbers(2000));
    EXPECT_EQ(agent.numbers(), range(1, 2000));
    EXPECT_TRUE(executor.channel.flush(5s));
}

TEST(FrameChannel, the_socket_works_below_a_path_of_any_length) {
    const TempFolder folder;
    std::filesystem::path deep = folder.path();
    while (deep.string().size() < 300)
        deep /= "a_folder_with_quite_a_long_name_for_a_test";
    std::filesystem::create_directories(deep);
    Executor executor(deep);
    executor.say(1);
    TestAgent agent(deep, "f00d", 0);
    EXPECT_TRUE(agent.hears_numbers(1));
}

TEST(FrameChannel, a_long_line_or_too_many_strangers_do_not_keep_an_agent_out) {
    const TempFolder folder;
    Executor executor(folder.path());
    executor.say(1);
    std::vector<UniqueFd> strangers;
    for (int i = 0; i < 20; ++i)
        if (auto stranger = connect_unix(folder.path(), "executor.sock"))
            strangers.push_back(std::move(*stranger));
    const std::string flood(100000, 'x');
    for (const UniqueFd& stranger : strangers)
        send(stranger.get(), flood.data(), flood.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    EXPECT_TRUE(eventually([&] {
        TestAgent agent(folder.path(), "f00d", 0);
        return agent.hears_numbers(1, 200ms);
    }));
}

TEST(FrameChannel, a_run_that_nobody_listens_to_is_given_up_once) {
    const TempFolder folder;
    FrameLog log(folder.path() / "frames.ndjson", system_clock());
    std::atomic<int> given_up{0};
    const FrameChannel channel(log,
                               {.run_folder = folder.path(),
                                .fence = "f00d",
                                .heartbeat_every = 5ms,
                                .abandoned_after = 20ms,
                                .on_abandoned = [&] { ++given_up; }},
                               system_clock());
    EXPECT_TRUE(eventually([&] { return given_up == 1; }));
    EXPECT_FALSE(eventually([&] { return given_up > 1; }, 40ms));
}

TEST(FrameChannel, a_folder_that_is_not_there_is_refused) {
    const TempFolder folder;
    const FrameLog log(folder.path() / "frames.ndjson", system_clock());
    EXPECT_THROW(
        FrameChannel(log, {.run_folder = folder.path() / "absent", .fence = "x"}, system_clock()),
        Error);
}

}    // namespace
}    // namespace slipway
