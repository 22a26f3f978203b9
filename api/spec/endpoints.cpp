#include "api/spec/endpoints.h"

#include <algorithm>
#include <array>

#include "api/base/check.h"
#include "api/spec/endpoints/audit.h"
#include "api/spec/endpoints/checkpoints.h"
#include "api/spec/endpoints/cross_validations.h"
#include "api/spec/endpoints/datasets.h"
#include "api/spec/endpoints/decisions.h"
#include "api/spec/endpoints/evaluations.h"
#include "api/spec/endpoints/events.h"
#include "api/spec/endpoints/job_output.h"
#include "api/spec/endpoints/jobs.h"
#include "api/spec/endpoints/machine.h"
#include "api/spec/endpoints/members.h"
#include "api/spec/endpoints/predictions.h"
#include "api/spec/endpoints/projects.h"
#include "api/spec/endpoints/queue.h"
#include "api/spec/endpoints/retention.h"
#include "api/spec/endpoints/service.h"
#include "api/spec/endpoints/sessions.h"
#include "api/spec/endpoints/splits.h"
#include "api/spec/endpoints/sweeps.h"
#include "api/spec/endpoints/tokens.h"
#include "api/spec/endpoints/uploads.h"
#include "api/spec/endpoints/webhooks.h"

namespace slipway {

namespace {

// One line for each resource.
constexpr auto resources = std::to_array<std::span<const Endpoint>>({
    job_endpoints::rows,
    job_output_endpoints::rows,
    event_endpoints::rows,
    checkpoint_endpoints::rows,
    prediction_endpoints::rows,
    evaluation_endpoints::rows,
    cross_validation_endpoints::rows,
    dataset_endpoints::rows,
    split_endpoints::rows,
    sweep_endpoints::rows,
    upload_endpoints::rows,
    machine_endpoints::rows,
    queue_endpoints::rows,
    decision_endpoints::rows,
    project_endpoints::rows,
    member_endpoints::rows,
    token_endpoints::rows,
    session_endpoints::rows,
    webhook_endpoints::rows,
    audit_endpoints::rows,
    retention_endpoints::rows,
    service_endpoints::rows,
});

constexpr std::size_t count_rows() {
    std::size_t count = 0;
    for (const auto& resource : resources)
        count += resource.size();
    return count;
}

constexpr auto join_rows() {
    std::array<Endpoint, count_rows()> all{};
    auto end = all.begin();
    for (const auto& resource : resources)
        end = std::copy(resource.begin(), resource.end(), end);
    return all;
}

constexpr auto endpoint_rows = join_rows();

}    // namespace

std::span<const Endpoint> endpoints() noexcept {
    return endpoint_rows;
}

const Endpoint& find_endpoint(std::string_view name) {
    const auto found = std::find_if(endpoint_rows.begin(), endpoint_rows.end(),
                                    [&](const Endpoint& row) { return row.name == name; });
    check(found != endpoint_rows.end(), "an endpoint's name is in the table");
    return *found;
}

}    // namespace slipway
