#include "api/client/follow.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "api/base/clock.h"
#include "api/base/metric_value.h"
#include "api/base/printable.h"
#include "api/client/commands.h"
#include "api/client/further.h"
#include "api/client/listing.h"
#include "api/client/status_line.h"
#include "api/client/terminal_plot.h"

// Events come over a stream; when it ends early, the next one begins after the last event that was
// seen (Last-Event-ID), with growing pauses, for at most five minutes without any answer. The exit
// code is the job's end.
namespace slipway::client {
namespace {

constexpr std::chrono::minutes patience{5};
constexpr std::chrono::seconds stream_silence_max{40};    // the service beats every 15 s
constexpr std::chrono::milliseconds redraw_every{100};
constexpr std::size_t plot_columns_max = 110;
constexpr std::size_t plot_rows = 10;

template <class T>
void read_number(const Json& object, const char* name, T& value) {
    const auto found = object.find(name);
    if (found != object.end() && found->is_number()) value = found->get<T>();
}

void read_number(const Json& object, const char* name, std::optional<double>& value) {
    const auto found = object.find(name);
    if (found != object.end() && found->is_number()) value = found->get<double>();
}

/// The last one, also when it is no number: an older value would look as if it were still true.
void read_loss(const Json& values, const Json& nonfinite, const char* name,
               std::optional<double>& loss) {
    const auto found = values.find(name);
    if (found != values.end() && (found->is_number() || found->is_null()))
        loss = read_named_value(*found, nonfinite, name);
}

void read_score(const Json& values, JobView& view) {
    for (const Score& score : scores()) {
        const auto found = values.find(std::string(score.metric));
        if (found == values.end() || !found->is_number()) continue;
        view.score = &score;
        view.score_value = found->get<double>();
        return;
    }
}

// The line on the screen, below the curves if they are wanted. On a terminal both are redrawn in
// place; elsewhere a new line appears when the state or the epoch changes, and no curve.
class Screen {
public:
    explicit Screen(bool with_curves)
        : terminal_(isatty(STDOUT_FILENO) == 1), with_curves_(with_curves && terminal_) {}

    void take(const SseEvent& event) {
        if (!with_curves_ || event.type != "metric") return;
        const Json body = Json::parse(event.data, nullptr, false);
        if (!body.is_object() || !body.value("values", Json()).is_object()) return;
        double step = 0;
        read_number(body, "step", step);
        for (PlotCurve& curve : curves_) {
            std::optional<double> value;
            read_number(body["values"], curve.name().c_str(), value);
            if (value) curve.add(step, *value);
        }
    }

    void show(const JobView& view) {
        const Tick now = system_clock().tick();
        const bool changed = view.state != state_ || view.epoch != epoch_;
        if (terminal_ && !changed && now - drawn_at_ < redraw_every) return;
        if (!terminal_ && (!changed || !view.connected)) return;
        state_ = view.state;
        epoch_ = view.epoch;
        drawn_at_ = now;
        if (terminal_)
            redraw(progress_line(view, terminal_columns() - 1));
        else
            fmt::print("{}\n", progress_line(view, 200));
        std::fflush(stdout);
    }

    // A line that stays, above the moving ones.
    void say(const std::string& line) {
        go_up();
        fmt::print("{}{}\n", terminal_ ? "\r\033[J" : "", line);
        std::fflush(stdout);
    }

    // The curves stay on the screen.
    void clear() const {
        if (terminal_) fmt::print("\r\033[K");
    }

private:
    void redraw(const std::string& line) {
        const auto lines =
            with_curves_ ? plot_lines(curves_, std::min(terminal_columns() - 1, plot_columns_max),
                                      plot_rows, colours_wanted())
                         : std::vector<std::string>();
        go_up();
        for (const std::string& one : lines)
            fmt::print("\r\033[K{}\n", one);
        fmt::print("\r\033[K{}", line);
        lines_above_ = lines.size();
    }

    void go_up() {
        if (lines_above_ > 0) fmt::print("\033[{}A", lines_above_);
        lines_above_ = 0;
    }

    const bool terminal_;
    const bool with_curves_;
    std::array<PlotCurve, 2> curves_{PlotCurve("train_loss"), PlotCurve("val_loss")};
    std::size_t lines_above_ = 0;
    std::string state_;
    int epoch_ = -1;
    Tick drawn_at_{};
};

void read_wait_reason(const HttpClient& client, const std::string& job_id, JobView& view) {
    const Json answer = get(client, "/v1/jobs/" + job_id + "/explain");
    view.wait_reason = printable_line(text_of(answer, "message"));
}

// One connection: false when the stream was cut before the job's end.
bool follow_once(const HttpClient& client, const std::string& job_id, JobView& view,
                 std::string& last_id, Screen& screen) {
    bool ended = false;
    SseParser parser([&](const SseEvent& event) {
        last_id = event.id;
        if (!take_event(view, event)) ended = true;
        screen.take(event);
        if (event.type == "warning") {
            const Json body = Json::parse(event.data, nullptr, false);
            if (body.is_object())
                screen.say("warning: " + printable_line(text_of(body, "message")));
        }
        screen.show(view);
    });
    ClientRequest request{.target = "/v1/jobs/" + job_id + "/events"};
    request.headers.push_back({"Accept", "text/event-stream"});
    if (!last_id.empty()) request.headers.push_back({"Last-Event-ID", last_id});
    const ClientResponse response = client.stream(request, [&](std::string_view bytes) {
        view.connected = true;
        parser.feed(bytes);
        return !ended;
    });
    if (response.status == 503 || response.status == 429 || response.status == 502) return false;
    require_success(response);
    return ended;
}

double seconds_between(const Json& job, const char* from, const char* to) {
    const auto first = parse_rfc3339(text_of(job, from));
    const auto last = parse_rfc3339(text_of(job, to));
    if (!first || !last) return 0;
    return std::chrono::duration<double>(*last - *first).count();
}

std::string outcome_line(const Json& job, const JobView& view) {
    const std::string state = text_of(job, "state");
    std::string line =
        fmt::format("{} ({}) {}", printable_line(text_of(job, "name")), text_of(job, "id"), state);
    if (view.score != nullptr)
        line += fmt::format(", {} {}", view.score->title, metric_text(view.score_value));
    const auto best = job.find("best");
    if (best != job.end() && best->is_object()) {
        double value = 0;
        long long step = 0;
        read_number(*best, "value", value);
        read_number(*best, "step", step);
        line += fmt::format(", best {} {} at step {}", text_of(*best, "metric"), metric_text(value),
                            step);
    }
    if (job.contains("started_at") && job["started_at"].is_string())
        line += ", " + duration_text(seconds_between(job, "started_at", "finished_at"));
    const auto reason = job.find("reason");
    if (state != "succeeded" && reason != job.end() && reason->is_object())
        line += fmt::format("\n{}: {}", text_of(*reason, "code"),
                            printable_line(text_of(*reason, "message")));
    const std::string place = failure_place(job.value("result", Json()));
    if (state == "failed" && !place.empty()) line += "\nFailed at " + place + ".";
    return printable_text(line);
}

struct FurtherCommands {
    std::string_view kind;    ///< of the job
    std::vector<std::string_view> commands;
};

void print_further_of_job(const HttpClient& client, const Json& job) {
    static const std::array<FurtherCommands, 3> further{
        {{"train", {"metrics", "checkpoints", "logs"}},
         {"predict", {"result", "logs"}},
         {"evaluate", {"logs"}}}};
    const std::string id = text_of(job, "id");
    std::vector<std::string> commands;
    for (const FurtherCommands& row : further)
        if (row.kind == text_of(job, "kind"))
            for (const std::string_view command : row.commands)
                commands.push_back(fmt::format("{} {}", command, id));
    print_further(client, "job", commands, "jobs/" + id);
}

}    // namespace

bool take_event(JobView& view, const SseEvent& event) {
    const Json body = Json::parse(event.data, nullptr, false);
    if (!body.is_object()) return true;
    if (event.type == "state" || event.type == "end") {
        if (const std::string state = text_of(body, "state"); !state.empty())
            view.state = printable_line(state);
        view.wait_reason.clear();
    } else if (event.type == "progress") {
        read_number(body, "epoch", view.epoch);
        read_number(body, "epochs", view.epochs);
        read_number(body, "step", view.step);
        read_number(body, "steps_total", view.steps_total);
        read_number(body, "samples_per_s", view.samples_per_s);
        read_number(body, "eta_s", view.eta_s);
    } else if (event.type == "metric") {
        const auto values = body.find("values");
        if (values != body.end() && values->is_object()) {
            const Json nonfinite = body.value("nonfinite", Json());
            read_loss(*values, nonfinite, "train_loss", view.train_loss);
            read_loss(*values, nonfinite, "val_loss", view.val_loss);
            read_score(*values, view);
        }
    }
    return event.type != "end";
}

std::string failure_place(const Json& result) {
    constexpr std::array<const char*, 7> parts{"step",    "epoch",     "batch",  "phase",
                                               "program", "operation", "replica"};
    const Json failure = result.is_object() ? result.value("failure", Json()) : Json();
    if (!failure.is_object()) return {};
    std::string place;
    for (const char* part : parts) {
        const auto value = failure.find(part);
        if (value == failure.end() || value->is_null()) continue;
        place += fmt::format("{}{} {}", place.empty() ? "" : ", ", part, cell(failure, part));
    }
    return place;
}

ExitCode exit_code_of(std::string_view state) {
    if (state == "succeeded") return ExitCode::ok;
    return state == "cancelled" ? ExitCode::cancelled : ExitCode::job_failed;
}

ExitCode follow_job(const HttpClient& client, const std::string& job_id,
                    const FollowOptions& options) {
    ClientOptions stream_options = client.options();
    stream_options.silence_max = stream_silence_max;
    const HttpClient stream(stream_options);
    JobView view;
    Screen screen(options.curves);
    std::string last_id;
    const Json before = get(client, "/v1/jobs/" + percent_encode(job_id));
    view.state = printable_line(text_of(before, "state"));
    if (view.state == "queued") read_wait_reason(client, job_id, view);
    screen.show(view);
    Tick heard_at = system_clock().tick();
    for (bool ended = false; !ended;) {
        const bool shown_connected = std::exchange(view.connected, false);
        std::string trouble = "the stream ended early";
        try {
            ended = follow_once(stream, job_id, view, last_id, screen);
        } catch (const Error& error) {
            if (error.code() != ErrorCode::unavailable) throw;
            trouble = error.what();
        }
        if (ended) break;
        const Tick now = system_clock().tick();
        if (view.connected) heard_at = now;
        if (now - heard_at > patience)
            throw Stop(
                ExitCode::unreachable,
                fmt::format(
                    "the service did not answer for five minutes ({}); the job may continue: "
                    "slipway follow {}",
                    trouble, job_id));
        view.connected = false;
        if (shown_connected) screen.show(view);
        pause_for(std::chrono::milliseconds{500});
    }
    screen.clear();
    const Json job = get(client, "/v1/jobs/" + job_id);
    fmt::print("{}\n", outcome_line(job, view));
    print_further_of_job(client, job);
    return exit_code_of(text_of(job, "state"));
}

}    // namespace slipway::client
