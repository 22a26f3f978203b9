#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/client/commands_table.h"
#include "api/client/commands_webhooks.h"
#include "api/client/listing.h"
#include "api/client/retry_failed.h"
#include "api/client/service.h"
#include "api/client/watch_commands.h"

namespace slipway::client {

/// Every command prints to stdout and returns how the program ends; all throw Stop.

struct SubmitOptions {
    std::string file;                         ///< "-": stdin
    std::string kind = "train";               ///< a word of JobKind: what the file asks for
    std::vector<std::string> changes = {};    ///< train.epochs=20
    std::map<std::string, std::string> labels = {};
    bool follow = false;
    bool dry_run = false;
};
ExitCode submit(const HttpClient& client, const SubmitOptions& options);

struct ListOptions {
    std::string state;
    std::map<std::string, std::string> filters = {};    ///< of jobs: parameters of the query
    std::map<std::string, std::string> labels = {};     ///< of jobs
    std::string best = {};    ///< a metric: the jobs with the best value of it first
    int limit = 20;
};
Listing list_jobs(const HttpClient& client, const ListOptions& options);
/// The list over and over: redrawn on a terminal, else a line for each job whose state is another.
ExitCode watch_jobs(const HttpClient& client, const ListOptions& options);
struct EventOptions {
    std::string project = {};    ///< empty: all
    std::string types = {};      ///< comma-separated; empty: all but metric and log
    int count = 0;               ///< end after so many; 0: go on
};
/// Prints what happens, a line per event, until it is interrupted.
ExitCode print_events(const HttpClient& client, const EventOptions& options);
ExitCode show_job(const HttpClient& client, const std::string& job_id);
ExitCode delete_job(const HttpClient& client, const std::string& job_id);
/// Adds `labels` to those of a job; one without a value is removed. Prints what it has now.
ExitCode label_job(const HttpClient& client, const std::string& job_id,
                   const std::vector<std::string>& labels);
/// Changes the scheduling class of a queued job.
ExitCode set_priority(const HttpClient& client, const std::string& job_id,
                      const std::string& job_class);
/// Moves a queued job to another pool of hosts; any: to all hosts.
ExitCode set_pool(const HttpClient& client, const std::string& job_id, const std::string& pool);
/// `verb` is cancel, kill, pause or resume.
ExitCode act_on_job(const HttpClient& client, const std::string& job_id, const std::string& verb);
/// Asks for a checkpoint and waits until it is there, or the job has ended.
ExitCode save_checkpoint(const HttpClient& client, const std::string& job_id);
ExitCode retry_job(const HttpClient& client, const std::string& job_id, bool follow);

struct ForkOptions {
    std::string job_id = {};
    std::vector<std::string> changes = {};    ///< train.epochs=20: a field and its value as JSON
    std::string file = {};                    ///< a merge patch of the spec; before `changes`
    std::string start = "continue";           ///< or weights, scratch
    std::string checkpoint = {};              ///< empty: the newest one
    bool follow = false;
    bool dry_run = false;
};
ExitCode fork_job(const HttpClient& client, const ForkOptions& options);

struct BulkOptions {
    std::string action = {};
    std::string state = {};    ///< comma-separated, as of `jobs`
    std::string project = {};
    std::string name = {};
    std::map<std::string, std::string> labels = {};
    std::vector<std::string> ids = {};
    bool dry_run = false;
};
/// Acts on all jobs that match, however many; one line for each.
ExitCode bulk(const HttpClient& client, const BulkOptions& options);
/// `verb` is pin or unpin.
ExitCode act_on_checkpoint(const HttpClient& client, const std::string& checkpoint_id,
                           const std::string& verb);
ExitCode explain_job(const HttpClient& client, const std::string& job_id);
/// `names` empty: all. Every point as CSV.
ExitCode print_metrics_csv(const HttpClient& client, const std::string& job_id,
                           const std::string& names);
/// At most 20 points of each.
Listing list_metrics(const HttpClient& client, const std::string& job_id, const std::string& names);
/// Where its time goes: text for people, or JSON.
ExitCode print_report(const HttpClient& client, const std::string& job_id, bool json);
/// The programs it made; with `hash` one of them, as "ir", "program" or "json".
ExitCode print_graphs(const HttpClient& client, const std::string& job_id, const std::string& hash,
                      const std::string& format);
/// The timeline, for chrome://tracing or Perfetto.
ExitCode print_trace(const HttpClient& client, const std::string& job_id);
/// The curves as an event file for TensorBoard, into the folder `out` or one of the job's id here.
ExitCode fetch_tensorboard(const HttpClient& client, const std::string& job_id,
                           const std::string& out);
Listing list_checkpoints(const HttpClient& client, const std::string& job_id);
/// Into `out`, or a file of the same name here. What is there in part (`.part`) is gone on with;
/// the result must have the checksum that the service names.
ExitCode download(const HttpClient& client, const std::string& checkpoint_id,
                  const std::string& file, const std::string& out);

struct ExportWeightsOptions {
    std::string dtype = "f32";          ///< or bf16
    std::string weights = "average";    ///< or raw
    std::string out = {};               ///< empty: CHECKPOINT.safetensors here
};
/// A checkpoint's weights for other frameworks.
ExitCode export_weights(const HttpClient& client, const std::string& checkpoint_id,
                        const ExportWeightsOptions& options);

struct PredictOptions {
    std::string from;                   ///< as checkpoint_source
    std::string checkpoint = "best";    ///< of a job, or of each fold
    std::string dataset;
    std::string part = {};
    std::string split = "all";
    std::string precision = {};    ///< empty: as it was trained in
    std::string project = "default";
    int batch_size_per_core = 32;
    int cores = 1;
    std::string out = {};    ///< not empty: stay until it ends, then put the result there
    bool follow = false;
};
ExitCode predict(const HttpClient& client, const PredictOptions& options);
/// The CSV of a prediction that has succeeded, to `out` or stdout.
ExitCode print_result(const HttpClient& client, const std::string& prediction_id,
                      const std::string& out);

struct EvaluateOptions {
    std::string from;                   ///< as checkpoint_source
    std::string checkpoint = "best";    ///< of a job, or of each fold
    std::string dataset = {};           ///< empty: that of the training
    std::string part = {};
    std::string split = {};        ///< empty: the service's default
    std::string precision = {};    ///< empty: as it was trained in
    std::string project = "default";
    int cores = 1;
    bool follow = false;
};
/// Measures a checkpoint; with `follow` its metrics are printed when it has succeeded.
ExitCode evaluate(const HttpClient& client, const EvaluateOptions& options);

/// A CSV that the service has, to `out` or stdout.
void save_csv(const HttpClient& client, const std::string& target, const std::string& out);

struct CrossValidationOptions {
    std::string file;                    ///< "-": stdin
    std::vector<std::string> changes;    ///< as of set_field
    bool watch = false;
    bool dry_run = false;
};
/// Prints the id; with `watch` stays until it ends.
ExitCode create_cross_validation(const HttpClient& client, const CrossValidationOptions& options);
/// One line for the whole, until it ends.
ExitCode watch_cross_validation(const HttpClient& client, const std::string& id);
Listing list_cross_validations(const HttpClient& client, const ListOptions& options);
ExitCode show_cross_validation(const HttpClient& client, const std::string& id);
Listing list_cross_validation_folds(const HttpClient& client, const std::string& id);
ExitCode print_cross_validation_summary(const HttpClient& client, const std::string& id, bool json);
/// The second against the first, fold by fold.
ExitCode compare_cross_validations(const HttpClient& client, const std::string& first,
                                   const std::string& second, bool json);
/// The out-of-fold predictions, to `out` or stdout.
ExitCode fetch_oof(const HttpClient& client, const std::string& id, const std::string& out);
/// Predicts a dataset with the mean of the networks of all folds, in the cross-validation's
/// project; `options.from` is its id.
ExitCode predict_with_folds(const HttpClient& client, PredictOptions options);
/// All folds that failed or were cancelled, or those that failed with these codes.
ExitCode retry_folds(const HttpClient& client, const std::string& id, const RetryOptions& options);
ExitCode cancel_cross_validation(const HttpClient& client, const std::string& id);
ExitCode delete_cross_validation(const HttpClient& client, const std::string& id);

Listing list_datasets(const HttpClient& client);
ExitCode show_dataset(const HttpClient& client, const std::string& name);
ExitCode delete_dataset(const HttpClient& client, const std::string& name);

struct DatasetOptions {
    std::string name;    ///< or a JSON file with the whole request
    std::string format = {};
    std::string path = {};                              ///< below a root that the operator allowed
    std::string upload = {};                            ///< or a file to send
    std::map<std::string, std::string> options = {};    ///< label_column=…
    bool wait = true;                                   ///< until it is checked
};
ExitCode create_dataset(const HttpClient& client, const DatasetOptions& options);

struct LoginOptions {
    std::string name = {};          ///< of the context; empty: host and port
    std::string token_file = {};    ///< empty: asked for on a terminal, else read from stdin
};
/// Keeps address and token as the current context, once the service has taken the token.
ExitCode login(const ConnectOptions& connect_options, const LoginOptions& options);
/// Forgets a context; `name` empty: the current one.
ExitCode logout(const std::string& name);
Listing list_contexts();
ExitCode use_context(const std::string& name);

Listing list_projects(const HttpClient& client);
struct ProjectOptions {
    std::string name = {};
    std::optional<double> weight = {};
    std::optional<int> cores_max = {};
    bool no_cores_max = false;
    std::string class_max = {};
    bool no_class_max = false;
};
/// Changes what is given; makes the project when there is none.
ExitCode set_project(const HttpClient& client, const ProjectOptions& options);

/// `project` empty: of all.
ExitCode print_queue_stats(const HttpClient& client, const std::string& project);

/// errors  throws Stop{usage} when the file holds no JSON object
Json read_json(const std::string& path);

Listing list_decisions(const HttpClient& client, const std::string& job_id);

struct SimulateOptions {
    std::string file = {};      ///< job spec; or empty
    std::string job_id = {};    ///< of the queue; or empty
    std::string job_class = {};
    int more_hosts = 0;
    int cores_per_host = 8;
    std::string pool = {};    ///< of these hosts
};
ExitCode simulate_queue(const HttpClient& client, const SimulateOptions& options);

ExitCode list_members(const HttpClient& client, const std::string& project);
struct MemberOptions {
    std::string name = {};
    std::string project = "default";
    std::string role = {};    ///< to set
};
ExitCode set_member(const HttpClient& client, const MemberOptions& options);
ExitCode remove_member(const HttpClient& client, const MemberOptions& options);

Listing list_groups(const HttpClient& client, const std::string& project);
ExitCode set_group(const HttpClient& client, const std::string& project, const std::string& group,
                   int limit);

Listing list_hosts(const HttpClient& client);
/// A row for each host of each slice that runs.
Listing list_slices(const HttpClient& client);
ExitCode drain_host(const HttpClient& client, const std::string& name, const std::string& reason);
/// Of a host that is drained or lost.
ExitCode remove_host(const HttpClient& client, const std::string& name);

struct JoinTokenOptions {
    std::string host = {};    ///< empty: any
    int uses = 1;
    int expires_in_s = 3600;
};
/// Prints the token, only this once.
ExitCode create_join_token(const HttpClient& client, const JoinTokenOptions& options);
ExitCode undrain_host(const HttpClient& client, const std::string& name);
/// Days by kind that are given replace those of the service; 0: not given.
struct RetentionOptions {
    int events_days = 0;
    int logs_days = 0;
    int metrics_days = 0;
    int checkpoints_days = 0;
    int jobs_days = 0;
};
/// What the service keeps of ended jobs, and what it would remove now; removes nothing.
ExitCode show_retention(const HttpClient& client, const RetentionOptions& options);
Listing list_cores(const HttpClient& client);
ExitCode drain_core(const HttpClient& client, int core, const std::string& reason);
ExitCode undrain_core(const HttpClient& client, int core);

struct TokenOptions {
    std::string name = {};
    std::string role = "editor";
    std::vector<std::string> projects = {};    ///< empty: all that its maker's token may name
    std::string member = {};                   ///< whose it is; empty: as its maker's
};
ExitCode create_token(const HttpClient& client, const TokenOptions& options);
Listing list_tokens(const HttpClient& client);
/// With `keep_made` the tokens that it made stay.
ExitCode revoke_token(const HttpClient& client, const std::string& token_id, bool keep_made);
ExitCode print_version(const HttpClient& client);
/// The service, who is asking, and what the queue holds.
ExitCode print_status(const HttpClient& client);

}    // namespace slipway::client
