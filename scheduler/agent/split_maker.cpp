#include "scheduler/agent/split_maker.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "api/base/log.h"
#include "api/base/parsed_json.h"
#include "scheduler/agent/dataset_places.h"
#include "scheduler/agent/memory_guard.h"
#include "scheduler/agent/run_folder.h"
#include "scheduler/agent/split_place.h"
#include "scheduler/store/relay.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr const char* manifest_name = "manifest.json";
constexpr std::size_t makings_max = 1;
constexpr std::int64_t folds_max = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t split_report_bytes_max = 16 << 20;
constexpr int split_lease_factor = 6;    // as a check: it may be behind a busy machine for a while

store::SplitVerdict refuse_split(const std::string& message) {
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

store::SplitVerdict read_split_verdict(const std::string& report) {
    const auto parsed =
        parse_json(report, {.bytes_max = split_report_bytes_max, .items_max = 1'000'000});
    if (!parsed || !parsed->value.is_object()) {
        return refuse_split("the making of the split ended without a report");
    }
    Json value = parsed->value;
    try {
        if (value.at("problem_count") != 0) return {.problems = value.at("problems").dump()};
        if (!is_verdict(value))
            return refuse_split("the making of the split ended without a verdict");
        store::SplitVerdict verdict{.ready = true,
                                    .folds = value.at("folds").get<std::int64_t>(),
                                    .hash = value.at("hash").get<std::string>(),
                                    .bytes = value.at("bytes").get<std::int64_t>()};
        for (const char* name : {"problem_count", "folds", "hash", "bytes"})
            value.erase(name);
        verdict.report = value.dump();
        return verdict;
    } catch (const Json::exception&) {    // a report of another program
        return refuse_split("the making of the split ended without a verdict");
    }
}

SplitMaker::SplitMaker(const AgentParts& parts)
    : store_(parts.store),
      options_(parts.options),
      launcher_(parts.launcher),
      projects_(parts.projects),
      supervisor_(parts.supervisor),
      records_(parts.records) {}

void SplitMaker::look() {
    while (makings_.size() < makings_max) {
        auto claim = store::claim_split(store_, options_.host, split_lease_factor * options_.lease);
        if (!claim) return;
        begin(*std::move(claim));
    }
}

void SplitMaker::renew() {
    for (const auto& [id, making] : makings_) {
        const bool held =
            store::renew_split(store_, id, making.claim.token, split_lease_factor * options_.lease);
        if (!held && !making.ended) supervisor_.kill(id, EndCause::fenced);
    }
}

void SplitMaker::hear(SupervisorNews& news) {
    std::erase_if(news.ended, [this](const Ended& ended) {
        const auto found = makings_.find(ended.name);
        if (found == makings_.end()) return false;
        found->second.ended = ended;
        return true;
    });
}

void SplitMaker::finish() {
    for (auto each = makings_.begin(); each != makings_.end();) {
        auto& [id, making] = *each;
        if (!making.ended) {
            ++each;
            continue;
        }
        if (!making.verdict) making.verdict = judge(making);
        if (making.verdict->ready) keep_manifest(making);
        const bool kept = store_verdict(making);
        if (!kept && !store::find_split(store_, id)) {    // it was deleted meanwhile
            std::error_code problem;
            fs::remove(manifest_path(options_.home, id), problem);
        }
        records_.forget(id);
        log_info("split made", {{"split_id", id}, {"ready", making.verdict->ready}});
        each = makings_.erase(each);
    }
}

/// A verdict that the database does not take would be tried again for ever, and nothing else.
bool SplitMaker::store_verdict(const Making& making) {
    const auto store_it = [&](const store::SplitVerdict& verdict) {
        return store::finish_split(store_, making.claim.id, making.claim.token, verdict);
    };
    try {
        return store_it(*making.verdict);
    } catch (const Error& error) {
        if (!store::is_refused_content(error)) throw;
        log_error("the report of a split cannot be stored",
                  {{"split_id", making.claim.id}, {"reason", error.what()}});
        return store_it(refuse_split("the report of the split cannot be stored"));
    }
}

void SplitMaker::begin(store::SplitClaim claim) {
    const std::string id = claim.id;
    Making making{.claim = std::move(claim)};
    const auto end_with = [&making, &id](const std::string& message) {
        making.verdict = refuse_split(message);
        making.ended = Ended{.name = id, .exit_status = {}};
    };
    const auto place =
        find_dataset_place(making.claim.source, making.claim.dataset_id, options_.home,
                           {making.claim.project, options_.dataset_roots});
    const std::optional<int> number = projects_.find_or_release(
        making.claim.project, [&] { store::release_split(store_, id, making.claim.token); });
    if (!place) {
        end_with("the files of the dataset are not there any more");
    } else if (!number) {
        end_with(std::string(no_project_number));
    } else {
        try {
            start(making.claim, *place, *number);
        } catch (const Error& error) {
            log_error("a split could not be started", {{"split_id", id}, {"reason", error.what()}});
            end_with(fmt::format("host {} could not start making the split: {}", options_.host,
                                 error.what()));
        }
    }
    makings_.insert_or_assign(id, std::move(making));
}

void SplitMaker::start(const store::SplitClaim& claim, const DatasetPlace& dataset,
                       int project_number) {
    const fs::path folder = folder_of(claim.id);
    make_run_folder(folder);
    LaunchRequest request{
        .name = claim.id,
        .process = {.program = options_.executor,
                    .arguments = {"split", "--format", claim.format, "--path",
                                  dataset.path.string(), "--options", claim.options, "--request",
                                  claim.request, "--content-hash", claim.content_hash, "--out",
                                  (folder / manifest_name).string()},
                    .folder = folder,
                    .output = folder / "output.log",
                    .result = folder / "report.json",
                    .before_start = keep_record(records_, claim.id)},
        .project_number = project_number,
        .readable = {dataset.path},
        .writable = {folder},
        .memory_bytes = options_.check_memory_bytes,
        .cpu_seconds = options_.check_cpu_max.count()};
    if (!dataset.upload.empty()) request.owned = {dataset.path};
    supervisor_.watch({.name = claim.id,
                       .process = launcher_.launch(request),
                       .limits = {.start_max = options_.check_max},
                       .folder = {},
                       .fence = {},
                       .memory = {.bytes = options_.check_memory_bytes,
                                  .cgroup = launcher_.find_cgroup(claim.id)}});
}

/// The manifest gets its place only now: what made it may write nowhere but in its own folder.
void SplitMaker::keep_manifest(Making& making) {
    const fs::path made = folder_of(making.claim.id) / manifest_name;
    const fs::path kept = manifest_path(options_.home, making.claim.id);
    std::error_code problem;
    const fs::file_status found = fs::symlink_status(made, problem);
    if (found.type() == fs::file_type::not_found && fs::exists(kept, problem))
        return;    // done before an outage
    // A link would have the jobs of the split read, and own, whatever it names.
    if (!fs::is_regular_file(found)) {
        making.verdict = refuse_split("the making of the split left no manifest");
        return;
    }
    make_private_folder(kept.parent_path());
    fs::rename(made, kept, problem);
    if (!problem) return;
    log_error("the manifest of a split cannot be kept",
              {{"split_id", making.claim.id}, {"reason", problem.message()}});
    making.verdict = refuse_split(
        fmt::format("host {} could not keep the manifest: {}", options_.host, problem.message()));
}

store::SplitVerdict SplitMaker::judge(const Making& making) const {
    if (making.ended->cause == EndCause::not_started) {
        return refuse_split(fmt::format("making the split took longer than {} s",
                                        options_.check_max.count() / 1000));
    }
    const fs::path folder = folder_of(making.claim.id);
    if (making.ended->exit_status.value_or(0) == 0) {
        const auto report = read_at_most(folder / "report.json", split_report_bytes_max);
        return report ? read_split_verdict(*report)
                      : refuse_split(fmt::format("the report of the split is missing or has more "
                                                 "than {} bytes",
                                                 split_report_bytes_max));
    }
    if (making.ended->memory)
        return refuse_split("making the split: " + describe(*making.ended->memory));
    log_warn("the making of a split crashed", {{"split_id", making.claim.id},
                                               {"exit_status", *making.ended->exit_status},
                                               {"output", read_tail(folder / "output.log", 400)}});
    return refuse_split(
        fmt::format("making the split ended with status {}", *making.ended->exit_status));
}

fs::path SplitMaker::folder_of(const std::string& id) const {
    return options_.home / "runs" / "checks" / id;
}

}    // namespace slipway
