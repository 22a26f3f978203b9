#include "scheduler/agent/dataset_checker.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "api/base/log.h"
#include "api/base/parsed_json.h"
#include "scheduler/agent/remove_some.h"

// A check runs the executor over the files and stores its report. An upload is unpacked by the same
// process, below the folder of the check; only when the result is stored does the unpacked folder
// get its name, so a check that is cut short leaves nothing that a job could read. What is removed
// is renamed first and removed in pieces, since one turn must not last long.
namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t checks_max = 2;
constexpr std::size_t report_bytes_max = 8 << 20;
constexpr std::size_t leftover_entries_per_turn = 2000;

/// Where a check unpacks to, and what it names so when it is whole.
constexpr const char* unpacked_name = "unpacked";
constexpr const char* half_done_name = "unpacked.tmp";

/// What checks of an agent before this one have left half done.
std::vector<fs::path> find_half_done(const fs::path& datasets) {
    std::vector<fs::path> found;
    std::error_code none;    // there may be no dataset yet
    for (const auto& entry : fs::directory_iterator(datasets, none))
        if (entry.path().extension() == ".tmp") found.push_back(entry.path());
    return found;
}

}    // namespace

store::DatasetCheckResult refuse(const std::string& message) {
    const Json problems =
        Json::array({{{"file", ""}, {"row", 0}, {"field", ""}, {"message", message}}});
    return {.ready = false,
            .report = {},
            .problems = problems.dump(-1, ' ', false, Json::error_handler_t::replace),
            .content_hash = {}};
}

store::DatasetCheckResult read_check_result(const std::string& report) {
    const auto parsed = parse_json(report, {.bytes_max = report_bytes_max, .items_max = 1'000'000});
    if (!parsed || !parsed->value.is_object()) {
        return refuse("the check ended without a report");
    }
    Json value = parsed->value;
    const auto number = [&value](const char* name) {
        const auto found = value.find(name);
        return found != value.end() && found->is_number_integer() ? found->get<std::int64_t>()
                                                                  : std::int64_t{-1};
    };
    const Json problems = value.value("problems", Json::array());
    if (number("problem_count") != 0) {
        if (!problems.is_array() || problems.empty()) {
            return refuse("the check ended without a result");
        }
        return {.ready = false, .report = {}, .problems = problems.dump(), .content_hash = {}};
    }
    store::DatasetCheckResult result{
        .ready = true, .report = {}, .problems = {}, .content_hash = {}};
    if (const Json hash = value.value("content_hash", Json()); hash.is_string()) {
        result.content_hash = hash.get<std::string>();
    }
    result.bytes = std::max<std::int64_t>(number("bytes"), 0);
    if (const auto preview = value.find("preview"); preview != value.end()) {
        result.preview = preview->dump();
    }
    for (const char* name : {"problems", "problem_count", "content_hash", "preview"})
        value.erase(name);
    result.report = value.dump();
    return result;
}

DatasetChecker::DatasetChecker(const AgentParts& parts)
    : ClaimedWork(parts,
                  {.name = "dataset check",
                   .start = "start the check",
                   .doing = "reading the dataset",
                   .report = "the report of the check"},
                  checks_max, report_bytes_max),
      leftovers_(find_half_done(parts.options.artifacts().folder(Artifact::dataset))) {}

const std::string& DatasetChecker::id_of(const DatasetCheckClaim& claim) const {
    return claim.check.dataset.id;
}

const std::string& DatasetChecker::project_of(const DatasetCheckClaim& claim) const {
    return claim.check.dataset.project;
}

std::optional<DatasetCheckClaim> DatasetChecker::claim_next(std::chrono::milliseconds lease) {
    auto check = store::claim_dataset_check(parts_.store, parts_.options.host, lease);
    if (!check) return std::nullopt;
    return DatasetCheckClaim{.check = *std::move(check)};
}

bool DatasetChecker::renew_claim(const DatasetCheckClaim& claim, std::chrono::milliseconds lease) {
    return store::renew_dataset_check(parts_.store, id_of(claim), claim.check.fence, lease);
}

void DatasetChecker::release_claim(const DatasetCheckClaim& claim) {
    store::release_dataset_check(parts_.store, id_of(claim), claim.check.fence);
}

bool DatasetChecker::finish_claim(const DatasetCheckClaim& claim,
                                  const store::DatasetCheckResult& result) {
    return store::finish_dataset_check(parts_.store, id_of(claim), claim.check.fence, result);
}

std::optional<std::string> DatasetChecker::find_inputs(DatasetCheckClaim& claim) {
    const store::Dataset& dataset = claim.check.dataset;
    const auto location =
        find_dataset_location(dataset.source, dataset.id, parts_.options.artifacts(),
                              {dataset.project, parts_.options.dataset_roots});
    if (!location) {
        return fmt::format("there is nothing at {} below the folders that the project may use",
                           dataset.source);
    }
    claim.location = *location;
    return std::nullopt;
}

ClaimedWorkProcess DatasetChecker::prepare(const DatasetCheckClaim& claim) {
    const store::Dataset& dataset = claim.check.dataset;
    const fs::path folder = folder_of(claim);
    ClaimedWorkProcess process{.arguments = {"inspect", "--preview", "--format", dataset.format},
                               .readable = {}};
    const auto add = [&process](std::initializer_list<std::string> words) {
        process.arguments.insert(process.arguments.end(), words);
    };
    if (!dataset.options.empty()) add({"--options", dataset.options});
    if (claim.location.upload.empty()) {
        add({"--path", claim.location.path.string()});
        process.readable = {claim.location.path};
        if (const fs::path copies = copies_of(claim); !copies.empty()) {
            add({"--keep-hash-in", copies.string()});
            process.writable = {copies};
        }
        return process;
    }
    discard(claim.location.path);    // of a check that was cut short
    discard(folder / unpacked_name);
    std::erase(leftovers_, folder / half_done_name);    // the executor removes it
    add({"--unpack", claim.location.upload.string(), "--into", (folder / unpacked_name).string(),
         "--name", claim.location.filename});
    process.readable = process.owned = {claim.location.upload};
    return process;
}

/// Where executors of the project keep what they know of the files; empty: nowhere.
fs::path DatasetChecker::copies_of(const DatasetCheckClaim& claim) {
    const std::optional<int> number = parts_.projects.find(project_of(claim));
    if (!number || parts_.options.decoded_bytes_max == 0) return {};
    return parts_.options.artifacts().locate(Artifact::decoded_data, fmt::to_string(*number),
                                             id_of(claim));
}

store::DatasetCheckResult DatasetChecker::read_report(const std::string& report) const {
    return read_check_result(report);
}

store::DatasetCheckResult DatasetChecker::reject(const std::string& message) const {
    return refuse(message);
}

/// What was unpacked gets its name only now.
void DatasetChecker::keep(const DatasetCheckClaim& claim, store::DatasetCheckResult& result) {
    if (claim.location.upload_id.empty()) return;
    const fs::path unpacked = folder_of(claim) / unpacked_name;
    std::error_code problem;
    const fs::file_status found = fs::symlink_status(unpacked, problem);
    if (found.type() == fs::file_type::not_found) return;    // done before an outage
    // A link would have the jobs of the dataset read whatever it names.
    if (!fs::is_directory(found)) {
        result = refuse("the check left no folder of what it unpacked");
        return;
    }
    fs::create_directories(claim.location.path.parent_path(), problem);
    fs::rename(unpacked, claim.location.path, problem);
    if (!problem) return;
    log_error("an unpacked dataset cannot be kept",
              {{"dataset_id", id_of(claim)}, {"reason", problem.message()}});
    result = refuse(fmt::format("host {} could not keep what was unpacked: {}", parts_.options.host,
                                problem.message()));
}

void DatasetChecker::after(const DatasetCheckClaim& claim, bool stored) {
    const bool uploaded = !claim.location.upload_id.empty();
    if (!stored && uploaded && !store::find_dataset(parts_.store, id_of(claim)))
        discard(claim.location.path);    // it was deleted meanwhile
    discard_unpacked(claim);             // of an upload that cannot be used
    if (stored && parts_.options.on_freed) parts_.options.on_freed();    // jobs may have waited
}

void DatasetChecker::clean() {
    if (!leftovers_.empty() &&
        remove_some(leftovers_.back(), leftover_entries_per_turn) != Removal::more) {
        leftovers_.pop_back();
    }
}

/// The name is free at once; a check that is killed before the folder is gone leaves a `.tmp`.
void DatasetChecker::discard(const fs::path& location) {
    const fs::path aside = location.string() + ".removed.tmp";
    std::error_code problem;
    fs::rename(location, aside, problem);
    if (!problem) leftovers_.push_back(aside);
}

void DatasetChecker::discard_unpacked(const DatasetCheckClaim& claim) {
    for (const char* name : {unpacked_name, half_done_name}) {
        const fs::path left = folder_of(claim) / name;
        std::error_code problem;    // whatever is there, or cannot be looked at
        if (fs::symlink_status(left, problem).type() != fs::file_type::not_found)
            leftovers_.push_back(left);
    }
}

}    // namespace slipway
