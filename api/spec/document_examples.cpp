// Each example is a document that the service accepts or answers; the test of openapi.json judges
// them with the tables. A job's is made from the example of its spec, so that a new field with a
// default is in it at once.

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "api/base/parsed_json.h"
#include "api/spec/documents.h"
#include "api/spec/openapi_texts.h"

namespace slipway {

namespace {

struct DocumentExample {
    std::string_view document;
    std::string_view json;
};

constexpr auto document_examples = std::to_array<DocumentExample>({
    {"JobSpec", R"({
        "name": "digits", "model": {"arch": "lenet", "num_classes": 10},
        "task": {"type": "classification"},
        "data": {"dataset": "mnist10k", "split": {"val_fraction": 0.2, "seed": 0}},
        "train": {"epochs": 5, "optimizer": {"name": "adam", "lr": 0.001}},
        "accelerator": {"cores": 8}})"},
    {"JobPatch", R"({"name": "digits again", "labels": {"team": "vision"}})"},
    {"JobFork", R"({"changes": {"train": {"epochs": 10}}, "start": "continue"})"},
    {"JobBulk", R"({"action": "cancel", "filter": {"labels": {"team": "vision"}}})"},
    {"PredictionSpec", R"({
        "from": {"job": "job_01jd0000000000000000000000"}, "data": {"dataset": "mnist10k"}})"},
    {"EvaluationSpec", R"({
        "from": {"job": "job_01jd0000000000000000000000"},
        "data": {"dataset": "mnist10k", "part": "t10k"}})"},
    {"CrossValidationSpec", R"({
        "name": "families",
        "split": {"method": "group_kfold", "folds": 5, "group_by": "family", "seed": 3},
        "parallel": {"folds": 5}, "outputs": {"oof_predictions": true},
        "job": {"model": {"arch": "lenet"}, "task": {"type": "classification"},
                "data": {"dataset": "glyphs"},
                "train": {"epochs": 5, "optimizer": {"name": "adam", "lr": 0.001}}}})"},
    {"SweepSpec", R"({
        "name": "lr", "objective": {"metric": "val_loss"},
        "space": {"train.optimizer.lr": {"type": "log_uniform", "min": 0.0001, "max": 0.1},
                  "model.width": {"type": "choice", "values": [32, 64, 128]}},
        "algorithm": {"name": "asha", "max_time": 27}, "limits": {"max_trials": 81}, "seed": 1,
        "job": {"model": {"arch": "mlp"}, "task": {"type": "classification"},
                "data": {"dataset": "points"},
                "train": {"optimizer": {"name": "adam", "lr": 0.001}}}})"},
    {"SweepPatch", R"({"max_concurrent": 4})"},
    {"SweepExtend", R"({"max_trials": 200})"},
    {"RetryFailed", R"({"codes": ["data_error", "executor_lost"]})"},
    {"SweepPromote", R"({"changes": {"train": {"epochs": 50}}})"},
    {"SweepSuggest", R"({"count": 2})"},
    {"SweepObserve", R"({"time": 3, "value": 0.41, "end": "completed"})"},
    {"SweepSimulate", R"({"algorithm": {"name": "asha", "mode": "stop", "max_time": 27}})"},
    {"SweepTrial", R"({
        "number": 3, "state": "running", "point": {"train.optimizer.lr": 0.0021}, "until": 27,
        "value": 0.41, "value_time": 4, "last_value": 0.41, "last_time": 4, "reports": 4,
        "lineage": [], "fold_values": [], "job_id": "job_01jd0000000000000000000000", "jobs": 1,
        "reason": "rung 1 (epoch 3): rank 2 of 7; the best 2 go on, cutoff 0.44",
        "started_at": "2030-01-31T20:00:00Z", "ended_at": null})"},
    {"DatasetCreate", R"({
        "name": "points", "format": "csv",
        "source": {"upload": "upl_01jd0000000000000000000000"},
        "options": {"label_column": "kind"}})"},
    {"SplitCreate", R"({"method": "stratified_kfold", "folds": 5, "seed": 3})"},
    {"UploadCreate", R"({"size": 1048576, "filename": "points.csv"})"},
    {"TokenCreate", R"({"name": "nightly runs", "role": "editor", "projects": ["default"]})"},
    {"MemberPut", R"({"role": "editor"})"},
    {"Login", R"({"token": "slp_0123456789abcdefghijklmnopqrstuv"})"},
    {"ProjectCreate", R"({"name": "vision", "weight": 2})"},
    {"ProjectPatch", R"({"weight": 5})"},
    {"ProjectQuota", R"({"cores": 8})"},
    {"GroupPut", R"({"limit": 4})"},
    {"JoinTokenCreate", R"({"host": "training-2", "uses": 1, "expires_in_s": 900})"},
    {"HostDrain", R"({"reason": "a disk is exchanged"})"},
    {"QueueSimulate", R"({"job_id": "job_01jd0000000000000000000000", "class": "high"})"},
    {"WebhookPatch", R"({"events": ["job.ended"], "rotate_secret": true})"},
    {"WebhookCreate", R"({
        "url": "https://hooks.example.com/slipway", "project": "default",
        "events": ["job.started", "job.ended"]})"},
    {"Problem", R"({
        "type": "/docs/errors.html#invalid_fields",
        "title": "Unprocessable Content", "status": 422,
        "detail": "train.epochs must be a whole number from 1 to 1000000, got 0",
        "code": "invalid_fields", "request_id": "req_01jd0000000000000000000000",
        "errors": [{"pointer": "/train/epochs", "code": "out_of_bounds",
                    "message": "train.epochs must be a whole number from 1 to 1000000, got 0",
                    "allowed": []}]})"},
    {"Upload", R"({
        "id": "upl_01jd0000000000000000000000", "filename": "points.csv", "size": 1048576,
        "sha256": null, "received": 0, "complete": false,
        "created_at": "2030-01-31T20:00:00Z", "expires_at": "2030-02-01T20:00:00Z"})"},
    {"Project", R"({
        "name": "vision", "weight": 2.0, "quota": {"cores": 8}, "usage_core_s": 5400.0,
        "cores_held": 4, "queued_jobs": 12, "created_by": "tok_01jd0000000000000000000000",
        "created_at": "2030-01-31T20:00:00Z"})"},
    {"Me", R"({
        "token_id": "tok_01jd0000000000000000000000", "name": "nightly runs", "member": null,
        "role": "editor", "projects": ["default"],
        "roles": [{"project": "default", "role": "editor"}], "by_cookie": false})"},
    {"Version",
     R"({"version": "0.1.0", "commit": "0123456789ab", "api": "v1", "host": "training-1"})"},
});

Json stored_example(std::string_view document) {
    return Json::parse(
        std::ranges::find(document_examples, document, &DocumentExample::document)->json);
}

Json job_example() {
    const JobSpec spec = decode_job_spec(stored_example("JobSpec")).value;
    Json job{{"id", "job_01jd0000000000000000000000"},
             {"name", "digits"},
             {"project", "default"},
             {"labels", Json::object()},
             {"state", "queued"},
             {"kind", "train"},
             {"spec", encode(spec)},
             {"attempts", 0},
             {"restarts", 0},
             {"created_by", "tok_01jd0000000000000000000000"},
             {"created_at", "2030-01-31T20:00:00Z"},
             {"queue", {{"position", 1}, {"eta_s", nullptr}}}};
    for (const std::string_view absent :
         {"reason", "prediction", "evaluation", "effective", "progress", "best", "result",
          "dataset_id", "started_at", "finished_at", "origin", "parent", "traceparent"})
        job[absent] = nullptr;
    return job;
}

}    // namespace

std::optional<Json> document_example(std::string_view name) {
    if (name == "Job") return job_example();
    const auto* const row = std::ranges::find(document_examples, name, &DocumentExample::document);
    if (row == document_examples.end()) return std::nullopt;
    return stored_example(name);
}

}    // namespace slipway
