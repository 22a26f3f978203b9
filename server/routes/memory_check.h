#pragma once

#include <vector>

#include "api/spec/field.h"
#include "api/spec/job_spec.h"
#include "server/routes/handlers.h"

namespace slipway::routes {

/// What is wrong with accelerator.memory_bytes on the machines there are: more than any of them has
/// for jobs would wait for ever.
std::vector<Problem> check_memory(const Context& context, const JobSpec& spec);

}    // namespace slipway::routes
