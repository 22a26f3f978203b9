// Only Gloo's transport is used: connections, a thread that serves them, and sends and receives of
// plain memory that wait for each other. Its collectives are not: none adds in the order of a fixed
// tree, and their errors name an address or nobody. Each transfer has a buffer of its own, so it is
// known whose it was when time is up or a connection breaks. Transfers begin all at once and are
// waited for one after the other: the wait takes as long as the slowest. It comes back from time to
// time (wait_alarm.h), so that neither a late member nor a transfer that was cut in its middle
// hides who was lost. A wait of Gloo that times out breaks all connections; what had arrived by
// then is still told, which says who is late.
//
// Who has connected is not trusted: both sides prove that they know the attempt's secret before
// anything else is sent. Nothing is encrypted: hosts of a slice need a network of their own.
#include "executor/collectives/gloo/mesh.h"

#include <fmt/format.h>
#include <gloo/common/error.h>
#include <gloo/common/logging.h>
#include <gloo/transport/context.h>
#include <gloo/transport/pair.h>
#include <gloo/transport/tcp/device.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "api/base/posix.h"
#include "api/base/printable.h"
#include "executor/collectives/gloo/proof.h"
#include "executor/collectives/gloo/rendezvous.h"
#include "executor/collectives/member.h"

namespace slipway {

namespace tcp = ::gloo::transport::tcp;

namespace {

using std::chrono::steady_clock;
using Deadline = steady_clock::time_point;

constexpr std::uint64_t data_slot = 1, word_slot = 2, watch_slot = 3, farewell_slot = 4;
/// For a farewell, of a member that cannot go on anyway.
constexpr std::chrono::milliseconds farewell_wait_max{500};

/// Gloo's messages begin with "[file:line] ".
std::string plain(std::string_view message) {
    if (message.starts_with('['))
        if (const std::size_t end = message.find("] "); end != std::string_view::npos)
            message.remove_prefix(end + 2);
    return std::string(message.substr(0, message.find('\n')));
}

/// What is left until then; Gloo takes 0 for something else.
std::chrono::milliseconds left_until(Deadline until) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now());
    return std::max(left, std::chrono::milliseconds(1));
}

/// Runs `work`; the message of an error of Gloo, if there was one.
std::optional<std::string> error_of(const std::function<void()>& work) {
    try {
        work();
        return std::nullopt;
    } catch (const ::gloo::Exception& error) {
        return plain(error.what());
    } catch (const ::gloo::EnforceNotMet& error) {
        return plain(error.msg());
    }
}

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

bool can_be_bound(const addrinfo& address) {
    const UniqueFd probe(socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    return probe && bind(probe.get(), address.ai_addr, address.ai_addrlen) == 0;
}

/// Why others cannot connect to this host at the address; none: they can. Asked before Gloo is,
/// which says less.
std::optional<std::string> problem_of(const std::string& address) {
    if (address.empty() || address == "0.0.0.0" || address == "::")
        return "it must be the one address that the other members connect to";
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int code = getaddrinfo(address.c_str(), nullptr, &hints, &found); code != 0)
        return gai_strerror(code);
    const Addresses all(found, freeaddrinfo);
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next)
        if (can_be_bound(*each)) return std::nullopt;
    return "it is no address of this host";
}

std::uint64_t hash_of(std::string_view name) {
    std::uint64_t hash = 14695981039346656037U;    // FNV-1a
    for (const char letter : name)
        hash = (hash ^ std::uint64_t(std::uint8_t(letter))) * 1099511628211U;
    return hash;
}

}    // namespace

Mesh::Mesh(const MemberOrder& order)
    : order_(order), limit_(std::chrono::milliseconds(std::int64_t(order.timeout_s * 1000))) {
    for (int rank = 0; rank < int(order_.hosts.size()); ++rank)
        if (rank != order_.rank) others_.push_back(rank);
    const Deadline until = steady_clock::now() + limit_;
    MemberAddresses own(order_.hosts.size());
    const auto cannot_be_reached = [&](const std::string& why) {
        return MemberLost(fmt::format("{} cannot be reached at its address \"{}\": {}",
                                      member_name(order_, order_.rank), order_.bind_address, why));
    };
    if (const auto problem = problem_of(order_.bind_address)) throw cannot_be_reached(*problem);
    const auto refused = error_of([&] {
        device_ = tcp::CreateDevice(tcp::attr(order_.bind_address.c_str()));
        context_ = device_->createContext(order_.rank, int(order_.hosts.size()));
        context_->setTimeout(limit_);
        for (const int rank : others_) {
            auto& pair = context_->createPair(rank);
            const std::vector<char> bytes = pair->address().bytes();
            own[std::size_t(rank)].assign(bytes.begin(), bytes.end());
        }
    });
    if (refused) throw cannot_be_reached(*refused);
    publish(order_, own);
    connect(meet(order_, until));
    authenticate();
    expect_farewells();
    watch_connections();
}

Mesh::~Mesh() = default;

void Mesh::connect(std::span<const MemberAddresses> addresses) {
    for (const int rank : others_) {
        const std::string& address = addresses[std::size_t(rank)][std::size_t(order_.rank)];
        const auto broken = error_of([&] {
            context_->getPair(rank)->connect(std::vector<char>(address.begin(), address.end()));
        });
        if (broken)
            throw MemberLost(fmt::format(
                "{} cannot be connected to: {}. If that is not an address of its host which {} "
                "reaches, start slipwayd there with --slice-address",
                member_name(order_, rank), *broken, order_.hosts[std::size_t(order_.rank)]));
    }
}

/// Each asks each: a number that nobody has seen, answered by who knows the secret.
void Mesh::authenticate() {
    const std::size_t count = order_.hosts.size();
    const Challenge own = make_challenge();
    std::vector<Challenge> asked(count);
    std::vector<Proof> answers(count), received(count);
    std::vector<Outgoing> out;
    std::vector<Incoming> in;
    for (const int rank : others_) {
        out.push_back({rank, own});
        in.push_back({rank, asked[std::size_t(rank)]});
    }
    exchange("the proof of the secret", out, in);
    out.clear();
    in.clear();
    for (const int rank : others_) {
        Proof& answer = answers[std::size_t(rank)];
        answer = answer_of(order_.secret, order_.rank, rank, asked[std::size_t(rank)], own);
        out.push_back({rank, answer});
        in.push_back({rank, received[std::size_t(rank)]});
    }
    exchange("the proof of the secret", out, in);
    for (const int rank : others_) {
        const Proof due =
            answer_of(order_.secret, rank, order_.rank, own, asked[std::size_t(rank)]);
        if (equal(received[std::size_t(rank)], due)) continue;
        lose(fmt::format("who connected as {} does not know the secret of the attempt",
                         member_name(order_, rank)));
    }
}

Mesh::Port Mesh::port(std::span<std::byte> bytes) const {
    return context_->createUnboundBuffer(bytes.data(), bytes.size());
}

void Mesh::lose(const std::string& message) {
    lost_ = message;
    throw MemberLost(message);
}

void Mesh::lose_late(std::string_view phase, const std::vector<int>& late) {
    lose(fmt::format("{} did not come to {} within {:g} s", member_names(order_, late), phase,
                     order_.timeout_s));
}

/// The others end next, and are not the cause: they pass on what this member says.
void Mesh::lose_broken(std::string_view phase, int rank, std::string_view why) {
    std::string message = farewell_of(rank);
    if (message.empty())
        message = fmt::format("{} was lost at {}: {}", member_name(order_, rank), phase, why);
    say_farewell(message);
    lose(message);
}

void Mesh::expect_farewells() {
    farewells_.resize(order_.hosts.size());
    for (const int rank : others_) {
        FarewellPort& farewell = farewells_[std::size_t(rank)];
        farewell.port = port(std::as_writable_bytes(std::span(farewell.text)));
        // Whoever is lost already has said nothing: the operation that comes next finds it.
        error_of([&] { farewell.port->recv(rank, farewell_slot); });
    }
}

/// What a member whose connection is broken said before; empty: nothing.
std::string Mesh::farewell_of(int rank) {
    if (farewells_.empty()) return {};
    FarewellPort& farewell = farewells_[std::size_t(rank)];
    if (error_of([&] { farewell.port->waitRecv(farewell_wait_max); })) return {};
    const auto end = std::ranges::find(farewell.text, '\0');
    return printable_line(std::string_view(farewell.text.begin(), end));
}

void Mesh::say_farewell(const std::string& message) {
    Farewell text{};
    std::copy_n(message.begin(), std::min(message.size(), text.size() - 1), text.begin());
    std::vector<Port> sent;
    for (const int rank : others_) {
        Port one = port(std::as_writable_bytes(std::span(text)));
        if (!error_of([&] { one->send(rank, farewell_slot); })) sent.push_back(std::move(one));
    }
    const Deadline until = steady_clock::now() + farewell_wait_max;
    for (const Port& one : sent)
        error_of([&] { one->waitSend(left_until(until)); });
}

Mesh::Transfer Mesh::begin(std::string_view phase, Transfer transfer, std::uint64_t slot) {
    const auto broken = error_of([&] {
        auto& port = *transfer.port;
        transfer.receives ? port.recv(transfer.rank, slot) : port.send(transfer.rank, slot);
    });
    if (broken) lose_broken(phase, transfer.rank, *broken);
    return transfer;
}

void Mesh::require_usable() const {
    if (!lost_.empty()) throw MemberLost(lost_);
}

void Mesh::watch_connections() {
    watches_.resize(order_.hosts.size());
    for (const int rank : others_) {
        Watch& watch = watches_[std::size_t(rank)];
        watch.port = port({&watch.nothing, 1});
        if (const auto broken = error_of([&] { watch.port->recv(rank, watch_slot); }))
            watch.why = *broken;
    }
}

bool Mesh::has_ended(int rank) {
    if (watches_.empty()) return false;    // while members prove who they are
    Watch& watch = watches_.at(std::size_t(rank));
    if (!watch.why.empty()) return true;
    // A wait that is called off looks for errors first, and one that times out would break all
    // connections.
    const auto broken = error_of([&] {
        watch.port->abortWaitRecv();
        watch.port->waitRecv(limit_);
    });
    if (broken) watch.why = *broken;
    return broken.has_value();
}

void Mesh::lose_ended(std::string_view phase, int rank) {
    lose_broken(phase, rank, watches_.at(std::size_t(rank)).why);
}

void Mesh::exchange(std::string_view phase, std::span<const Outgoing> out,
                    std::span<const Incoming> in) {
    require_usable();
    std::vector<Transfer> transfers;
    for (const Incoming& each : in)
        if (!each.bytes.empty())
            transfers.push_back(begin(phase, {each.from, true, port(each.bytes)}, data_slot));
    for (const Outgoing& each : out) {
        if (each.bytes.empty()) continue;
        // Gloo's buffers are of both directions; what is only sent is not written.
        auto* const bytes = const_cast<std::byte*>(each.bytes.data());
        transfers.push_back(
            begin(phase, {each.to, false, port({bytes, each.bytes.size()})}, data_slot));
    }
    finish(phase, std::move(transfers));
}

/// Puts a transfer with a member that has ended first. What that member had sent or taken is told
/// before its end, so the wait for such a transfer is over at once, or the member is lost.
template <class Open>
bool Mesh::put_ended_first(Open& open) {
    const auto ended =
        std::ranges::find_if(open, [&](const auto& transfer) { return has_ended(transfer.rank); });
    if (ended == open.end()) return false;
    std::rotate(open.begin(), ended, std::next(ended));
    return true;
}

bool Mesh::wait(const Transfer& transfer, Deadline until) {
    return alarm_.wait(*transfer.port, transfer.receives, left_until(until));
}

void Mesh::finish(std::string_view phase, std::vector<Transfer> open) {
    const Deadline until = steady_clock::now() + limit_;
    std::vector<int> late;
    bool has_first_ended = false;
    while (!open.empty()) {
        const int rank = open.front().rank;
        bool is_done = false;
        const auto broken = error_of([&] { is_done = wait(open.front(), until); });
        if (broken && late.empty() && steady_clock::now() < until)
            lose_broken(phase, rank, *broken);
        if (broken && std::ranges::count(late, rank) == 0) late.push_back(rank);
        if (broken || is_done) {
            open.erase(open.begin());
            has_first_ended = false;
            continue;
        }
        if (has_first_ended) lose_ended(phase, rank);
        has_first_ended = put_ended_first(open);
    }
    if (late.empty()) return;
    std::ranges::sort(late);
    lose_late(phase, late);
}

bool Mesh::send_word(const Word& word) {
    auto sent = std::make_unique<SentWord>();
    sent->word = word;
    sent->port = port(std::as_writable_bytes(std::span(&sent->word, 1)));
    const auto broken = error_of([&] {
        for (const int rank : others_) {
            sent->port->send(rank, word_slot);
            ++sent->sends;
        }
    });
    words_.push_back(std::move(sent));
    return !broken;
}

void Mesh::meet_at(std::string_view barrier) {
    require_usable();
    send_word({.barrier = hash_of(barrier), .here = 1});
    std::vector<Heard> open;
    for (const int rank : others_)
        open.push_back({.rank = rank});
    bool has_first_ended = false;
    while (!open.empty()) {
        Heard& first = open.front();
        if (!first.transfer) hear_next(barrier, first);
        bool is_done = false;
        const auto broken = error_of([&] { is_done = wait(*first.transfer, first.until); });
        if (broken && steady_clock::now() < first.until) lose_broken(barrier, first.rank, *broken);
        if (broken) lose_late(barrier, {first.rank});
        if (!is_done && has_first_ended) lose_ended(barrier, first.rank);
        has_first_ended = !is_done && put_ended_first(open);
        if (is_done) take_word(barrier, open);
    }
    finish_words(barrier);
}

/// The next word of a member, which has its own time.
void Mesh::hear_next(std::string_view barrier, Heard& heard) {
    heard.until = steady_clock::now() + limit_;
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(heard.word.get(), 1));
    heard.transfer = begin(barrier, {heard.rank, true, port(bytes)}, word_slot);
}

void Mesh::take_word(std::string_view barrier, std::vector<Heard>& open) {
    Heard& first = open.front();
    first.transfer.reset();
    if (first.word->here == 0) return;    // it is busy, and will say more
    if (first.word->barrier != hash_of(barrier))
        lose_broken(barrier, first.rank, "it is somewhere else in the program");
    open.erase(open.begin());
}

/// All others were at the barrier, so they take what was sent before.
void Mesh::finish_words(std::string_view barrier) {
    const Deadline until = steady_clock::now() + limit_;
    for (const std::unique_ptr<SentWord>& sent : words_)
        for (std::size_t i = 0; i < sent->sends; ++i) {
            const auto broken = error_of([&] { sent->port->waitSend(left_until(until)); });
            // Who has heard of everybody may have ended since.
            if (broken && steady_clock::now() >= until) lose_late(barrier, others_);
            if (broken) break;
        }
    words_.clear();
}

}    // namespace slipway
