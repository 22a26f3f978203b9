#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace CLI {
class App;
}

#include "api/client/commands.h"
#include "api/client/data_commands.h"
#include "api/client/find_named.h"
#include "api/client/retry_failed.h"
#include "api/client/sweep_commands.h"

namespace slipway::client {

using Command = std::function<ExitCode(const HttpClient&)>;
using ListCommand = std::function<Listing(const HttpClient&)>;
/// Given the id of what the user named.
using IdCommand = std::function<ExitCode(const HttpClient&, const std::string& id)>;

/// What the command line holds; CLI11 fills it, the chosen command reads it.
struct Line {
    ConnectOptions connect;
    SubmitOptions submit;
    ListOptions list;
    EventOptions events;
    LogOptions logs;
    DatasetOptions dataset;
    DataPushOptions data_push;
    ExportWeightsOptions weights;
    PredictOptions predict;
    EvaluateOptions evaluate;
    CrossValidationOptions cross_validation;
    PredictOptions ensemble;
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
    SweepChangeOptions sweep_change;
    SweepSimulateOptions sweep_simulate;
    PromoteOptions promote;
    std::string trial_order = "number";
    int max_trials = 1;
    int trial = -1;    // none was named
    RetryOptions retry;
    std::string delivery;
    LoginOptions login;
    std::string output = "table";
    std::vector<std::string> ids;
    std::vector<std::string> texts;
    std::string id;
    std::string file;
    std::string out;
    std::string names;
    std::string text;
    std::string format = "ir";
    int core = 0;
    bool keep_made = false;
    bool yes = false;    // delete without a question
    bool json = false;
    bool follow = false;
    Command chosen;
    Command instead;                    // of `chosen`, when an option asks for it
    std::function<ExitCode()> alone;    // in place of `chosen`: needs no service
};

/// A command of `parent` that runs `command`; the second one takes an id.
CLI::App* add(CLI::App& parent, const char* name, const char* text, Line& line, Command command);
CLI::App* add_with_id(CLI::App& parent, const char* name, const char* text, Line& line,
                      Command command);

/// Of a command that tries again what failed: into `line.retry`.
void add_retry_options(CLI::App& command, Line& line);

/// A command on one object that is named as `by` says; `by` is whole where the command ends
/// something.
CLI::App* add_with_named(CLI::App& parent, const char* name, const char* text, Line& line,
                         NamedKind kind, IdCommand command, NamedBy by = NamedBy::beginning);

/// The argument that find_id turns into an id: of a command that does more with the line.
void add_named_argument(CLI::App& command, std::string& into, NamedKind kind,
                        NamedBy by = NamedBy::beginning);

/// A command on one job, or on many, one after the other. All are found before the first is
/// changed.
CLI::App* add_with_job(CLI::App& parent, const char* name, const char* text, Line& line,
                       IdCommand command);
CLI::App* add_with_jobs(CLI::App& parent, const char* name, const char* text, Line& line,
                        IdCommand command, NamedBy by = NamedBy::beginning);

/// --yes, and what `confirm` needs to ask before a command deletes something.
void add_yes(CLI::App& command, Line& line);

/// Asks on the terminal whether to delete `what`, unless --yes is given.
/// errors  throws Stop{usage} when the answer is not yes, and when there is no terminal to ask on
void confirm(const Line& line, const std::string& what);

/// `delete` of jobs, or of one object of another kind: asks first.
CLI::App* add_delete_jobs(CLI::App& app, Line& line);
CLI::App* add_delete(CLI::App& parent, const char* text, Line& line, NamedKind kind,
                     IdCommand command);

/// A command that lists things, in the form that --output says.
CLI::App* add_list(CLI::App& parent, const char* name, const char* text, Line& line,
                   ListCommand command);

/// --set, as of set_field, with an example such as "train.epochs=20".
void add_changes(CLI::App& one, std::vector<std::string>& changes, const char* example);

/// An option that takes name=value and can be repeated.
void add_pairs(CLI::App& one, const char* option, std::map<std::string, std::string>& pairs,
               const std::string& text);

/// The commands on jobs; those that act on them; hosts and cores; tokens; contexts;
/// `slipway cv …`; `slipway sweep …`.
void add_job_commands(CLI::App& app, Line& line);
void add_action_commands(CLI::App& app, Line& line);
void add_machine_commands(CLI::App& app, Line& line);
void add_token_commands(CLI::App& app, Line& line);
void add_context_commands(CLI::App& app, Line& line);
void add_cross_validation_commands(CLI::App& app, Line& line);
void add_sweep_commands(CLI::App& app, Line& line);

}    // namespace slipway::client
