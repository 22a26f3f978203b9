#pragma once

#include "scheduler/store/jobs.h"
#include "server/routes/services.h"

/// The functions behind the endpoints, one per row of api/spec/endpoints, by resource. All of them
/// are pure in the sense of the house: what they do is told by the request and the services alone.
/// They throw ProblemError and Error for everything that is not an answer.
namespace slipway::routes {

// jobs.cpp
Response create_job(const Context& context);
Response list_jobs(const Context& context);
Response get_job(const Context& context);
Response patch_job(const Context& context);
Response delete_job(const Context& context);

// job_actions.cpp
Response cancel_job(const Context& context);
Response kill_job(const Context& context);
Response pause_job(const Context& context);
Response resume_job(const Context& context);
Response checkpoint_job(const Context& context);

// job_forks.cpp
Response retry_job(const Context& context);
Response fork_job(const Context& context);

// job_bulk.cpp
Response bulk_jobs(const Context& context);

// job_detail.cpp
Response list_job_events(const Context& context);
Response list_job_logs(const Context& context);
Response list_job_checkpoints(const Context& context);
Response list_job_attempts(const Context& context);
Response explain_job(const Context& context);
Response get_job_spec(const Context& context);

// events.cpp
Response stream_events(const Context& context);

// report.cpp
Response get_job_report(const Context& context);
Response get_job_evaluation(const Context& context);
Response list_job_graphs(const Context& context);
Response get_job_graph(const Context& context);
Response get_job_trace(const Context& context);

// metrics.cpp
Response list_job_metrics(const Context& context);
Response list_metrics(const Context& context);
Response get_job_metrics_csv(const Context& context);

// sink_files.cpp
/// The file of the sink csv: the other form of get_job_metrics_csv.
Response get_job_metrics_table(const Context& context, const store::Job& job);
Response get_job_tensorboard(const Context& context);

// audit.cpp
Response list_audit(const Context& context);

// retention.cpp
Response preview_retention(const Context& context);

// projects.cpp
Response create_project(const Context& context);
Response list_projects(const Context& context);
Response get_project(const Context& context);
Response patch_project(const Context& context);
Response get_project_quota(const Context& context);
Response put_project_quota(const Context& context);

// groups.cpp
Response list_groups(const Context& context);
Response put_group(const Context& context);

// evaluations.cpp
Response create_evaluation(const Context& context);
Response list_evaluations(const Context& context);
Response get_evaluation(const Context& context);

// predictions.cpp
Response create_prediction(const Context& context);
Response list_predictions(const Context& context);
Response get_prediction(const Context& context);
Response get_prediction_result(const Context& context);

// cross_validations.cpp
Response create_cross_validation(const Context& context);
Response list_cross_validations(const Context& context);
Response get_cross_validation(const Context& context);
Response delete_cross_validation(const Context& context);
Response cancel_cross_validation(const Context& context);
Response retry_cross_validation(const Context& context);
Response list_cross_validation_folds(const Context& context);
Response get_cross_validation_summary(const Context& context);
Response list_cross_validation_events(const Context& context);
Response compare_cross_validations(const Context& context);
Response get_cross_validation_oof(const Context& context);

// checkpoints.cpp
Response list_checkpoints(const Context& context);
Response get_checkpoint(const Context& context);
Response delete_checkpoint(const Context& context);
Response pin_checkpoint(const Context& context);
Response unpin_checkpoint(const Context& context);
Response get_checkpoint_file(const Context& context);
Response get_checkpoint_weights(const Context& context);

// datasets.cpp
Response create_dataset(const Context& context);
Response list_datasets(const Context& context);
Response get_dataset(const Context& context);
Response delete_dataset(const Context& context);
Response get_dataset_preview(const Context& context);

// splits.cpp
Response create_split(const Context& context);
Response list_splits(const Context& context);
Response get_split(const Context& context);
Response get_split_manifest(const Context& context);
Response delete_split(const Context& context);

// uploads.cpp
Response create_upload(const Context& context);
Response get_upload(const Context& context);
Response append_upload(const Context& context);
Response complete_upload(const Context& context);
Response delete_upload(const Context& context);
/// Where the bytes of append_upload go; called before they are read, after `admit`.
BodyTarget receive_upload(const Request& request, Services& services, const Identity& who);

// machine.cpp
Response list_slices(const Context& context);
Response list_hosts(const Context& context);
Response get_host(const Context& context);
Response drain_host(const Context& context);
Response undrain_host(const Context& context);
Response delete_host(const Context& context);
Response create_join_token(const Context& context);
Response list_cores(const Context& context);
Response get_core(const Context& context);
Response drain_core(const Context& context);
Response undrain_core(const Context& context);

// queue.cpp
Response list_queue(const Context& context);
Response get_queue_stats(const Context& context);

// decisions.cpp
Response list_decisions(const Context& context);

// queue_simulation.cpp
Response simulate_queue(const Context& context);

// members.cpp
Response list_members(const Context& context);
Response get_member(const Context& context);
Response put_member(const Context& context);
Response delete_member(const Context& context);

// tokens.cpp
Response get_me(const Context& context);
Response create_token(const Context& context);
Response list_tokens(const Context& context);
Response revoke_token(const Context& context);

// sweeps.cpp, sweep_actions.cpp, sweep_ask.cpp, sweep_promotion.cpp, sweep_retry.cpp,
// sweep_trials.cpp
Response suggest_sweep_trials(const Context& context);
Response observe_sweep_trial(const Context& context);
Response get_sweep_importance(const Context& context);
Response simulate_sweep(const Context& context);
Response create_sweep(const Context& context);
Response list_sweeps(const Context& context);
Response get_sweep(const Context& context);
Response patch_sweep(const Context& context);
Response delete_sweep(const Context& context);
Response pause_sweep(const Context& context);
Response resume_sweep(const Context& context);
Response stop_sweep(const Context& context);
Response extend_sweep(const Context& context);
Response promote_sweep(const Context& context);
Response retry_sweep(const Context& context);
Response retry_sweep_trial(const Context& context);
Response list_sweep_trials(const Context& context);
Response get_sweep_best(const Context& context);
Response list_sweep_decisions(const Context& context);
Response list_sweep_events(const Context& context);

// webhooks.cpp
Response create_webhook(const Context& context);
Response list_webhooks(const Context& context);
Response get_webhook(const Context& context);
Response patch_webhook(const Context& context);
Response delete_webhook(const Context& context);
Response test_webhook(const Context& context);
Response list_webhook_deliveries(const Context& context);
Response redeliver_webhook(const Context& context);

// sessions.cpp
Response create_login_link(const Context& context);
Response login(const Context& context);
Response login_by_link(const Context& context);
Response logout(const Context& context);

// service.cpp
Response healthz(const Context& context);
Response readyz(const Context& context);
Response metrics(const Context& context);
Response get_version(const Context& context);
Response get_capabilities(const Context& context);
Response get_openapi(const Context& context);

}    // namespace slipway::routes
