#include "scheduler/submission/submit.h"

#include <fmt/format.h>

#include "api/base/id.h"

namespace slipway::submission {

namespace {

/// "lenet-4f9x2c": the ids of one second begin alike, their ends tell jobs apart.
std::string made_name(std::string_view stem, std::string_view job_id) {
    return fmt::format("{}-{}", stem, job_id.substr(job_id.size() - 6));
}

store::NewJob new_job(CheckedJob checked, const std::string& token_id) {
    JobSpec& spec = checked.spec;
    store::NewJob job;
    job.id = checked.id.empty() ? new_id("job") : checked.id;
    if (spec.name.empty()) {
        spec.name = made_name(checked.name_stem, job.id);
        if (has_payload(checked.kind)) checked.payload["name"] = spec.name;
    }
    job.kind = checked.kind;
    job.name = spec.name;
    job.project = spec.project;
    job.labels = spec.labels;
    job.spec = encode(spec).dump();
    if (has_payload(checked.kind)) job.payload = checked.payload.dump();
    job.effective = checked.effective.dump();
    job.dataset_id = checked.dataset_id();
    job.queue_class = to_string(spec.queue.job_class);
    job.cores = static_cast<int>(spec.accelerator.cores);
    if (spec.accelerator.core_id) job.core_id = static_cast<int>(*spec.accelerator.core_id);
    job.restarts_max = static_cast<int>(spec.limits.max_restarts);
    job.start_after = spec.limits.start_after;
    job.valid_until = spec.limits.valid_until;
    job.created_by = token_id;
    job.checkpoint_ids = std::move(checked.checkpoint_ids);
    job.upload_ids = std::move(checked.upload_ids);
    job.origin = std::move(checked.origin);
    job.parent = std::move(checked.parent);
    return job;
}

}    // namespace

store::GatheredJob* GatheredSubmissions::add(const QueueLimit& limit, Submission submission) {
    if (submission.jobs.size() != 1 || submission.request || submission.also) return nullptr;
    const std::string project = submission.jobs.front().spec.project;
    store::NewJob job = new_job(std::move(submission.jobs.front()), submission.token_id);
    if (!store::can_be_gathered(job)) return nullptr;
    job.traceparent = submission.traceparent;
    limit.queued.refresh(project, submission.token_id, limit.jobs_max);
    limit.queued.add(project, submission.token_id, 1, limit.jobs_max);
    jobs_.push_back({.job = std::move(job), .audit = std::move(submission.audit)});
    return &jobs_.back();
}

void GatheredSubmissions::join(GatheredSubmissions& other) {
    jobs_.splice(jobs_.end(), other.jobs_);
}

void GatheredSubmissions::run() noexcept {
    std::vector<store::GatheredJob*> jobs;
    for (store::GatheredJob& job : jobs_)
        jobs.push_back(&job);
    if (!jobs.empty()) store::submit_gathered(store_, jobs);
}

store::Submitted submit(store::Store& store, const QueueLimit& limit, Submission submission,
                        const store::Render& render) {
    check(!submission.jobs.empty(), "a submission has a job");
    const std::string project = submission.jobs.front().spec.project;
    std::vector<store::NewJob> jobs;
    for (CheckedJob& one : submission.jobs) {
        check(one.spec.project == project, "the jobs of a submission are of one project");
        jobs.push_back(new_job(std::move(one), submission.token_id));
        jobs.back().traceparent = submission.traceparent;
    }
    limit.queued.refresh(project, submission.token_id, limit.jobs_max);
    const auto admit = [&] {
        limit.queued.add(project, submission.token_id, jobs.size(), limit.jobs_max);
    };
    return store::submit_jobs(store, jobs,
                              {.request = std::move(submission.request),
                               .audit = std::move(submission.audit),
                               .admit = admit,
                               .also = std::move(submission.also)},
                              render);
}

}    // namespace slipway::submission
