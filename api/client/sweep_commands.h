#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/client/listing.h"
#include "api/client/retry_failed.h"
#include "api/client/service.h"

namespace slipway::client {

// `slipway sweep …`, as commands.h.

struct SweepOptions {
    std::string file = {};                    ///< "-": stdin
    std::vector<std::string> changes = {};    ///< as of set_field
    bool watch = false;
    bool dry_run = false;
};
ExitCode create_sweep(const HttpClient& client, const SweepOptions& options);
Listing list_sweeps(const HttpClient& client);
ExitCode show_sweep(const HttpClient& client, const std::string& sweep_id);
/// One line for the whole sweep until it ends.
ExitCode watch_sweep(const HttpClient& client, const std::string& sweep_id);
/// `order`: number, best or worst.
Listing list_sweep_trials(const HttpClient& client, const std::string& sweep_id,
                          const std::string& order);
/// `spec_only`: the job spec of the best trial, for `slipway submit`.
ExitCode show_best(const HttpClient& client, const std::string& sweep_id, bool spec_only);
Listing list_sweep_decisions(const HttpClient& client, const std::string& sweep_id);
/// `verb` is pause, resume or stop.
ExitCode act_on_sweep(const HttpClient& client, const std::string& sweep_id,
                      const std::string& verb);
ExitCode extend_sweep(const HttpClient& client, const std::string& sweep_id, int max_trials);
ExitCode retry_trial(const HttpClient& client, const std::string& sweep_id, int trial);
/// All failed trials, or those that failed with these codes.
ExitCode retry_sweep(const HttpClient& client, const std::string& sweep_id,
                     const RetryOptions& options);
struct SweepChangeOptions {
    std::string name = {};                   ///< empty: as it is
    std::vector<std::string> labels = {};    ///< KEY=VALUE, KEY=: without it
    int max_concurrent = 0;                  ///< 0: as it is
};
/// Changes what of a sweep can be changed.
ExitCode change_sweep(const HttpClient& client, const std::string& sweep_id,
                      const SweepChangeOptions& options);
ExitCode delete_sweep(const HttpClient& client, const std::string& sweep_id);

struct SweepImportArguments {
    std::string file = {};                   ///< of another service, YAML; "-": stdin
    std::string job = {};                    ///< file of the job spec; empty: trials run elsewhere
    std::vector<std::string> places = {};    ///< NAME=PATH, or NAME=-
    std::string metric = {};
    int max_trials = 0;    ///< 0: those of the file
    bool watch = false;
};
/// Starts the sweep that a file of Weights & Biases or Determined describes; what is not the same
/// goes to stderr.
ExitCode import_sweep_file(const HttpClient& client, const SweepImportArguments& arguments);
/// Prints the sweep instead, for `slipway sweep create`; needs no service.
ExitCode print_imported_sweep(const SweepImportArguments& arguments);

struct SuggestOptions {
    int count = 1;
    double lease_s = 0;    ///< 0: none
    bool json = false;     ///< the answer as it is
};
/// Trials of a sweep without a job, for whoever runs them.
ExitCode suggest_trials(const HttpClient& client, const std::string& sweep_id,
                        const SuggestOptions& options);
struct ObserveOptions {
    int trial = 0;
    std::int64_t time = 0;     ///< epochs or steps; 0: none is sent
    std::string value = {};    ///< a number, nan, inf or -inf; empty: none is sent
    std::string end = {};      ///< completed or failed; empty: the trial goes on
    double lease_s = 0;        ///< 0: as it is
};
/// Reports what such a trial has measured, and prints what is next for it.
ExitCode observe_trial(const HttpClient& client, const std::string& sweep_id,
                       const ObserveOptions& options);
ExitCode show_importance(const HttpClient& client, const std::string& sweep_id);
struct SweepSimulateOptions {
    std::string algorithm = {};    ///< its name, or its object in JSON
    int max_concurrent = 0;        ///< 0: as the sweep's
};
/// What another algorithm would have made of the recorded trials.
ExitCode simulate_sweep(const HttpClient& client, const std::string& sweep_id,
                        const SweepSimulateOptions& options);

struct PromoteOptions {
    std::string sweep_id = {};
    int trial = -1;                           ///< -1: the best
    std::vector<std::string> changes = {};    ///< as ForkOptions
    std::string file = {};
    std::string start = {};    ///< empty: as suits the sweep
    bool unpinned = false;     ///< do not pin the checkpoint
    bool follow = false;
    bool dry_run = false;
};
ExitCode promote_sweep(const HttpClient& client, const PromoteOptions& options);

}    // namespace slipway::client
