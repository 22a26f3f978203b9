#pragma once

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/base/log.h"
#include "api/spec/event.h"
#include "scheduler/agent/agent_parts.h"
#include "scheduler/agent/memory_guard.h"
#include "scheduler/agent/run_folder.h"
#include "scheduler/store/relay.h"

namespace slipway {

/// The words that differ between the kinds of claimed work.
struct ClaimedWorkWords {
    std::string_view name;      ///< for the log: "dataset check"
    std::string_view start;     ///< what could not be begun: "start the check"
    std::string_view doing;     ///< what took too long: "reading the dataset"
    std::string_view report;    ///< "the report of the check"
};

/// What the process of one piece of work is started with; the rest is the same for all kinds.
struct ClaimedWorkProcess {
    std::vector<std::string> arguments;
    std::vector<std::filesystem::path> readable;
    std::vector<std::filesystem::path> owned = {};
    std::vector<std::filesystem::path> writable = {};    ///< beside its own folder
};

/// Work that a host claims in the database and has done by a process that may fail without harm: a
/// dataset check, a split. The steps and what may go wrong between them are here, once:
///
///   claim -> inputs are there -> number of the project -> start -> (renew …) -> end
///         -> result of the report, or of the way it ended -> keep what it made -> store the
///         result
///
/// A kind derives from it and says what each step is. A claim that is lost ends the process; work
/// that cannot be begun gets a result that says why; a result that the database does not take is
/// replaced by one that it takes. One thread, the one that talks to the database; cut short by
/// Error{unavailable}, a step is done again in the next turn. A new kind adds a class like these
/// and a line in the agent.
///
/// Claim: what the database said. Result: what it is told, with a member `ready`.
template <class Claim, class Result>
class ClaimedWork {
public:
    virtual ~ClaimedWork() = default;
    ClaimedWork(const ClaimedWork&) = delete;
    ClaimedWork& operator=(const ClaimedWork&) = delete;

    /// Takes work while there is some and a place for it.
    void claim_work() {
        while (running_.size() < running_max_) {
            auto claim = claim_next(lease());
            if (!claim) return;
            begin(*std::move(claim));
        }
    }

    /// Keeps the claims; the process of a lost one is ended.
    void renew() {
        for (const auto& [id, work] : running_) {
            const bool held = renew_claim(work.claim, lease());
            if (!held && !work.ended) parts_.supervisor.kill(id, EndCause::fenced);
        }
    }

    /// Takes the ends of its processes out of `events`.
    void drain_events(SupervisorEvents& events) {
        std::erase_if(events.ended, [this](const Ended& ended) {
            const auto found = running_.find(ended.name);
            if (found == running_.end()) return false;
            found->second.ended = ended;
            return true;
        });
    }

    /// Stores the results of work that has ended.
    void finish() {
        for (auto each = running_.begin(); each != running_.end();) {
            auto& [id, work] = *each;
            if (!work.ended) {
                ++each;
                continue;
            }
            if (!work.result) work.result = judge(work);
            if (work.result->ready) keep(work.claim, *work.result);
            const bool stored = store_result(work);
            after(work.claim, stored);
            parts_.records.forget(id);
            log_info(fmt::format("{} ended", words_.name),
                     {{"id", id}, {"ready", work.result->ready}});
            each = running_.erase(each);
        }
    }

    std::size_t running_count() const { return running_.size(); }

protected:
    ClaimedWork(const AgentParts& parts, const ClaimedWorkWords& words, std::size_t running_max,
                std::size_t report_bytes_max)
        : parts_(parts),
          words_(words),
          running_max_(running_max),
          report_bytes_max_(report_bytes_max) {}

    virtual const std::string& id_of(const Claim& claim) const = 0;
    virtual const std::string& project_of(const Claim& claim) const = 0;

    virtual std::optional<Claim> claim_next(std::chrono::milliseconds lease) = 0;
    virtual bool renew_claim(const Claim& claim, std::chrono::milliseconds lease) = 0;
    virtual void release_claim(const Claim& claim) = 0;
    /// False: the claim was lost, or its row is gone.
    virtual bool finish_claim(const Claim& claim, const Result& result) = 0;

    /// Finds what is to be read, into the claim; else a sentence that says what is missing.
    virtual std::optional<std::string> find_inputs(Claim& claim) = 0;
    virtual ClaimedWorkProcess prepare(const Claim& claim) = 0;
    /// Of a process that ended well.
    virtual Result read_report(const std::string& report) const = 0;
    /// A result that is one problem with this message.
    virtual Result reject(const std::string& message) const = 0;
    /// Moves what the process made to its place: it may write nowhere but in its folder. Rejects
    /// the result when that fails. Called again after an outage.
    virtual void keep(const Claim& claim, Result& result) = 0;
    /// The result is stored, or the claim was lost.
    virtual void after(const Claim& claim, bool stored) = 0;

    std::filesystem::path folder_of(const Claim& claim) const {
        return parts_.options.artifacts().locate(Artifact::check, id_of(claim));
    }

    AgentParts parts_;

private:
    struct Work {
        Claim claim;
        std::optional<Ended> ended = {};
        std::optional<Result> result = {};
    };

    /// A process may be behind a busy machine for a while.
    std::chrono::milliseconds lease() const { return 6 * parts_.options.lease; }

    void begin(Claim claim) {
        const std::string id = id_of(claim);
        Work work{.claim = std::move(claim)};
        const auto end_with = [&](const std::string& message) {
            work.result = reject(message);
            work.ended = Ended{.name = id, .exit = {}};
        };
        const auto missing = find_inputs(work.claim);
        // When the database does not answer, the work is begun again.
        const std::optional<int> number = parts_.projects.find_or_release(
            project_of(work.claim), [&] { release_claim(work.claim); });
        if (missing) {
            end_with(*missing);
        } else if (!number) {
            end_with(std::string(no_project_number));
        } else {
            try {
                start(work.claim, *number);
            } catch (const Error& error) {
                log_error(fmt::format("a {} could not be started", words_.name),
                          {{"id", id}, {"reason", error.what()}});
                end_with(fmt::format("host {} could not {}: {}", parts_.options.host, words_.start,
                                     error.what()));
            }
        }
        running_.insert_or_assign(id, std::move(work));
    }

    void start(const Claim& claim, int project_number) {
        const AgentOptions& options = parts_.options;
        const std::string& id = id_of(claim);
        const std::filesystem::path folder = folder_of(claim);
        ClaimedWorkProcess process = prepare(claim);
        make_run_folder(folder);
        process.writable.push_back(folder);
        const LaunchRequest request{.name = id,
                                    .process = {.program = options.executor,
                                                .arguments = std::move(process.arguments),
                                                .folder = folder,
                                                .output = folder / "output.log",
                                                .result = folder / "report.json",
                                                .before_start = keep_record(parts_.records, id)},
                                    .project_number = project_number,
                                    .readable = std::move(process.readable),
                                    .owned = std::move(process.owned),
                                    .writable = std::move(process.writable),
                                    .memory_bytes = options.check_memory_bytes,
                                    .cpu_seconds = options.check_cpu_max.count()};
        parts_.supervisor.watch({.name = id,
                                 .process = parts_.launcher.launch(request),
                                 .limits = {.start_max = options.check_max},
                                 .folder = {},
                                 .fence = {},
                                 .memory_bytes = options.check_memory_bytes});
    }

    /// What the report says, or what the way says in which the process ended.
    Result judge(const Work& work) const {
        const AgentOptions& options = parts_.options;
        const std::filesystem::path folder = folder_of(work.claim);
        if (work.ended->cause == EndCause::not_started) {
            return reject(fmt::format("{} took longer than {} s", words_.doing,
                                      options.check_max.count() / 1000));
        }
        const ProcessExit exit = work.ended->exit.value_or(ProcessExit{});
        if (exit.status == 0) {
            // What is longer is rejected before it is read: one report once took 440 MiB here.
            const auto report = read_at_most(folder / "report.json", report_bytes_max_);
            return report ? read_report(*report)
                          : reject(fmt::format("{} is missing or has more than {} bytes",
                                               words_.report, report_bytes_max_));
        }
        if (work.ended->memory)
            return reject(fmt::format("{}: {}", words_.doing, describe(*work.ended->memory)));
        log_warn(fmt::format("a {} crashed", words_.name),
                 {{"id", id_of(work.claim)},
                  {"exit_status", exit.status},
                  {"output", read_tail(folder / "output.log", 400)}});
        if (exit.status == exit_code_out_of_memory) {
            return reject(fmt::format("{} needs more than {} MiB of memory", words_.doing,
                                      options.check_memory_bytes >> 20));
        }
        if (exit.exceeded_cpu) {
            return reject(fmt::format("{} took more than {} s of CPU time", words_.doing,
                                      options.check_cpu_max.count()));
        }
        return reject(fmt::format("{} ended with status {}: a file is damaged in an unexpected way",
                                  words_.doing, exit.status));
    }

    /// A result that the database does not take would be tried again for ever, and nothing else.
    bool store_result(const Work& work) {
        try {
            return finish_claim(work.claim, *work.result);
        } catch (const Error& error) {
            if (!store::is_refused_content(error)) throw;
            log_error(fmt::format("the result of a {} cannot be stored", words_.name),
                      {{"id", id_of(work.claim)}, {"reason", error.what()}});
            return finish_claim(work.claim,
                                reject(fmt::format("{} cannot be stored", words_.report)));
        }
    }

    const ClaimedWorkWords words_;
    const std::size_t running_max_;
    const std::size_t report_bytes_max_;
    std::map<std::string, Work> running_;
};

}    // namespace slipway
