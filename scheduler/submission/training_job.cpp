#include "scheduler/submission/training_job.h"

#include <algorithm>
#include <iterator>

#include "api/base/id.h"
#include "scheduler/submission/data_fit_check.h"
#include "scheduler/submission/measured_check.h"
#include "scheduler/submission/memory_check.h"
#include "scheduler/submission/named_dataset.h"
#include "scheduler/submission/pool_check.h"
#include "scheduler/submission/size_check.h"
#include "scheduler/submission/slice_check.h"
#include "scheduler/submission/split_check.h"
#include "scheduler/submission/version_check.h"
#include "scheduler/submission/weights_check.h"

namespace slipway::submission {

Decoded<CheckedJob> check_training(Decoded<JobSpec> request, const Submitter& submitter,
                                   store::Store& store) {
    std::vector<Problem> problems = check_network(store, submitter, request.value.model);
    const std::string network = request.value.model.from;
    Decoded<CheckedJob> checked = check_resumed_training(std::move(request), submitter, store);
    std::ranges::move(problems, std::back_inserter(checked.problems));
    if (!network.empty()) checked.value.upload_ids.push_back(network);
    return checked;
}

Decoded<CheckedJob> check_resumed_training(Decoded<JobSpec> request, const Submitter& submitter,
                                           store::Store& store) {
    JobSpec& spec = request.value;
    Decoded<CheckedJob> checked{.value = {}, .problems = std::move(request.problems)};
    CheckedJob& job = checked.value;
    if (!spec.data.dataset.empty() && submitter.sees(spec.project)) {
        NamedDataset named =
            find_named_dataset(store, spec.project, spec.data.dataset, submitter.asked_at);
        job.dataset = std::move(named.dataset);
        add_problems(checked.problems, std::move(named.problems));
    }
    const auto add = [&](std::vector<Problem> more) {
        std::ranges::move(more, std::back_inserter(checked.problems));
    };
    add(check_size(spec));
    add(check_measured(spec));
    add(check_split(store, spec, job.dataset_id()));
    add(check_version(spec, job.dataset));
    add(check_data_fit(spec, job.dataset));
    add(check_pool(store, spec.queue));
    add(check_memory(store, spec));
    add(check_slice(store, spec));
    add(check_weights(store, submitter, spec, job.dataset));
    if (!checked.ok()) return checked;
    fill_time_limit(store, spec.queue, spec.limits);
    job.effective = encode(effective(spec));
    job.name_stem = to_string(spec.model.arch);
    if (spec.model.init)
        (is_id("ckp", spec.model.init->from) ? job.checkpoint_ids
                                             : job.upload_ids) = {spec.model.init->from};
    job.spec = std::move(spec);
    return checked;
}

}    // namespace slipway::submission
