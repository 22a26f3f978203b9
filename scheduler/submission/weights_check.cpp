#include "scheduler/submission/weights_check.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "api/base/id.h"
#include "api/base/parsed_json.h"
#include "api/base/plural.h"
#include "api/spec/documents.h"
#include "scheduler/store/checkpoints.h"
#include "scheduler/store/datasets.h"
#include "scheduler/store/jobs.h"
#include "scheduler/store/stored_json.h"
#include "scheduler/submission/dataset_facts.h"

namespace slipway::submission {

namespace {

std::vector<Problem> refuse(std::string code, std::string message,
                            std::string pointer = "/model/init/from") {
    return {
        {.pointer = std::move(pointer), .code = std::move(code), .message = std::move(message)}};
}

/// The number of outputs of a classifier, where the check of its dataset has counted the classes.
std::optional<std::size_t> output_count(const JobSpec& spec,
                                        const std::optional<store::Dataset>& dataset) {
    if (spec.task.type != TaskType::classification) return std::nullopt;
    if (spec.model.num_classes) return std::size_t(*spec.model.num_classes);
    if (!dataset || (spec.data.columns && !spec.data.columns->label.empty())) return std::nullopt;
    const auto names = class_names(*dataset);
    return names ? std::optional(names->size()) : std::nullopt;
}

/// The spec does not say which network it is.
bool is_any_network(Arch arch) {
    return arch == Arch::layers || arch == Arch::imported;
}

/// Another network, or one with another number of outputs.
std::vector<Problem> check_fit(store::Store& store, const store::Checkpoint& checkpoint,
                               const JobSpec& spec, const std::optional<store::Dataset>& dataset) {
    if (!spec.model.init->strict) return {};
    const auto job = store::find_job(store, checkpoint.job_id);
    if (!job) return {};
    const auto decoded = decode_job_spec(store::stored_json(job->spec));
    if (!decoded.ok()) return {};
    const JobSpec& trained = decoded.value;
    if (is_any_network(spec.model.arch) || is_any_network(trained.model.arch)) return {};
    if (spec.model.arch != trained.model.arch)
        return refuse(
            "inconsistent",
            fmt::format("the checkpoint {} is of {}, and this job trains {}; name a "
                        "checkpoint of that network, or set model.init.strict to false "
                        "to load what fits",
                        checkpoint.id, to_string(trained.model.arch), to_string(spec.model.arch)));
    const auto here = output_count(spec, dataset);
    const auto there = output_count(trained, store::find_dataset(store, job->dataset_id));
    if (spec.model.head.replace || !here || !there || *here == *there) return {};
    return refuse("inconsistent",
                  fmt::format("the network of the checkpoint {} has {}, and this job's has {}; set "
                              "model.head.replace to true to begin with another head",
                              checkpoint.id, counted(*there, "class", "classes"), *here));
}

std::vector<Problem> check_checkpoint(store::Store& store, const Submitter& submitter,
                                      const JobSpec& spec,
                                      const std::optional<store::Dataset>& dataset) {
    const std::string& id = spec.model.init->from;
    const auto checkpoint = store::find_checkpoint(store, id);
    if (!checkpoint || !submitter.sees(checkpoint->project))
        return refuse("not_found",
                      fmt::format("there is no checkpoint {}; GET /v1/checkpoints lists them", id));
    if (checkpoint->deleted_at)
        return refuse("not_found", fmt::format("the checkpoint {} is no longer kept; "
                                               "GET /v1/checkpoints lists those that are",
                                               id));
    if (std::string why = store::incompatibility(*checkpoint); !why.empty())
        return refuse("incompatible", std::move(why));
    return check_fit(store, *checkpoint, spec, dataset);
}

std::vector<Problem> check_upload(store::Store& store, const Submitter& submitter,
                                  const std::string& id, const char* pointer) {
    const auto upload = find_own_upload(store, submitter, id);
    if (!upload)
        return refuse("not_found",
                      fmt::format("there is no upload {}; create one with POST /v1/uploads", id),
                      pointer);
    if (!upload->complete)
        return refuse("inconsistent",
                      fmt::format("the upload {} is not complete; finish it with "
                                  "POST /v1/uploads/{}/complete",
                                  id, id),
                      pointer);
    return {};
}

}    // namespace

std::vector<Problem> check_weights(store::Store& store, const Submitter& submitter,
                                   const JobSpec& spec,
                                   const std::optional<store::Dataset>& dataset) {
    if (!spec.model.init) return {};
    const std::string& from = spec.model.init->from;
    if (is_id("ckp", from)) return check_checkpoint(store, submitter, spec, dataset);
    if (is_id("upl", from)) return check_upload(store, submitter, from, "/model/init/from");
    return refuse("bad_format",
                  fmt::format("model.init.from must be the id of a checkpoint (ckp_…) or of an "
                              "upload (upl_…), got \"{}\"",
                              from));
}

std::vector<Problem> check_network(store::Store& store, const Submitter& submitter,
                                   const ModelSpec& model) {
    if (model.from.empty()) return {};
    if (is_id("upl", model.from)) return check_upload(store, submitter, model.from, "/model/from");
    return refuse(
        "bad_format",
        fmt::format("model.from must be the id of an upload (upl_…), got \"{}\"", model.from),
        "/model/from");
}

}    // namespace slipway::submission
