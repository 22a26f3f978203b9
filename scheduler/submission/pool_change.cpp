#include "scheduler/submission/pool_change.h"

#include "api/base/parsed_json.h"
#include "api/spec/documents.h"
#include "scheduler/store/stored_json.h"
#include "scheduler/submission/memory_check.h"
#include "scheduler/submission/pool_check.h"
#include "scheduler/submission/slice_check.h"

namespace slipway::submission {

std::vector<Problem> check_pool_change(store::Store& store, const store::Job& job,
                                       const std::string& pool) {
    // It was checked when it was submitted; of another kind of job than training not all is given.
    JobSpec spec = decode_job_spec(store::stored_json(job.spec)).value;
    spec.queue.pool = pool;
    std::vector<Problem> problems = check_pool(store, spec.queue);
    if (problems.empty()) problems = check_memory(store, spec);
    if (problems.empty()) problems = check_slice(store, spec);
    for (Problem& problem : problems)
        problem.pointer = "/queue/pool";
    return problems;
}

}    // namespace slipway::submission
