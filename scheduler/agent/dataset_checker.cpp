#include "scheduler/agent/dataset_checker.h"

#include <fmt/format.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <optional>

#include "api/base/log.h"
#include "api/base/parsed_json.h"
#include "api/spec/event.h"
#include "scheduler/agent/memory_guard.h"
#include "scheduler/agent/remove_some.h"
#include "scheduler/agent/run_folder.h"
#include "scheduler/store/relay.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t checks_max = 2;
constexpr std::size_t report_bytes_max = 8 << 20;
constexpr int lease_factor = 6;    // a check may be behind a busy machine for a while
constexpr std::size_t leftover_entries_per_turn = 2000;

/// Where a check unpacks to, and what it names so when it is whole.
constexpr const char* unpacked_name = "unpacked";
constexpr const char* half_done_name = "unpacked.tmp";

/// What checks of an agent before this one have left half done.
std::vector<fs::path> find_half_done(const fs::path& datasets) {
    std::vector<fs::path> found;
    std::error_code none;    // there may be no data set yet
    for (const auto& entry : fs::directory_iterator(datasets, none))
        if (entry.path().extension() == ".tmp") found.push_back(entry.path());
    return found;
}

}    // namespace

store::DatasetVerdict refuse(const std::string& message) {
    const Json problems =
        Json::array({{{"file", ""}, {"row", 0}, {"field", ""}, {"message", message}}});
    return {.ready = false,
            .report = {},
            .problems = problems.dump(-1, ' ', false, Json::error_handler_t::replace),
            .content_hash = {}};
}

store::DatasetVerdict read_verdict(const std::string& report) {
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
            return refuse("the check ended without a verdict");
        }
        return {.ready = false, .report = {}, .problems = problems.dump(), .content_hash = {}};
    }
    store::DatasetVerdict verdict{.ready = true, .report = {}, .problems = {}, .content_hash = {}};
    if (const Json hash = value.value("content_hash", Json()); hash.is_string()) {
        verdict.content_hash = hash.get<std::string>();
    }
    verdict.bytes = std::max<std::int64_t>(number("bytes"), 0);
    if (const auto preview = value.find("preview"); preview != value.end()) {
        verdict.preview = preview->dump();
    }
    for (const char* name : {"problems", "problem_count", "content_hash", "preview"})
        value.erase(name);
    verdict.report = value.dump();
    return verdict;
}

DatasetChecker::DatasetChecker(const AgentParts& parts, const Clock& clock, AgentCounts& counts)
    : store_(parts.store),
      options_(parts.options),
      launcher_(parts.launcher),
      projects_(parts.projects),
      clock_(clock),
      supervisor_(parts.supervisor),
      records_(parts.records),
      counts_(counts),
      leftovers_(find_half_done(parts.options.home / "store" / "datasets")) {}

void DatasetChecker::look() {
    while (checks_.size() < checks_max) {
        const auto claim =
            store::claim_dataset_check(store_, options_.host, lease_factor * options_.lease);
        if (!claim) return;
        begin(*claim);
    }
}

void DatasetChecker::renew() {
    for (auto& [id, check] : checks_) {
        const bool held =
            store::renew_dataset_check(store_, id, check.token, lease_factor * options_.lease);
        if (!held && !check.ended) supervisor_.kill(id, EndCause::fenced);
    }
}

void DatasetChecker::hear(SupervisorNews& news) {
    std::erase_if(news.ended, [this](const Ended& ended) {
        const auto found = checks_.find(ended.name);
        if (found == checks_.end()) return false;
        found->second.ended = ended;
        return true;
    });
    counts_.checks_running = std::int64_t(checks_.size());
}

void DatasetChecker::finish() {
    for (auto each = checks_.begin(); each != checks_.end();) {
        auto& [id, check] = *each;
        if (!check.ended) {
            ++each;
            continue;
        }
        if (!check.verdict) check.verdict = judge(check);
        if (check.verdict->ready && !check.place.upload_id.empty()) keep_unpacked(check);
        const bool kept = store_verdict(check);
        if (!kept && !check.place.upload_id.empty() && !store::find_dataset(store_, id)) {
            discard(check.place.path);    // it was deleted meanwhile
        }
        discard_unpacked(check);    // of an upload that cannot be used
        records_.forget(id);
        log_info("dataset checked", {{"dataset_id", id}, {"ready", check.verdict->ready}});
        each = checks_.erase(each);
        if (kept && options_.on_freed) options_.on_freed();    // jobs may have waited for it
    }
    if (!leftovers_.empty() &&
        remove_some(leftovers_.back(), leftover_entries_per_turn) != Removal::more) {
        leftovers_.pop_back();
    }
}

/// A verdict that the database does not take would be tried again for ever, and nothing else.
bool DatasetChecker::store_verdict(const Check& check) {
    const auto store_it = [&](const store::DatasetVerdict& verdict) {
        return store::finish_dataset_check(store_, check.dataset.id, check.token, verdict);
    };
    try {
        return store_it(*check.verdict);
    } catch (const Error& error) {
        if (!store::is_refused_content(error)) throw;
        log_error("the report of a check cannot be stored",
                  {{"dataset_id", check.dataset.id}, {"reason", error.what()}});
        return store_it(refuse("the report of the check cannot be stored"));
    }
}

void DatasetChecker::begin(const store::DatasetCheck& claim) {
    Check check{.dataset = claim.dataset, .token = claim.token, .place = {}};
    const auto place = find_dataset_place(claim.dataset.source, claim.dataset.id, options_.home,
                                          {claim.dataset.project, options_.dataset_roots});
    const auto end_with = [&check](const std::string& message) {
        check.verdict = refuse(message);
        check.ended = Ended{.name = check.dataset.id, .exit_status = {}};
    };
    // What the database knows, first: when it does not answer, the check is begun again.
    const std::optional<int> number = projects_.find_or_release(claim.dataset.project, [&] {
        store::release_dataset_check(store_, claim.dataset.id, claim.token);
    });
    if (!place) {
        end_with(fmt::format("there is nothing at {} below the folders that the project may use",
                             claim.dataset.source));
    } else if (!number) {
        end_with(std::string(no_project_number));
    } else {
        check.place = *place;
        try {
            start(check, *number);
        } catch (const Error& error) {
            log_error("a dataset check could not be started",
                      {{"dataset_id", claim.dataset.id}, {"reason", error.what()}});
            end_with(
                fmt::format("host {} could not start the check: {}", options_.host, error.what()));
        }
    }
    checks_.insert_or_assign(claim.dataset.id, std::move(check));
}

void DatasetChecker::start(Check& check, int project_number) {
    const fs::path folder = folder_of(check);
    std::vector<std::string> arguments{"inspect", "--preview", "--format", check.dataset.format};
    if (!check.dataset.options.empty()) {
        arguments.insert(arguments.end(), {"--options", check.dataset.options});
    }
    fs::path reads = check.place.path;
    if (check.place.upload.empty()) {
        arguments.insert(arguments.end(), {"--path", reads.string()});
    } else {
        reads = check.place.upload;
        discard(check.place.path);    // of a check that was cut short
        discard(folder / unpacked_name);
        std::erase(leftovers_, folder / half_done_name);    // the executor removes it
        arguments.insert(arguments.end(),
                         {"--unpack", reads.string(), "--into", (folder / unpacked_name).string(),
                          "--name", check.place.filename});
    }
    make_run_folder(folder);
    LaunchRequest request{.name = check.dataset.id,
                          .process = {.program = options_.executor,
                                      .arguments = std::move(arguments),
                                      .folder = folder,
                                      .output = folder / "output.log",
                                      .result = folder / "report.json",
                                      .before_start = keep_record(records_, check.dataset.id)},
                          .project_number = project_number,
                          .readable = {reads},
                          .writable = {folder},
                          .memory_bytes = options_.check_memory_bytes,
                          .cpu_seconds = options_.check_cpu_max.count()};
    if (!check.place.upload.empty()) request.owned = {reads};
    supervisor_.watch({.name = check.dataset.id,
                       .process = launcher_.launch(request),
                       .limits = {.start_max = options_.check_max},
                       .folder = {},
                       .fence = {},
                       .memory = {.bytes = options_.check_memory_bytes,
                                  .cgroup = launcher_.find_cgroup(check.dataset.id)}});
}

store::DatasetVerdict DatasetChecker::judge(const Check& check) const {
    if (check.ended->cause == EndCause::not_started) {
        return refuse(fmt::format("reading the dataset took longer than {} s",
                                  options_.check_max.count() / 1000));
    }
    if (check.ended->exit_status.value_or(0) == 0) {
        // What is longer is refused before it is read: one report once took 440 MiB here.
        const auto report = read_at_most(folder_of(check) / "report.json", report_bytes_max);
        return report
                   ? read_verdict(*report)
                   : refuse(fmt::format("the check's report is missing or has more than {} bytes",
                                        report_bytes_max));
    }
    if (check.ended->memory)
        return refuse("reading the dataset: " + describe(*check.ended->memory));
    const int status = *check.ended->exit_status;
    log_warn("a dataset check crashed",
             {{"dataset_id", check.dataset.id},
              {"exit_status", status},
              {"output", read_tail(folder_of(check) / "output.log", 400)}});
    if (status == exit_code_out_of_memory) {
        return refuse(fmt::format("reading the dataset needs more than {} MiB of memory",
                                  options_.check_memory_bytes >> 20));
    }
    if (status == 128 + SIGXCPU) {
        return refuse(fmt::format("reading the dataset took more than {} s of CPU time",
                                  options_.check_cpu_max.count()));
    }
    return refuse(
        fmt::format("reading the dataset ended the check with status {}: a file is "
                    "damaged in a way that was not foreseen",
                    status));
}

/// What was unpacked gets its name only now: the check itself may write nowhere but in its folder.
void DatasetChecker::keep_unpacked(Check& check) {
    const fs::path unpacked = folder_of(check) / unpacked_name;
    std::error_code problem;
    const fs::file_status found = fs::symlink_status(unpacked, problem);
    if (found.type() == fs::file_type::not_found) return;    // done before an outage
    // A link would have the jobs of the dataset read whatever it names.
    if (!fs::is_directory(found)) {
        check.verdict = refuse("the check left no folder of what it unpacked");
        return;
    }
    fs::create_directories(check.place.path.parent_path(), problem);
    fs::rename(unpacked, check.place.path, problem);
    if (!problem) return;
    log_error("an unpacked dataset cannot be kept",
              {{"dataset_id", check.dataset.id}, {"reason", problem.message()}});
    check.verdict = refuse(fmt::format("host {} could not keep what was unpacked: {}",
                                       options_.host, problem.message()));
}

/// The name is free at once; a check that is killed before the folder is gone leaves a `.tmp`.
void DatasetChecker::discard(const fs::path& place) {
    const fs::path aside = place.string() + ".removed.tmp";
    std::error_code problem;
    fs::rename(place, aside, problem);
    if (!problem) leftovers_.push_back(aside);
}

void DatasetChecker::discard_unpacked(const Check& check) {
    for (const char* name : {unpacked_name, half_done_name}) {
        const fs::path left = folder_of(check) / name;
        std::error_code problem;    // whatever is there, or cannot be looked at
        if (fs::symlink_status(left, problem).type() != fs::file_type::not_found)
            leftovers_.push_back(left);
    }
}

fs::path DatasetChecker::folder_of(const Check& check) const {
    return options_.home / "runs" / "checks" / check.dataset.id;
}

}    // namespace slipway
