// Members meet by files: each writes its addresses into a file named after its rank, and whoever
// looks after the folder (agents, a shared disk) brings the files of the others. So nobody needs a
// port that is known before, and a service in between sees files alone. A file carries an HMAC by
// the attempt's secret: one left by another attempt, or put there by another program, is refused
// and named. The folder is looked at every few milliseconds: it may lie on a disk of another
// machine, whose changes inotify does not tell.
#include "executor/collectives/gloo/rendezvous.h"

#include <fmt/format.h>

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "api/base/json.h"
#include "api/base/parsed_json.h"
#include "api/base/posix.h"
#include "executor/collectives/gloo/proof.h"
#include "executor/collectives/member.h"

namespace slipway {

namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds look_again{20};
constexpr std::size_t file_bytes_max = 1 << 20;

std::filesystem::path file_of(const MemberOrder& order, int rank) {
    return std::filesystem::path(order.rendezvous_folder) / std::to_string(rank);
}

std::string proven_text(int rank, const MemberAddresses& addresses) {
    std::string text = fmt::format("slipway member addresses {}", rank);
    for (const std::string& address : addresses)
        text += " " + to_hex(std::as_bytes(std::span(address)));
    return text;
}

Proof proof_in(const Json& file) {
    Proof proof{};
    const std::string bytes = bytes_of_hex(file.at("proof").get<std::string>());
    if (bytes.size() == proof.size())
        std::ranges::copy(std::as_bytes(std::span(bytes)), proof.begin());
    return proof;
}

MemberAddresses read_addresses(const MemberOrder& order, int rank, const std::string& text) {
    const auto refuse = [&](const std::string& why) -> MemberLost {
        return MemberLost(fmt::format("{} cannot be met: {}", member_name(order, rank), why));
    };
    const auto parsed = parse_json(text, {.bytes_max = file_bytes_max});
    if (!parsed) throw refuse("its rendezvous file is damaged");
    try {
        MemberAddresses addresses;
        for (const Json& address : parsed->value.at("addresses"))
            addresses.push_back(bytes_of_hex(address.get<std::string>()));
        if (!equal(proof_in(parsed->value), proof_of(order.secret, proven_text(rank, addresses))))
            throw refuse(
                "it has another secret than this member, or its file is of another "
                "attempt");
        if (addresses.size() != order.hosts.size())
            throw refuse(fmt::format("it has been told of {} members, this one of {}",
                                     addresses.size(), order.hosts.size()));
        return addresses;
    } catch (const Json::exception&) {
        throw refuse("its rendezvous file has other fields than this build writes");
    }
}

std::optional<std::string> read_file(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream) return std::nullopt;
    return std::string{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

void wait_a_little() {
    std::mutex mutex;
    std::condition_variable never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, look_again);
}

}    // namespace

std::string member_name(const MemberOrder& order, int rank) {
    return fmt::format("rank {} ({})", rank, order.hosts.at(std::size_t(rank)));
}

std::string member_names(const MemberOrder& order, const std::vector<int>& ranks) {
    std::string names;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        if (i > 0) names += i + 1 == ranks.size() ? " and " : ", ";
        names += member_name(order, ranks[i]);
    }
    return names;
}

void publish(const MemberOrder& order, const MemberAddresses& addresses) {
    Json file{{"rank", order.rank}, {"host", order.hosts.at(std::size_t(order.rank))}};
    file["addresses"] = Json::array();
    for (const std::string& address : addresses)
        file["addresses"].push_back(to_hex(std::as_bytes(std::span(address))));
    file["proof"] = to_hex(proof_of(order.secret, proven_text(order.rank, addresses)));
    std::filesystem::create_directories(order.rendezvous_folder);
    write_file_aside(file_of(order, order.rank), file.dump());
}

std::vector<MemberAddresses> meet(const MemberOrder& order, steady_clock::time_point until) {
    std::vector<std::optional<MemberAddresses>> met(order.hosts.size());
    while (true) {
        std::vector<int> missing;
        for (int rank = 0; rank < int(met.size()); ++rank) {
            auto& addresses = met[std::size_t(rank)];
            if (!addresses)
                if (const auto text = read_file(file_of(order, rank)))
                    addresses = read_addresses(order, rank, *text);
            if (!addresses) missing.push_back(rank);
        }
        if (missing.empty()) break;
        if (steady_clock::now() >= until)
            throw MemberLost(fmt::format("{} did not come to the rendezvous within {:g} s",
                                         member_names(order, missing), order.timeout_s));
        wait_a_little();
    }
    std::vector<MemberAddresses> all;
    for (auto& addresses : met)
        all.push_back(std::move(*addresses));
    return all;
}

}    // namespace slipway
