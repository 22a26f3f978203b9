// An executor that trains nothing: it sends the frames of docs/contributing/protocol.md and
// misbehaves on request. What it does is in the job spec's labels:
//   steps         steps to do (20)
//   step_ms       pause between them (1)
//   until         a file: once it is there, no step follows, however many were to be done
//   save_every    a checkpoint every so many (5)
//   fail          ends as failed with this code
//   crash_at      kills itself at this step of attempt 1
//   crash_always  the same in every attempt
//   freeze_at     stops itself at this step, with all that it reported sent to the agent
//   deaf          "yes": hears neither requests nor SIGTERM
//   child         "yes": starts a process of its own that never ends
//   mute          "yes": opens no socket
//   nice          "yes": says before its first step how nice it is
//   hold_mib      before its steps: memory that is written and then made read-only
//   touch         before its steps: makes this file; fails with the code "touched" when it can
// Of an attempt with members it first meets the others. Rank 0 does the above; the others say where
// they are in the log and end when rank 0 has, which a file tells them:
//   meeting       a folder for that file, whatever host they are on
//   crash_rank    this one kills itself in attempt 1 once all have met
//   missing_rank  this one ends in attempt 1 with the code member_lost once all have met
// With --stay it goes on with further attempts, as slipway-executor does.
// `inspect`: answers by the option label_column: "good", "bad", "crash", "slow", "garbage",
// "large", "link"; with --into it leaves a file in what it has half unpacked. `split`: answers by
// the method of the request: "bad", "crash", "garbage", "no_folds", "no_hash", "link", others well.

#include <fmt/core.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "api/base/posix.h"
#include "executor/main/frames/frame_channel.h"
#include "executor/main/frames/order_socket.h"

namespace {

namespace fs = std::filesystem;
using namespace slipway;

volatile std::sig_atomic_t terminated = 0;

std::string read_text(const fs::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// One attempt: its order, its frames and where it stands.
class Attempt {
public:
    explicit Attempt(const fs::path& folder, FrameListener* listener = nullptr)
        : folder_(folder),
          order_(Json::parse(read_text(folder / "attempt.json"))),
          log_(folder / "frames.ndjson", system_clock()) {
        write_file_aside(folder / "process.json",
                         Json{{"pid", getpid()},
                              {"start_ticks", *process_start_ticks(getpid())},
                              {"fence", order_.at("fence")}}
                             .dump());
        if (label("mute", "") == "yes") return;
        channel_ = std::make_unique<FrameChannel>(
            log_,
            FrameChannelOptions{.run_folder = folder,
                                .fence = order_.at("fence"),
                                .heartbeat_every = std::chrono::milliseconds(50),
                                .listener = listener},
            system_clock());
    }

    int run() {
        if (label("child", "") == "yes" && fork() == 0) {
            while (true)
                pause();
        }
        say({{"type", "state"}, {"state", "compiling"}});
        say({{"type", "state"}, {"state", "running"}});
        if (is_member()) {
            if (!meet()) return end(1, lost("the others did not come"));
            end_as_member();
            if (rank() > 0) return follow();
        }
        if (label("nice", "") == "yes")
            say({{"type", "log"},
                 {"level", "info"},
                 {"message", fmt::format("niceness {}", getpriority(PRIO_PROCESS, 0))}});
        hold(std::size_t(number("hold_mib", 0)) << 20);
        const std::string touched = label("touch", "");
        if (!touched.empty() && std::ofstream(touched) << "touched")
            return end(1, {{"outcome", "failed"}, {"code", "touched"}, {"message", touched}});
        const int steps = number("steps", 20);
        int step = first_step();
        for (; step <= steps && !is_enough(); ++step) {
            poll(nullptr, 0, number("step_ms", 1));
            crash_when_asked(step);
            write_output(std::size_t(number("output_kib_of_step", 0)) << 10);
            say({{"type", "metric"},
                 {"step", step},
                 {"epoch", 1},
                 {"values", {{"train_loss", 1.0 / step}}}});
            if (step % number("save_every", 5) == 0) save(step);
            freeze_when_asked(step);
            if (const std::string reason = stop_reason(); !reason.empty())
                return stop(step, reason);
        }
        say({{"type", "state"}, {"state", "finishing"}});
        const std::string code = label("fail", "");
        return code.empty()
                   ? end(0, {{"outcome", "succeeded"}, {"result", {{"step", step - 1}}}})
                   : end(1, {{"outcome", "failed"}, {"code", code}, {"message", "as asked"}});
    }

    /// Although it failed.
    bool leaves_nothing() const { return label("leaves_nothing", "") == "yes"; }

private:
    std::string label(const std::string& name, const std::string& otherwise) const {
        return order_.at("spec").value("labels", Json::object()).value(name, otherwise);
    }
    int number(const std::string& name, int otherwise) const {
        return std::atoi(label(name, std::to_string(otherwise)).c_str());
    }

    bool is_member() const { return order_.contains("member") && !order_.at("member").is_null(); }
    int rank() const { return is_member() ? order_.at("member").at("rank").get<int>() : 0; }
    fs::path meeting() const { return label("meeting", ""); }

    static Json lost(const std::string& message) {
        return {{"outcome", "failed"}, {"code", "member_lost"}, {"message", message}};
    }

    bool meet() {
        const Json& member = order_.at("member");
        const fs::path place(member.at("rendezvous_folder").get<std::string>());
        const std::string text =
            fmt::format("rank {} of {}", rank(), member.at("secret").get<std::string>());
        write_file_aside(place / std::to_string(rank()), text);
        for (int tries = 0; tries < 4000; ++tries) {
            bool complete = true;
            for (std::size_t other = 0; other < member.at("hosts").size(); ++other)
                complete = complete && read_text(place / std::to_string(other)) ==
                                           fmt::format("rank {} of {}", other,
                                                       member.at("secret").get<std::string>());
            if (complete) return true;
            poll(nullptr, 0, 5);
        }
        return false;
    }

    void end_as_member() {
        if (order_.at("attempt") != 1) return;
        if (number("crash_rank", -1) == rank()) raise(SIGKILL);
    }

    int follow() {
        say({{"type", "log"}, {"level", "info"}, {"message", fmt::format("rank {}", rank())}});
        if (order_.at("attempt") == 1 && number("missing_rank", -1) == rank())
            return end(1, lost("rank 0 is gone"));
        while (!fs::exists(meeting() / fmt::format("ended-{}", order_.at("attempt").get<int>())))
            poll(nullptr, 0, 5);
        return end(0, {{"outcome", "succeeded"}});
    }

    /// RLIMIT_DATA does not count it.
    static void hold(std::size_t bytes) {
        if (bytes == 0) return;
        void* const held =
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (held == MAP_FAILED) std::abort();
        std::memset(held, 1, bytes);
        mprotect(held, bytes, PROT_READ);
    }

    static void write_output(std::size_t bytes) {
        const std::string text(bytes, 'x');
        if (write(2, text.data(), bytes) < 0) std::abort();
    }

    bool is_enough() const {
        const std::string file = label("until", "");
        return !file.empty() && fs::exists(file);
    }

    void say(const Json& frame) {
        log_.emit(frame);
        if (channel_) channel_->wake();
    }

    /// The step after the checkpoint that it resumes from: step_000005_attempt_1.
    int first_step() const {
        const Json& from = order_.at("resume_from");
        if (from.is_null()) return 1;
        const fs::path checkpoint(from.get<std::string>());
        if (!fs::exists(checkpoint / "state.json")) std::abort();    // it should be there
        return std::atoi(checkpoint.filename().string().substr(5).c_str()) + 1;
    }

    void save(int step) {
        const std::string name =
            fmt::format("step_{:06}_attempt_{}", step, order_.at("attempt").get<int>());
        const fs::path folder = fs::path(order_.at("checkpoint_folder").get<std::string>()) / name;
        fs::create_directories(folder);
        std::ofstream(folder / "state.json") << step;
        Json drop = Json::array();
        if (kept_.size() >= 2) {
            drop.push_back(kept_.front());
            kept_.erase(kept_.begin());
        }
        kept_.push_back(name);
        say({{"type", "checkpoint"},
             {"step", step},
             {"epoch", 1},
             {"name", name},
             {"kinds", {"last"}},
             {"metric", nullptr},
             {"pruned", drop},
             {"files",
              {{{"name", "state.json"}, {"bytes", 2}, {"sha256", std::string(64, 'a')}}}}});
    }

    void crash_when_asked(int step) const {
        const bool first = order_.at("attempt") == 1;
        if (number("crash_always", 0) == step || (first && number("crash_at", 0) == step)) {
            raise(SIGKILL);
        }
    }

    /// What the agent has not read waits in the socket: it was reported before the silence.
    void freeze_when_asked(int step) const {
        if (number("freeze_at", 0) != step) return;
        while (!channel_->flush(std::chrono::milliseconds(100)))
            continue;
        raise(SIGSTOP);
    }

    std::string stop_reason() const {
        if (!channel_ || label("deaf", "") == "yes") return "";
        if (const auto asked = channel_->stop_reason()) return *asked;
        if (terminated != 0) return "drain";
        const auto grace = std::chrono::duration<double>(order_.at("grace_s").get<double>());
        return channel_->agent_silence() >= grace ? "orphaned" : "";
    }

    int stop(int step, const std::string& reason) {
        if (reason == "cancel") return end(0, {{"outcome", "cancelled"}});
        if (reason == "timeout") return end(0, {{"outcome", "timed_out"}});
        save(step);
        return end(75, {{"outcome", "orphaned"}});
    }

    int end(int code, Json frame) {
        frame["type"] = "done";
        if (!frame.contains("message")) frame["message"] = "";
        if (is_member() && rank() == 0)
            std::ofstream(meeting() / fmt::format("ended-{}", order_.at("attempt").get<int>()));
        say(frame);
        if (channel_) channel_->flush(std::chrono::milliseconds(200));
        return code;
    }

    const fs::path folder_;
    const Json order_;
    FrameLog log_;
    std::unique_ptr<FrameChannel> channel_;
    std::vector<std::string> kept_;
};

int inspect(const std::vector<std::string>& arguments) {
    std::string options = "{}";
    fs::path into;
    for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
        if (arguments[i] == "--options") options = arguments[i + 1];
        if (arguments[i] != "--into") continue;
        into = arguments[i + 1];
        const fs::path half_done = into.string() + ".tmp";
        fs::create_directories(half_done);
        std::ofstream(half_done / "file") << "x";
    }
    const std::string what = Json::parse(options).value("label_column", "good");
    if (what == "crash") raise(SIGSEGV);
    if (what == "link") fs::create_directory_symlink("/etc", into);
    if (what == "slow") {
        while (true)
            pause();
    }
    if (what == "garbage") return fmt::print("no report\n"), 0;
    if (what == "large") {    // a good report, if it were shorter
        fmt::print(R"({{"problem_count":0,"problems":[],"classes":["{}"]}})",
                   std::string(9 << 20, 'n'));
        return 0;
    }
    if (what == "bad") {
        fmt::print(
            "{}\n",
            R"({"problem_count":1,"problems":[{"file":"a.csv","row":3,"field":"x","message":"bad"}]})");
        return 0;
    }
    fmt::print(
        "{}\n",
        R"({"samples":5,"content_hash":"sha256:ab","bytes":10,"problems":[],"problem_count":0})");
    return 0;
}

/// `split`: writes a manifest and answers by the method of the request.
int divide(const std::vector<std::string>& arguments) {
    std::string request = "{}";
    fs::path out;
    for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
        if (arguments[i] == "--request") request = arguments[i + 1];
        if (arguments[i] == "--out") out = arguments[i + 1];
    }
    const std::string method = Json::parse(request).value("method", "");
    if (method == "crash") raise(SIGSEGV);
    if (method == "garbage") return fmt::print("no report\n"), 0;
    if (method == "bad") {
        fmt::print("{}\n", R"({"problem_count":1,"problems":[{"message":"no groups"}]})");
        return 0;
    }
    if (method == "link") {
        fs::create_symlink("/etc", out);
    } else {
        std::ofstream(out) << "manifest\n";
    }
    const Json report{{"problem_count", 0},
                      {"folds", method == "no_folds" ? 0 : 5},
                      {"hash", method == "no_hash" ? "secret" : "sha256:" + std::string(64, 'a')},
                      {"bytes", 9},
                      {"samples", 3}};
    fmt::print("{}\n", report.dump());
    return 0;
}

int stay() {
    OrderSocket orders{UniqueFd(worker_socket_fd)};
    FrameListener listener;    // a confined process can make no other one
    int code = 0;
    while (auto received = orders.next([] { return terminated != 0; })) {
        Attempt attempt(received->order.run_folder, &listener);
        code = attempt.run();
        if ((code != 0 && !attempt.leaves_nothing()) || terminated != 0) break;
        received->lock.reset();
        if (!orders.answer({.exit_code = code})) break;
    }
    return code;
}

}    // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments.size() < 2) return 2;
    if (arguments[0] == "inspect") return inspect(arguments);
    if (arguments[0] == "split") return divide(arguments);
    std::signal(SIGTERM, [](int) { terminated = 1; });
    if (arguments.back() == "--stay") return stay();
    return Attempt(arguments[1]).run();
}
