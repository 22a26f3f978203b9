#include "server/main/check_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "api/base/error.h"
#include "api/base/sha256.h"
#include "server/http/network.h"
#include "server/http/outgoing.h"
#include "server/main/launcher_options.h"
#include "server/main/secret_file.h"

namespace slipway {

namespace {

void check_networks(const char* option, const std::vector<std::string>& networks) {
    for (const std::string& text : networks)
        try {
            parse_network(text);
        } catch (const Error& error) {
            throw CLI::ValidationError(option, error.what());
        }
}

void check_edge(const Options& options) {
    check_networks("--trusted-proxy", options.trusted_proxies);
    check_networks("--webhook-allow", options.webhook_allow);
    if (options.command != Command::serve || options.insecure || !options.certificate_file.empty())
        return;
    for (const std::string& address : options.addresses) {
        boost::system::error_code error;
        const auto parsed = boost::asio::ip::make_address(address, error);
        if (!error && !is_loopback(parsed))
            throw CLI::ValidationError(
                "--host", address +
                              " is reached by other machines, and plain HTTP shows them tokens: "
                              "give --tls-cert and --tls-key, or listen on 127.0.0.1 behind a "
                              "proxy that speaks TLS, or say --insecure");
    }
}

void check_roots(const std::vector<DatasetRoot>& roots) {
    for (std::size_t i = 0; i < roots.size(); ++i)
        for (std::size_t other = 0; other < i; ++other)
            if (roots[i].path == roots[other].path)
                throw CLI::ValidationError(
                    "--dataset-root", fmt::format("{} is given twice; name all projects that it is "
                                                  "for in one, with commas between",
                                                  roots[i].path.string()));
}

}    // namespace

void check_slice_address(const Options& options) {
    if (options.slice_address.empty()) return;
    boost::system::error_code error;
    const auto parsed = boost::asio::ip::make_address(options.slice_address, error);
    if (error || parsed.is_unspecified())
        throw CLI::ValidationError("--slice-address",
                                   fmt::format("must be one address of this machine, as 10.0.0.5, "
                                               "got {}",
                                               options.slice_address));
    if (is_public(parsed) && !options.allow_public_slice_address)
        throw CLI::ValidationError(
            "--slice-address",
            options.slice_address +
                " is reached from the internet, and what executors of a slice send to each other "
                "is not encrypted: give a private address, or say --allow-public-slice-address");
}

void find_join_token(RawOptions& raw) {
    constexpr std::size_t bytes_max = 256;
    const char* environment = std::getenv("SLIPWAY_JOIN_TOKEN");
    std::string text = environment != nullptr ? environment : "";
    try {
        if (!raw.join_token_file.empty())
            text = read_secret_file("--join-token-file", raw.join_token_file, bytes_max);
    } catch (const Error& error) {
        throw CLI::ValidationError(std::string(error.what()));
    }
    if (!text.empty() && !text.starts_with("slj_"))
        throw CLI::ValidationError(
            "the join token must begin with slj_: POST /v1/hosts/join-tokens creates one");
    if (!raw.join_token_file.empty() && text.empty())
        throw CLI::ValidationError("--join-token-file",
                                   raw.join_token_file + " holds no join token");
    if (!text.empty()) raw.options.join_token = sha256_hex(text);
}

std::vector<DatasetRoot> resolved_roots(const std::vector<std::string>& texts) {
    std::vector<DatasetRoot> roots;
    for (const std::string& text : texts) {
        DatasetRoot root = parse_dataset_root(text);
        root.path = std::filesystem::weakly_canonical(root.path);
        roots.push_back(std::move(root));
    }
    return roots;
}

void check_together(const RawOptions& raw) {
    const Options& options = raw.options;
    if (options.command == Command::agent && options.database.empty())
        throw CLI::RequiredError("agent needs --database or --database-file, the service's:");
    check_edge(options);
    check_slice_address(options);
    check_launcher_options(options);
    check_roots(resolved_roots(raw.dataset_roots));
    if (options.certificate_file.empty() != options.private_key_file.empty())
        throw CLI::ValidationError("--tls-cert and --tls-key", "only one of them is given");
}

}    // namespace slipway
