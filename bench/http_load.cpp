#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/asio.hpp>
#include <boost/beast.hpp>
#include <cmath>
#include <deque>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <sstream>

#include "api/base/clock.h"
#include "api/base/error.h"

/// A load of requests at a service, from one thread. Open loop (`--rate`): requests are due at
/// times of a Poisson process, and a latency counts from the time at which the request was due,
/// also when no connection was free then: a service that stands still for a second is seen in every
/// request of that second (Tene's "coordinated omission"). Closed loop (no rate): each connection
/// sends the next request when it has the answer to the one before, as clients that wait do; the
/// rate that comes of it is the service's limit for so many clients. Prints one line of JSON:
/// rates, latencies in milliseconds, statuses, errors.
///   usage: bench_http_load --port P [--rate R] [--connections 16] [--seconds 10] …   (--help)
namespace slipway {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

struct LoadOptions {
    std::string host = "127.0.0.1";
    std::string from{};    ///< empty: the system chooses
    unsigned short port = 0;
    std::string method = "GET";
    std::string path = "/healthz";
    std::string body_file{};
    std::string token_file{};
    double rate_per_s = 0;
    int connections = 16;
    double seconds = 10;
    double warm_up_s = 1;
    std::uint64_t seed = 1;
};

struct LoadResult {
    std::vector<double> latencies_ms{};
    std::map<int, std::int64_t> statuses{};
    std::map<std::string, std::int64_t> errors{};
    std::int64_t unanswered = 0;    ///< due within the time and not answered 10 s after it
};

std::string whole_file(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw Error{ErrorCode::not_found, fmt::format("{} cannot be read", path)};
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string request_text(const LoadOptions& options) {
    std::string head = fmt::format("{} {} HTTP/1.1\r\nHost: {}:{}\r\n", options.method,
                                   options.path, options.host, options.port);
    if (!options.token_file.empty()) {
        std::string token = whole_file(options.token_file);
        while (!token.empty() && std::isspace(static_cast<unsigned char>(token.back())) != 0)
            token.pop_back();
        head += fmt::format("Authorization: Bearer {}\r\n", token);
    }
    const std::string body = options.body_file.empty() ? "" : whole_file(options.body_file);
    if (!body.empty() || options.method == "POST") {
        head +=
            fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n", body.size());
    }
    return head + "\r\n" + body;
}

/// Sends what is due on whichever connection is free.
class Load {
public:
    Load(asio::io_context& io, const LoadOptions& options)
        : io_(io),
          options_(options),
          request_(request_text(options)),
          random_(options.seed),
          due_timer_(io),
          end_timer_(io) {}

    LoadResult run() {
        begin_ = system_clock().tick();
        for (int number = 0; number < options_.connections; ++number) {
            clients_.push_back(std::make_unique<Client>(io_));
            connect(*clients_.back());
        }
        if (open_loop()) plan_next(begin_);
        end_timer_.expires_after(to_steady(options_.warm_up_s + options_.seconds));
        end_timer_.async_wait([this](beast::error_code) { finish(); });
        io_.run();
        result_.unanswered += static_cast<std::int64_t>(waiting_.size());
        for (const auto& client : clients_)
            if (client->busy && is_counted(client->due)) ++result_.unanswered;
        return std::move(result_);
    }

private:
    struct Client {
        explicit Client(asio::io_context& io) : stream(io) {}
        tcp::socket stream;
        beast::flat_buffer buffer{};
        std::optional<http::response_parser<http::string_body>> parser{};
        Tick due{};
        bool busy = false;
        bool connected = false;
    };

    static std::chrono::steady_clock::duration to_steady(double seconds) {
        return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
            std::chrono::duration<double>(seconds));
    }

    bool open_loop() const { return options_.rate_per_s > 0; }

    bool is_counted(Tick due) const {
        const double at = std::chrono::duration<double>(due - begin_).count();
        return at >= options_.warm_up_s && at < options_.warm_up_s + options_.seconds;
    }

    void connect(Client& client) {
        client.stream = tcp::socket(io_);
        const tcp::endpoint endpoint(asio::ip::make_address(options_.host), options_.port);
        if (!options_.from.empty()) {
            client.stream.open(endpoint.protocol());
            client.stream.bind({asio::ip::make_address(options_.from), 0});
        }
        client.stream.async_connect(endpoint, [this, &client](beast::error_code error) {
            if (error) return fail(client, error);
            client.stream.set_option(tcp::no_delay(true));
            client.connected = true;
            take_next(client);
        });
    }

    void plan_next(Tick previous) {
        std::exponential_distribution<double> gap_s(options_.rate_per_s);
        const Tick due = previous + to_steady(gap_s(random_));
        due_timer_.expires_at(due);
        due_timer_.async_wait([this, due](beast::error_code error) {
            if (error || finished_) return;
            waiting_.push_back(due);
            for (const auto& client : clients_) {
                if (waiting_.empty()) break;
                if (client->connected && !client->busy) take_next(*client);
            }
            plan_next(due);
        });
    }

    void take_next(Client& client) {
        client.busy = false;
        if (finished_) return stop_when_idle();
        if (!open_loop()) return send(client, system_clock().tick());
        if (waiting_.empty()) return;
        const Tick due = waiting_.front();
        waiting_.pop_front();
        send(client, due);
    }

    void send(Client& client, Tick due) {
        client.busy = true;
        client.due = due;
        asio::async_write(client.stream, asio::buffer(request_),
                          [this, &client](beast::error_code error, std::size_t) {
                              if (error) return fail(client, error);
                              receive(client);
                          });
    }

    void receive(Client& client) {
        client.parser.emplace();
        client.parser->body_limit(64 << 20);
        http::async_read(client.stream, client.buffer, *client.parser,
                         [this, &client](beast::error_code error, std::size_t) {
                             if (error) return fail(client, error);
                             answered(client);
                         });
    }

    void answered(Client& client) {
        if (is_counted(client.due)) {
            result_.latencies_ms.push_back(
                std::chrono::duration<double, std::milli>(system_clock().tick() - client.due)
                    .count());
            ++result_.statuses[static_cast<int>(client.parser->get().result_int())];
        }
        const bool kept = client.parser->get().keep_alive();
        client.busy = false;
        if (kept) return take_next(client);
        client.connected = false;
        if (!finished_) connect(client);
    }

    void fail(Client& client, beast::error_code error) {
        if (finished_ && error == asio::error::operation_aborted) return;
        ++result_.errors[error.message()];
        client.busy = false;
        client.connected = false;
        client.buffer.clear();
        if (finished_) return stop_when_idle();
        auto pause = std::make_shared<asio::steady_timer>(io_, std::chrono::milliseconds(20));
        pause->async_wait([this, &client, pause](beast::error_code) {
            if (!finished_) connect(client);
        });
    }

    /// What was sent may still be answered: it counts with the time that it takes.
    void finish() {
        finished_ = true;
        due_timer_.cancel();
        end_timer_.expires_after(std::chrono::seconds(10));
        end_timer_.async_wait([this](beast::error_code) { io_.stop(); });
        stop_when_idle();
    }

    void stop_when_idle() {
        for (const auto& client : clients_) {
            if (client->busy) return;
        }
        io_.stop();
    }

    asio::io_context& io_;
    const LoadOptions& options_;
    std::string request_;
    std::mt19937_64 random_;
    asio::steady_timer due_timer_;
    asio::steady_timer end_timer_;
    std::vector<std::unique_ptr<Client>> clients_;
    std::deque<Tick> waiting_;    ///< due, and no connection was free
    Tick begin_{};
    bool finished_ = false;
    LoadResult result_;
};

nlohmann::json to_json(const LoadOptions& options, LoadResult result) {
    std::ranges::sort(result.latencies_ms);
    const auto percentile = [&](double share) {
        if (result.latencies_ms.empty()) return 0.0;
        const auto count = static_cast<double>(result.latencies_ms.size());
        const auto place = static_cast<std::size_t>(std::max(0.0, std::ceil(share * count) - 1));
        return std::round(1000 * result.latencies_ms[place]) / 1000;
    };
    nlohmann::json statuses = nlohmann::json::object();
    for (const auto& [status, count] : result.statuses)
        statuses[std::to_string(status)] = count;
    return {{"loop", options.rate_per_s > 0 ? "open" : "closed"},
            {"connections", options.connections},
            {"wanted_per_s", options.rate_per_s},
            {"answered_per_s", static_cast<double>(result.latencies_ms.size()) / options.seconds},
            {"p50_ms", percentile(0.5)},
            {"p90_ms", percentile(0.9)},
            {"p99_ms", percentile(0.99)},
            {"p999_ms", percentile(0.999)},
            {"max_ms", percentile(1)},
            {"statuses", std::move(statuses)},
            {"errors", result.errors},
            {"unanswered", result.unanswered}};
}

int run(int argc, char** argv) {
    LoadOptions options;
    CLI::App app{"Sends requests to a service at a fixed rate, or as fast as it answers."};
    app.add_option("--host", options.host, "Address.")->capture_default_str();
    app.add_option("--from", options.from, "Address of this machine to connect from.");
    app.add_option("--port", options.port, "Port.")->required();
    app.add_option("--method", options.method, "Method.")->capture_default_str();
    app.add_option("--path", options.path, "Path and query.")->capture_default_str();
    app.add_option("--body", options.body_file, "File with the body, as JSON.");
    app.add_option("--token-file", options.token_file, "File with the token.");
    app.add_option("--rate", options.rate_per_s,
                   "Requests a second, at random times. 0: each connection sends the next request "
                   "when it has its answer.")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--connections", options.connections, "Connections.")
        ->check(CLI::Range(1, 60000))
        ->capture_default_str();
    app.add_option("--seconds", options.seconds, "Seconds that count.")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--warm-up", options.warm_up_s, "Seconds before them.")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.add_option("--seed", options.seed, "Seed of the times.")->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    asio::io_context io(1);
    Load load(io, options);
    const LoadResult result = load.run();
    fmt::print("{}\n", to_json(options, result).dump());
    const bool good = result.errors.empty() && result.unanswered == 0;
    return good ? 0 : 1;
}

}    // namespace
}    // namespace slipway

int main(int argc, char** argv) {
    try {
        return slipway::run(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "bench_http_load: {}\n", error.what());
        return 2;
    }
}
