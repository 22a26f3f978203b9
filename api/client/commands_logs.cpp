// The log is read in pages behind the sequence number that was printed last. While a job goes on,
// its stream of events says when to read again: a line is printed once, whatever breaks off.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "api/base/clock.h"
#include "api/client/commands_table.h"
#include "api/client/follow.h"
#include "api/client/watch_commands.h"
#include "api/client/watch_stream.h"
#include "api/spec/job_state.h"

namespace slipway::client {
namespace {

struct Unit {
    char letter;
    std::chrono::seconds length;
};
constexpr std::array units{
    Unit{'s', std::chrono::seconds{1}},
    Unit{'m', std::chrono::minutes{1}},
    Unit{'h', std::chrono::hours{1}},
    Unit{'d', std::chrono::days{1}},
};

std::optional<Instant> ago(const std::string& text) {
    std::int64_t count = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, count);
    if (error != std::errc{} || rest + 1 != end || count < 0 || count > 100'000) return {};
    const auto unit = std::ranges::find(units, *rest, &Unit::letter);
    if (unit == units.end()) return {};
    return system_clock().now() - count * unit->length;
}

class LogPrinter {
public:
    LogPrinter(const HttpClient& client, const LogOptions& options)
        : client_(client), options_(options) {
        if (!options.since.empty()) since_ = since_time(options.since);
    }

    /// Every line behind the last one that was printed.
    void print_new() {
        const std::string search =
            options_.search.empty() ? "" : "&q=" + percent_encode(options_.search);
        const std::string level =
            options_.level.empty() ? "" : "&level=" + percent_encode(options_.level);
        for (bool more = true; more;) {
            const Json page =
                get(client_, fmt::format("{}/logs?limit=1000&after={}{}{}",
                                         job_path(options_.job_id), after_, search, level));
            for (const Json& line : page.at("items"))
                print(line);
            const std::string next = text_of(page, "next_cursor");
            more = !next.empty();
            if (more) after_ = next;
        }
        std::fflush(stdout);
    }

private:
    void print(const Json& line) {
        after_ = std::to_string(line.at("seq").get<std::int64_t>());
        const auto time = parse_rfc3339(text_of(line, "time"));
        if (since_ && time && *time < *since_) return;
        fmt::print("{} {:5} {}\n", cell(line, "time"), cell(line, "level"), cell(line, "message"));
    }

    const HttpClient& client_;
    const LogOptions& options_;
    std::optional<Instant> since_;
    std::string after_ = "0";
};

}    // namespace

Instant since_time(const std::string& text) {
    if (const auto time = ago(text)) return *time;
    if (const auto time = parse_rfc3339(text)) return *time;
    throw Stop(ExitCode::usage,
               fmt::format("--since must be a time ago, such as 30s, 10m, 2h or 1d, or a time such "
                           "as 2026-01-31T12:00:00Z, got {}",
                           text));
}

ExitCode print_logs(const HttpClient& client, const LogOptions& options) {
    LogPrinter printer(client, options);
    if (!options.follow) {
        printer.print_new();
        return ExitCode::ok;
    }
    ExitCode outcome = ExitCode::ok;
    watch_stream(client, job_path(options.job_id) + "/events?types=log,warning,state,end", [&] {
        // The state first: what is logged before the end is then printed in the same look.
        const std::string word = text_of(get(client, job_path(options.job_id)), "state");
        printer.print_new();
        const auto state = parse_word<JobState>(word);
        if (!state || !is_final(*state)) return false;
        outcome = exit_code_of(word);
        return true;
    });
    return outcome;
}

}    // namespace slipway::client
