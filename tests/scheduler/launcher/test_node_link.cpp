#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <mutex>
#include <thread>

#include "api/base/error.h"
#include "api/base/id.h"
#include "scheduler/launcher/node_link/announcement.h"
#include "scheduler/launcher/node_link/link_listener.h"
#include "scheduler/launcher/node_link/link_pump.h"
#include "scheduler/launcher/node_link/node_relay.h"
#include "scheduler/launcher/node_link/tcp.h"
#include "scheduler/launcher/slurm/start_order.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

using namespace std::chrono_literals;

LinkKey new_key(const std::string& identity) {
    return {.identity = identity, .secret = random_hex(link_secret_bytes_min)};
}

std::pair<UniqueFd, UniqueFd> sockets() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

/// What comes until `bytes` are there or the other end closes.
std::string receive(const UniqueFd& socket, std::size_t bytes) {
    std::string text;
    std::array<char, 65536> piece{};
    eventually([&] {
        const ssize_t got = recv(socket.get(), piece.data(), piece.size(), MSG_DONTWAIT);
        if (got > 0) text.append(piece.data(), std::size_t(got));
        return got == 0 || text.size() >= bytes;
    });
    return text;
}

bool has_closed(const UniqueFd& socket) {
    return eventually([&] {
        char letter = 0;
        const ssize_t got = recv(socket.get(), &letter, 1, MSG_DONTWAIT);
        return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
    });
}

void send_all(const UniqueFd& socket, std::string_view text) {
    EXPECT_TRUE(eventually([&] {
        const ssize_t sent =
            send(socket.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent > 0) text.remove_prefix(std::size_t(sent));
        return text.empty();
    }));
}

class NodeLink : public testing::Test {
protected:
    void SetUp() override { std::signal(SIGPIPE, SIG_IGN); }
};

// ---- SecretChannel --------------------------------------------------------------
using SecretChannels = NodeLink;

struct Ends {
    SecretChannel server;
    SecretChannel client;
    LinkStep server_step = LinkStep::wants_read;
    LinkStep client_step = LinkStep::wants_read;
    /// Until both have finished, one way or the other.
    void greet() {
        for (int i = 0; i < 100; ++i) {
            if (client_step != LinkStep::ended) client_step = client.handshake();
            if (server_step != LinkStep::ended) server_step = server.handshake();
        }
    }
};

Ends ends_with(const std::optional<LinkKey>& server_key, const LinkKey& client_key) {
    auto [one, other] = sockets();
    return {.server = SecretChannel::accept(std::move(one),
                                            [server_key](std::string_view identity) {
                                                return server_key &&
                                                               server_key->identity == identity
                                                           ? server_key
                                                           : std::nullopt;
                                            }),
            .client = SecretChannel::connect(std::move(other), client_key)};
}

TEST_F(SecretChannels, of_one_key_carry_words_both_ways) {
    const LinkKey key = new_key("a");
    Ends ends = ends_with(key, key);
    ends.greet();
    ASSERT_EQ(ends.server_step, LinkStep::done);
    ASSERT_EQ(ends.client_step, LinkStep::done);
    EXPECT_EQ(ends.server.identity(), "a");
    for (auto [from, to] : {std::pair{&ends.client, &ends.server}, {&ends.server, &ends.client}}) {
        std::string sent = "some words";
        std::string received;
        EXPECT_EQ(from->write(sent), LinkStep::done);
        EXPECT_EQ(to->read(received, 1000), LinkStep::wants_read);
        EXPECT_EQ(received, "some words");
    }
}

TEST_F(SecretChannels, show_nothing_to_who_listens) {
    const LinkKey key = new_key("a");
    auto [server_end, tapped_server] = sockets();
    auto [client_end, tapped_client] = sockets();
    SecretChannel server = SecretChannel::accept(
        std::move(server_end), [&](std::string_view) { return std::optional(key); });
    SecretChannel client = SecretChannel::connect(std::move(client_end), key);
    std::string seen;
    const auto carry = [&](const UniqueFd& from, const UniqueFd& to) {
        std::array<char, 65536> piece{};
        const ssize_t got = recv(from.get(), piece.data(), piece.size(), MSG_DONTWAIT);
        if (got <= 0) return;
        seen.append(piece.data(), std::size_t(got));
        send_all(to, std::string_view(piece.data(), std::size_t(got)));
    };
    std::string words = "{\"type\":\"hello\",\"fence\":\"0123456789\"}\n";
    const std::string sent = words;
    std::string received;
    for (int i = 0; i < 100; ++i) {
        if (client.handshake() == LinkStep::done) client.write(words);
        carry(tapped_client, tapped_server);
        if (server.handshake() == LinkStep::done) server.read(received, 1000);
        carry(tapped_server, tapped_client);
    }
    EXPECT_EQ(received, sent);
    EXPECT_GT(seen.size(), sent.size());
    for (const std::string& secret : {std::string("fence"), std::string("0123456789"), key.secret})
        EXPECT_EQ(seen.find(secret), std::string::npos) << secret;
}

TEST_F(SecretChannels, of_different_keys_refuse_each_other) {
    Ends ends = ends_with(new_key("a"), new_key("a"));
    ends.greet();
    EXPECT_EQ(ends.server_step, LinkStep::ended);
    EXPECT_EQ(ends.client_step, LinkStep::ended);
    EXPECT_TRUE(ends.server.is_known());
}

TEST_F(SecretChannels, of_an_unknown_name_are_refused) {
    for (const auto& known : {std::optional(new_key("b")), std::optional<LinkKey>()}) {
        Ends ends = ends_with(known, new_key("a"));
        ends.greet();
        EXPECT_EQ(ends.server_step, LinkStep::ended);
        EXPECT_EQ(ends.client_step, LinkStep::ended);
        EXPECT_FALSE(ends.server.is_known());
    }
}

TEST_F(SecretChannels, take_no_key_that_anybody_could_guess) {
    for (const LinkKey& key :
         {LinkKey{"a", ""}, LinkKey{"a", "short"}, LinkKey{"", random_hex(link_secret_bytes_min)},
          LinkKey{std::string(129, 'a'), random_hex(link_secret_bytes_min)}}) {
        auto [one, other] = sockets();
        EXPECT_THROW(SecretChannel::connect(std::move(one), key), Error);
    }
}

TEST_F(SecretChannels, refuse_what_is_no_handshake) {
    const LinkKey key = new_key("a");
    for (const std::string& noise :
         {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(100000, 'x'),
          std::string("\x16\x03\x01\xff\xff", 5) + std::string(70000, 0)}) {
        auto [one, other] = sockets();
        SecretChannel server = SecretChannel::accept(
            std::move(one), [&](std::string_view) { return std::optional(key); });
        [[maybe_unused]] const ssize_t sent =
            send(other.get(), noise.data(), noise.size(), MSG_DONTWAIT);
        LinkStep step = LinkStep::wants_read;
        for (int i = 0; i < 100 && step != LinkStep::ended; ++i)
            step = server.handshake();
        EXPECT_EQ(step, LinkStep::ended);
    }
}

// ---- LinkPump -------------------------------------------------------------------
using LinkPumps = NodeLink;

TEST_F(LinkPumps, carry_megabytes_both_ways_past_who_reads_slowly) {
    const LinkKey key = new_key("a");
    Ends ends = ends_with(key, key);
    ends.greet();
    auto [left, left_inner] = sockets();
    auto [right, right_inner] = sockets();
    LinkPump one(std::move(ends.server), std::move(left_inner));
    LinkPump other(std::move(ends.client), std::move(right_inner));
    std::string words(3 << 20, 'a');
    for (std::size_t i = 0; i < words.size(); ++i)
        words[i] = char('a' + i % 23);
    std::array<std::string, 2> to_send{words, words}, received;
    const std::array<const UniqueFd*, 2> outer{&left, &right};
    std::array<char, 30000> piece{};
    ASSERT_TRUE(eventually([&] {
        for (std::size_t i = 0; i < 2; ++i) {
            const ssize_t sent =
                send(outer[i]->get(), to_send[i].data(),
                     std::min<std::size_t>(to_send[i].size(), 100000), MSG_DONTWAIT | MSG_NOSIGNAL);
            if (sent > 0) to_send[i].erase(0, std::size_t(sent));
            const ssize_t got = recv(outer[i]->get(), piece.data(), piece.size(), MSG_DONTWAIT);
            if (got > 0) received[i].append(piece.data(), std::size_t(got));
        }
        EXPECT_TRUE(one.work());
        EXPECT_TRUE(other.work());
        return received[0].size() >= words.size() && received[1].size() >= words.size();
    }));
    EXPECT_TRUE(received[0] == words);
    EXPECT_TRUE(received[1] == words);
}

TEST_F(LinkPumps, pass_the_last_words_on) {
    const LinkKey key = new_key("a");
    Ends ends = ends_with(key, key);
    ends.greet();
    auto [program, inner] = sockets();
    std::string kept;
    LinkPump pump(std::move(ends.client), std::move(inner),
                  [&](std::string_view text) { kept += text; });
    send_all(program, "last words");
    program.reset();
    EXPECT_FALSE(pump.work());
    std::string received;
    ends.server.read(received, 1000);
    EXPECT_EQ(received, "last words");
    EXPECT_EQ(kept, "last words");
}

// ---- LinkListener ---------------------------------------------------------------
using LinkListeners = NodeLink;

LinkListenerOptions on_loopback() {
    return {.address = "127.0.0.1"};
}

UniqueFd connected(std::uint16_t port) {
    auto socket = begin_connect("127.0.0.1", port);
    EXPECT_TRUE(socket.has_value());
    pollfd polled{socket->get(), POLLOUT, 0};
    poll(&polled, 1, 5000);
    return *std::move(socket);
}

/// A node that has proved its key; none: it was refused.
std::optional<SecretChannel> authenticated(std::uint16_t port, const LinkKey& key) {
    SecretChannel channel = SecretChannel::connect(connected(port), key);
    LinkStep step = LinkStep::wants_read;
    eventually([&] {
        step = channel.handshake();
        return step == LinkStep::done || step == LinkStep::ended;
    });
    if (step != LinkStep::done) return std::nullopt;
    return channel;
}

std::optional<UniqueFd> taken(LinkListener& listener, const std::string& identity) {
    std::optional<UniqueFd> socket;
    eventually([&] {
        socket = listener.take(identity);
        return socket.has_value();
    });
    return socket;
}

TEST_F(LinkListeners, let_in_who_is_expected_and_nobody_else) {
    LinkListener listener(on_loopback(), system_clock());
    const LinkKey key = new_key("a");
    listener.expect(key, "job_1/1");
    EXPECT_FALSE(authenticated(listener.port(), new_key("a")));
    EXPECT_FALSE(authenticated(listener.port(), new_key("b")));
    EXPECT_FALSE(listener.take("a"));
    auto node = authenticated(listener.port(), key);
    ASSERT_TRUE(node);
    auto ours = taken(listener, "a");
    ASSERT_TRUE(ours);
    EXPECT_FALSE(listener.take("a"));    // once
    send_all(*ours, "hello\n");
    std::string received;
    EXPECT_TRUE(eventually([&] {
        node->read(received, 100);
        return received == "hello\n";
    }));
    std::string said = "{\"n\":1}\n";
    node->write(said);
    EXPECT_EQ(receive(*ours, 8), "{\"n\":1}\n");
}

TEST_F(LinkListeners, give_the_place_of_an_older_connection_to_a_newer_one) {
    LinkListener listener(on_loopback(), system_clock());
    const LinkKey key = new_key("a");
    listener.expect(key, "job_1/1");
    auto first_node = authenticated(listener.port(), key);
    auto first = taken(listener, "a");
    ASSERT_TRUE(first_node && first);
    auto second_node = authenticated(listener.port(), key);
    auto second = taken(listener, "a");
    ASSERT_TRUE(second_node && second);
    EXPECT_TRUE(has_closed(*first));
    std::string said = "words";
    second_node->write(said);
    EXPECT_EQ(receive(*second, 5), "words");
}

TEST_F(LinkListeners, close_the_connection_of_who_is_forgotten) {
    LinkListener listener(on_loopback(), system_clock());
    const LinkKey key = new_key("a");
    listener.expect(key, "job_1/1");
    auto node = authenticated(listener.port(), key);
    auto ours = taken(listener, "a");
    ASSERT_TRUE(node && ours);
    listener.forget("a");
    EXPECT_TRUE(has_closed(*ours));
    EXPECT_FALSE(authenticated(listener.port(), key));
}

TEST_F(LinkListeners, say_why_they_cannot_listen) {
    LinkListener listener(on_loopback(), system_clock());
    for (const auto& [address, port] : {std::pair{"127.0.0.1", listener.port()},
                                        {"192.0.2.1", std::uint16_t(0)},
                                        {"no address", std::uint16_t(0)}})
        try {
            const LinkListener other({.address = address, .port = port}, system_clock());
            ADD_FAILURE() << address;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::unavailable);
            EXPECT_THAT(error.what(), testing::HasSubstr(address));
        }
}

std::int64_t open_files() {
    std::int64_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
        ++count;
    return count;
}

TEST_F(LinkListeners, hold_a_bounded_number_of_pending_connections_for_a_bounded_time) {
    LinkListener listener({.address = "127.0.0.1", .pending_max = 16, .handshake_max = 300ms},
                          system_clock());
    const LinkKey key = new_key("a");
    listener.expect(key, "job_1/1");
    const std::int64_t before = open_files();
    // They say nothing, and half of them something else.
    std::vector<UniqueFd> connections;
    for (int i = 0; i < 1000; ++i) {
        UniqueFd connection = connected(listener.port());
        if (i % 2 == 0) {
            const std::string noise(64, char(i));
            [[maybe_unused]] const ssize_t sent =
                send(connection.get(), noise.data(), noise.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        }
        if (i % 100 == 0) {
            // In the middle of them a node that is expected.
            const auto node = authenticated(listener.port(), key);
            EXPECT_TRUE(node && taken(listener, "a")) << i;
        }
        // Ours are closed but for the last ones, so that what is open is the listener's.
        connections.push_back(std::move(connection));
        if (connections.size() > 32) connections.erase(connections.begin());
    }
    EXPECT_LE(open_files() - before, 32 + 16 + 16);
    for (const UniqueFd& connection : connections)
        EXPECT_TRUE(has_closed(connection));
}

// ---- NodeRelay ------------------------------------------------------------------
class NodeRelays : public NodeLink {
protected:
    const LinkKey key = new_key("a");
    const TempFolder folder;
    const std::filesystem::path announcement = folder.path() / "listener.json";
    std::mutex mutex;
    std::vector<std::string> said;    // guarded by mutex

    static constexpr std::chrono::milliseconds patience = 60s;

    NodeRelayOptions options() {
        return {.key = key,
                .announcement = announcement,
                .folder = folder.path(),
                .pause_min = 5ms,
                .pause_max = 50ms};
    }
    /// What waits for one of its times is seen, however busy the machine is.
    NodeRelayOptions patient() {
        NodeRelayOptions changed = options();
        changed.handshake_max = changed.last_words_max = patience;
        return changed;
    }
    auto say() {
        return [this](const std::string& line) {
            const std::scoped_lock lock(mutex);
            said.push_back(line);
        };
    }
    std::vector<std::string> lines() {
        const std::scoped_lock lock(mutex);
        return said;
    }
    std::unique_ptr<LinkListener> service(const LinkKey& known) {
        auto made = std::make_unique<LinkListener>(on_loopback(), system_clock());
        made->expect(known, "job_1/1");
        announce(announcement, {.address = "127.0.0.1", .port = made->port()});
        return made;
    }
    UniqueFd program() { return listen_unix(folder.path(), "executor.sock"); }
    static UniqueFd accepted(const UniqueFd& listener) {
        UniqueFd one;
        EXPECT_TRUE(eventually([&] {
            one = UniqueFd(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
            return bool(one);
        }));
        return one;
    }
};

TEST_F(NodeRelays, find_the_service_and_the_program_whichever_comes_last) {
    NodeRelay relay(options(), say(), system_clock());
    EXPECT_TRUE(eventually([&] { return lines().size() == 1; }));
    EXPECT_THAT(lines()[0], testing::HasSubstr("listener.json is absent"));
    auto listener = service(key);
    auto ours = taken(*listener, "a");
    ASSERT_TRUE(ours);
    send_all(*ours, "hello\n");    // before the program listens
    const UniqueFd listening = program();
    const UniqueFd heard = accepted(listening);
    EXPECT_EQ(receive(heard, 6), "hello\n");
    send_all(heard, "frame\n");
    EXPECT_EQ(receive(*ours, 6), "frame\n");
}

TEST_F(NodeRelays, come_again_to_a_service_that_listens_elsewhere) {
    const UniqueFd listening = program();
    auto first = service(key);
    NodeRelay relay(options(), say(), system_clock());
    auto ours = taken(*first, "a");
    ASSERT_TRUE(ours);
    const UniqueFd before = accepted(listening);
    first.reset();
    EXPECT_TRUE(has_closed(before));    // the program learns that it has no agent
    auto second = service(key);
    ours = taken(*second, "a");
    ASSERT_TRUE(ours);
    const UniqueFd after = accepted(listening);
    send_all(*ours, "hello again\n");
    EXPECT_EQ(receive(after, 12), "hello again\n");
}

TEST_F(NodeRelays, give_a_program_to_no_service_that_does_not_know_its_key) {
    const UniqueFd listening = program();
    auto listener = service(new_key("a"));
    NodeRelay relay(options(), say(), system_clock());
    EXPECT_TRUE(eventually([&] { return !lines().empty(); }));
    EXPECT_THAT(lines()[0], testing::HasSubstr("does not prove that it knows this program"));
    poll(nullptr, 0, 200);
    EXPECT_EQ(lines().size(), 1U);    // it tries on, and says so once
    EXPECT_LT(accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK), 0);
    listener->expect(key, "job_1/1");
    ASSERT_TRUE(taken(*listener, "a"));
    EXPECT_TRUE(eventually([&] { return lines().size() == 2; }));
    EXPECT_THAT(lines()[1], testing::HasSubstr("again"));
}

TEST_F(NodeRelays, end_at_once_when_the_program_has_ended) {
    auto listener = service(key);
    UniqueFd listening = program();
    auto relay = std::make_unique<NodeRelay>(patient(), say(), system_clock());
    auto ours = taken(*listener, "a");
    ASSERT_TRUE(ours);
    UniqueFd said_to = accepted(listening);
    send_all(said_to, "done\n");
    said_to.reset();
    listening.reset();
    const Tick began = system_clock().tick();
    relay.reset();
    EXPECT_LT(system_clock().tick() - began, patience / 2);
    EXPECT_EQ(receive(*ours, 100), "done\n");
}

TEST_F(NodeRelays, end_while_nobody_answers) {
    // A port that takes connections and says nothing.
    const UniqueFd silent = listen_tcp("127.0.0.1", 0);
    announce(announcement, {.address = "127.0.0.1", .port = port_of(silent)});
    auto relay = std::make_unique<NodeRelay>(patient(), say(), system_clock());
    poll(nullptr, 0, 50);
    const Tick began = system_clock().tick();
    relay.reset();
    EXPECT_LT(system_clock().tick() - began, patience / 2);
}

// ---- what is read ---------------------------------------------------------------
TEST(Announcements, that_are_damaged_name_no_service) {
    const TempFolder folder;
    const auto file = folder.path() / "listener.json";
    EXPECT_FALSE(read_announcement(file));
    announce(file, {.address = "10.0.0.5", .port = 7000});
    EXPECT_EQ(read_announcement(file), (Announcement{.address = "10.0.0.5", .port = 7000}));
    for (const char* text :
         {"", "{", "[]", "{\"address\":\"10.0.0.5\"}", "{\"address\":5,\"port\":1}",
          "{\"address\":\"10.0.0.5\",\"port\":0}", "{\"address\":\"10.0.0.5\",\"port\":65536}",
          "{\"address\":\"10.0.0.5\",\"port\":\"x\"}"}) {
        std::ofstream(file, std::ios::trunc) << text;
        EXPECT_FALSE(read_announcement(file)) << text;
    }
}

TEST(StartLinks, are_part_of_an_order_or_it_is_none) {
    StartOrder order{.program = "/bin/true",
                     .arguments = {},
                     .environment = {},
                     .folder = "/run",
                     .output = "/run/output.log"};
    EXPECT_EQ(read_start_order(to_text(order)), order);
    order.link = StartLink{.identity = "a",
                           .secret = random_hex(link_secret_bytes_min),
                           .announcement = "/home/slurm/listener.json"};
    EXPECT_EQ(read_start_order(to_text(order)), order);
    order.link->secret = "short";
    EXPECT_FALSE(read_start_order(to_text(order)));
    for (const char* link :
         {"5", "{}", "{\"identity\":\"a\",\"secret\":5,\"announcement\":\"\"}"}) {
        order.link.reset();
        std::string text = to_text(order);
        text.insert(text.size() - 1, fmt::format(",\"link\":{}", link));
        EXPECT_FALSE(read_start_order(text)) << text;
    }
}

TEST(Addresses, of_this_machine_towards_another_one) {
    EXPECT_EQ(address_towards("127.0.0.1"), "127.0.0.1");
    EXPECT_EQ(address_towards("no address"), "");
}

}    // namespace
}    // namespace slipway
