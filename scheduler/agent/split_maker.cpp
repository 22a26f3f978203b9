#include "scheduler/agent/split_maker.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "api/base/log.h"
#include "api/base/parsed_json.h"
#include "scheduler/agent/split_location.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr const char* manifest_name = "manifest.json";
constexpr std::size_t makings_max = 1;
constexpr std::int64_t folds_max = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t split_report_bytes_max = 16 << 20;

store::SplitResult refuse_split(const std::string& message) {
    const Json problems =
        Json::array({{{"file", ""}, {"row", 0}, {"field", ""}, {"message", message}}});
    return {.problems = problems.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

bool is_hash(const std::string& text) {
    constexpr std::string_view kind = "sha256:";
    return text.starts_with(kind) && text.size() == kind.size() + 64 &&
           text.find_first_not_of("0123456789abcdef", kind.size()) == std::string::npos;
}

/// What the database's constraints hold of it.
bool is_verdict(const Json& value) {
    const auto is_count = [&value](const char* name, std::int64_t least) {
        const Json& number = value.at(name);
        return number.is_number_integer() && number.get<std::int64_t>() >= least;
    };
    return is_count("folds", 1) && value.at("folds").get<std::int64_t>() <= folds_max &&
           is_count("bytes", 0) && is_hash(value.at("hash").get<std::string>());
}

}    // namespace

store::SplitResult read_split_result(const std::string& report) {
    const auto parsed =
        parse_json(report, {.bytes_max = split_report_bytes_max, .items_max = 1'000'000});
    if (!parsed || !parsed->value.is_object()) {
        return refuse_split("the making of the split ended without a report");
    }
    Json value = parsed->value;
    try {
        if (value.at("problem_count") != 0) return {.problems = value.at("problems").dump()};
        if (!is_verdict(value))
            return refuse_split("the making of the split ended without a result");
        store::SplitResult result{.ready = true,
                                  .folds = value.at("folds").get<std::int64_t>(),
                                  .hash = value.at("hash").get<std::string>(),
                                  .bytes = value.at("bytes").get<std::int64_t>()};
        for (const char* name : {"problem_count", "folds", "hash", "bytes"})
            value.erase(name);
        result.report = value.dump();
        return result;
    } catch (const Json::exception&) {    // a report of another program
        return refuse_split("the making of the split ended without a result");
    }
}

SplitMaker::SplitMaker(const AgentParts& parts)
    : ClaimedWork(parts,
                  {.name = "split",
                   .start = "start making the split",
                   .doing = "making the split",
                   .report = "the report of the split"},
                  makings_max, split_report_bytes_max) {}

const std::string& SplitMaker::id_of(const SplitMakingClaim& claim) const {
    return claim.split.id;
}

const std::string& SplitMaker::project_of(const SplitMakingClaim& claim) const {
    return claim.split.project;
}

std::optional<SplitMakingClaim> SplitMaker::claim_next(std::chrono::milliseconds lease) {
    auto split = store::claim_split(parts_.store, parts_.options.host, lease);
    if (!split) return std::nullopt;
    return SplitMakingClaim{.split = *std::move(split)};
}

bool SplitMaker::renew_claim(const SplitMakingClaim& claim, std::chrono::milliseconds lease) {
    return store::renew_split(parts_.store, claim.split.id, claim.split.fence, lease);
}

void SplitMaker::release_claim(const SplitMakingClaim& claim) {
    store::release_split(parts_.store, claim.split.id, claim.split.fence);
}

bool SplitMaker::finish_claim(const SplitMakingClaim& claim, const store::SplitResult& result) {
    return store::finish_split(parts_.store, claim.split.id, claim.split.fence, result);
}

std::optional<std::string> SplitMaker::find_inputs(SplitMakingClaim& claim) {
    if (claim.split.dataset_failed) return "the check of the dataset failed";
    const auto location = find_dataset_location(
        claim.split.source, claim.split.dataset_id, parts_.options.artifacts(),
        {claim.split.project, parts_.options.dataset_roots});
    if (!location) return "the files of the dataset are no longer there";
    claim.location = *location;
    return std::nullopt;
}

ClaimedWorkProcess SplitMaker::prepare(const SplitMakingClaim& claim) {
    const store::SplitClaim& split = claim.split;
    ClaimedWorkProcess process{
        .arguments = {"split", "--format", split.format, "--path", claim.location.path.string(),
                      "--options", split.options, "--request", split.request, "--content-hash",
                      split.content_hash, "--out", (folder_of(claim) / manifest_name).string()},
        .readable = {claim.location.path}};
    if (!claim.location.upload.empty()) process.owned = {claim.location.path};
    return process;
}

store::SplitResult SplitMaker::read_report(const std::string& report) const {
    return read_split_result(report);
}

store::SplitResult SplitMaker::reject(const std::string& message) const {
    return refuse_split(message);
}

/// The manifest gets its place only now.
void SplitMaker::keep(const SplitMakingClaim& claim, store::SplitResult& result) {
    const ArtifactStore artifacts = parts_.options.artifacts();
    make_private_folder(artifacts.folder(Artifact::split));
    try {
        artifacts.put(Artifact::split, claim.split.id, folder_of(claim) / manifest_name);
    } catch (const Error& error) {
        if (error.code() == ErrorCode::invalid_argument) {
            result = refuse_split("the making of the split left no manifest");
            return;
        }
        log_error("the manifest of a split cannot be kept",
                  {{"split_id", claim.split.id}, {"reason", error.what()}});
        result = refuse_split(fmt::format("host {} could not keep the manifest: {}",
                                          parts_.options.host, error.what()));
    }
}

void SplitMaker::after(const SplitMakingClaim& claim, bool stored) {
    if (stored || store::find_split(parts_.store, claim.split.id)) return;
    std::error_code problem;    // it was deleted meanwhile
    fs::remove(parts_.options.artifacts().locate(Artifact::split, claim.split.id), problem);
}

}    // namespace slipway
