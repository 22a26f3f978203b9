#include "executor/main/run_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "api/base/parsed_json.h"
#include "api/base/posix.h"
#include "api/spec/documents.h"
#include "executor/runtime/cpus.h"

namespace slipway {

namespace {

constexpr std::size_t order_bytes_max = 4 << 20;

/// A member of the order, of the C++ type `T`.
/// errors  Json::exception, which names the type that it is
template <class T>
T member(const Json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end()) {
        throw Error{ErrorCode::invalid_argument, fmt::format("attempt.json has no \"{}\"", name)};
    }
    return found->get<T>();
}

Result<JobSpec> decode(Decoded<JobSpec> decoded) {
    if (decoded.ok()) return std::move(decoded.value);
    return Error{ErrorCode::invalid_argument, joined_messages(decoded.problems)};
}

PredictionPlan prediction_from(const Json& json) {
    Decoded<PredictionSpec> decoded = decode_prediction(member<Json>(json, "spec"));
    if (!decoded.ok()) throw Error{ErrorCode::invalid_argument, joined_messages(decoded.problems)};
    return {.checkpoint = member<std::string>(json, "checkpoint"),
            .spec = std::move(decoded.value)};
}

AttemptOrder order_from(const Json& json) {
    const Json& dataset = json.at("dataset");
    AttemptOrder order;
    order.job_id = member<std::string>(json, "job_id");
    order.fence = member<std::string>(json, "fence");
    order.grace_s = member<double>(json, "grace_s");
    AttemptPlan& plan = order.plan;
    plan.spec = decode(decode_job_spec(json.at("spec"))).value();
    plan.dataset_format = member<std::string>(dataset, "format");
    plan.dataset_path = member<std::string>(dataset, "path");
    plan.dataset_options = member<Json>(dataset, "options").dump();
    plan.checkpoint_folder = member<std::string>(json, "checkpoint_folder");
    if (const Json from = member<Json>(json, "resume_from"); !from.is_null()) {
        plan.resume_from = from.get<std::string>();
    }
    if (const Json from = member<Json>(json, "init_from"); !from.is_null()) {
        plan.init_from = from.get<std::string>();
    }
    if (const Json prediction = member<Json>(json, "prediction"); !prediction.is_null()) {
        plan.prediction = prediction_from(prediction);
    }
    if (const Json split = member<Json>(json, "split"); !split.is_null()) {
        plan.split_file = SplitFile{.path = member<std::string>(split, "path"),
                                    .hash = member<std::string>(split, "hash"),
                                    .content_hash = member<std::string>(dataset, "content_hash")};
    }
    plan.attempt = member<int>(json, "attempt");
    plan.worker_threads = member<int>(json, "worker_threads");
    plan.memory_bytes_max = member<std::int64_t>(json, "memory_bytes");
    plan.report_folder = member<std::string>(json, "report_folder");
    plan.cache_folder = member<std::string>(json, "cache_folder");
    plan.packed_folder = member<std::string>(json, "packed_folder");
    plan.cpu_scope = machine_cpu_scope;
    return order;
}

}    // namespace

Result<AttemptOrder> read_attempt(const std::filesystem::path& run_folder) {
    const std::filesystem::path path = run_folder / "attempt.json";
    std::ifstream file(path, std::ios::binary);
    if (!file) return Error{ErrorCode::not_found, fmt::format("cannot read {}", path.string())};
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const auto parsed = parse_json(text, {.bytes_max = order_bytes_max});
    if (!parsed) return parsed.error();
    try {
        return order_from(parsed->value);
    } catch (const Json::exception& error) {
        return Error{ErrorCode::invalid_argument,
                     fmt::format("{} is not as it should be: {}", path.string(), error.what())};
    } catch (const Error& error) {
        return error;
    }
}

void record_own_process(const std::filesystem::path& run_folder, const std::string& fence) {
    const pid_t pid = getpid();
    const Json record{
        {"pid", pid}, {"start_ticks", process_start_ticks(pid).value_or(0)}, {"fence", fence}};
    write_file_aside(run_folder / "process.json", record.dump());
}

Result<JobSpec> read_job_spec(const std::string& text) {
    const auto parsed = parse_json(text);
    if (!parsed) return parsed.error();
    return decode(decode_job_spec(*parsed));
}

}    // namespace slipway
