#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

#include "api/client/commands.h"
#include "api/client/retry_failed.h"
#include "api/client/sweep_commands.h"

namespace slipway::client {

using Command = std::function<ExitCode(const HttpClient&)>;

/// What the command line holds; CLI11 fills it, the chosen command reads it.
struct Line {
    ConnectOptions connect;
    SubmitOptions submit;
    ListOptions list;
    EventOptions events;
    DatasetOptions dataset;
    ExportWeightsOptions weights;
    PredictOptions predict;
    EvaluateOptions evaluate;
    CrossValidationOptions cross_validation;
    EnsembleOptions ensemble;
    ForkOptions fork;
    BulkOptions bulk;
    RetentionOptions retention;
    ProjectOptions project;
    MemberOptions member;
    TokenOptions token;
    std::string queue_project;
    std::string group_project = "default";
    int group_limit = 1;
    SimulateOptions simulate;
    std::string reason;
    WebhookOptions webhook;
    JoinTokenOptions join_token;
    SweepOptions sweep;
    SweepImportArguments sweep_import;
    SuggestOptions suggest;
    ObserveOptions observe;
    SweepSimulateOptions sweep_simulate;
    PromoteOptions promote;
    std::string trial_order = "number";
    int max_trials = 1;
    int trial = -1;    // none was named
    RetryOptions retry;
    std::string delivery;
    std::string id;
    std::string file;
    std::string out;
    std::string names;
    std::string text;
    std::string format = "ir";
    int core = 0;
    bool csv = false;
    bool keep_made = false;
    bool json = false;
    bool follow = false;
    Command chosen;
    std::function<ExitCode()> alone;    // in place of `chosen`: needs no service
};

/// A command of `parent` that runs `command`; the second one takes an id.
CLI::App* add(CLI::App& parent, const char* name, const char* text, Line& line, Command command);
CLI::App* add_with_id(CLI::App& parent, const char* name, const char* text, Line& line,
                      Command command);

/// Of a command that tries again what failed: into `line.retry`.
void add_retry_options(CLI::App& command, Line& line);

/// `slipway sweep …`.
void add_sweep_commands(CLI::App& app, Line& line);

}    // namespace slipway::client
