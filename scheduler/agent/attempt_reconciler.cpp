// The database says which attempts this host should run; the reconciler compares that with what
// it runs and with the records of processes, and does the difference: start, adopt, stop, give
// up. It keeps no state of its own that could be wrong after a crash: a new agent finds the live
// attempts in the database, their processes by the records, and what they have reported in their
// run folders. Order of each turn, which the agent keeps: leases first, since nothing else is
// urgent; then look (after an outage the database may have forgotten frames that it confirmed,
// so they are stored again from the file); relay frames in batches; end attempts whose processes
// are gone and whose frames are all stored. The last two are steps of other threads, one at a time
// of an attempt: a start that is due waits for no commit of another attempt. What the database was
// seen to say of an attempt while a step of it ran may be older than what the step stored, so it is
// not looked at. Invariants: no executor runs without a record that
// was kept before its program began; cores are free only when nothing of the process's session
// is left; every write carries the fence, so an attempt that was rescued meanwhile writes
// nothing. Asking the run folder who runs in it was tried and given up: its executor can write
// there (process.json once named somebody else's process).
#include "scheduler/agent/attempt_reconciler.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "api/base/log.h"
#include "api/base/parsed_json.h"
#include "api/spec/documents.h"
#include "scheduler/agent/attempt_memory.h"
#include "scheduler/agent/dataset_location.h"
#include "scheduler/agent/known_order.h"
#include "scheduler/agent/run_folder.h"
#include "scheduler/agent/split_location.h"
#include "scheduler/agent/thread_share.h"
#include "scheduler/agent/weights_location.h"
#include "scheduler/store/avoided_hosts.h"
#include "scheduler/store/events.h"
#include "scheduler/store/host_pools.h"
#include "scheduler/store/relay.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t output_tail_bytes = 600;
constexpr int step_threads = 4;
/// Who asked for a checkpoint hears of it at once when it has been saved within so long.
constexpr std::chrono::seconds save_awaited{10};

fs::path spares_folder(const AgentOptions& options) {
    return options.home / "spare-runs" / fmt::format("host-{}", options.machine_host);
}

/// "2" of rank 0, "2.1" of rank 1: members of one attempt may share a home folder.
std::string part_of(const store::AttemptKey& key, int rank) {
    return rank == 0 ? fmt::to_string(key.attempt) : fmt::format("{}.{}", key.attempt, rank);
}

std::string name_of(const store::AttemptKey& key, int rank) {
    return fmt::format("{}/{}", key.job_id, part_of(key, rank));
}

std::string name_of(const store::HostAttempt& found) {
    return name_of(found.attempt.key(), found.rank);
}

JobSpec spec_of(const store::HostAttempt& found) {
    return decode_job_spec(Json::parse(found.spec, nullptr, false)).value;
}

WantedHosts wanted_hosts(const store::HostAttempt& found, const JobSpec& spec) {
    return {.hosts = int(found.attempt.members.size()),
            .cores = int(found.member().cores.size()),
            .pool = spec.queue.pool == store::any_pool ? std::string() : spec.queue.pool,
            .avoided = store::avoided_hosts(found.crash_key)};
}

/// Seconds that the attempts of a stored spec may take together: limits.max_wall_s, or what
/// limits.max_core_s is for each of its cores. Read by their names alone, as the database does
/// (time_left_s): a spec of another version may have fields that its decoder here does not know.
std::optional<double> time_limit(const std::string& stored) {
    const Json spec = Json::parse(stored, nullptr, false);
    const auto number = [&spec](const char* pointer) -> std::optional<double> {
        const Json::json_pointer place(pointer);
        if (!spec.is_object() || !spec.contains(place) || !spec.at(place).is_number())
            return std::nullopt;
        return spec.at(place).get<double>();
    };
    std::optional<double> limit = number("/limits/max_wall_s");
    if (const auto core_seconds = number("/limits/max_core_s")) {
        const double seconds = *core_seconds / number("/accelerator/cores").value_or(1);
        limit = std::min(limit.value_or(seconds), seconds);
    }
    return limit;
}

/// What the executor last said of where it is.
std::optional<RunPosition> left_position(const fs::path& run_folder) {
    const auto bytes = read_at_most(run_folder / run_position_file, sizeof(RunPosition));
    return bytes ? read_run_position(*bytes) : std::nullopt;
}

}    // namespace

std::string AttemptReconciler::Live::name() const {
    return name_of(key, rank);
}

AttemptReconciler::AttemptReconciler(const AgentParts& parts, const Clock& clock,
                                     AgentCounts& counts, std::function<void()> on_step_ended)
    : store_(parts.store),
      options_(parts.options),
      artifacts_(parts.options.artifacts()),
      launcher_(parts.launcher),
      projects_(parts.projects),
      clock_(clock),
      supervisor_(parts.supervisor),
      records_(parts.records),
      counts_(counts),
      on_step_ended_(std::move(on_step_ended)),
      spares_(spares_folder(parts.options), parts.options.spare_run_folders),
      preparations_(1),
      steps_(step_threads) {}

void AttemptReconciler::reconcile(const std::function<void()>& after_start) {
    const std::vector<store::HostAttempt> found = store::list_live_attempts(store_, options_.host);
    std::set<std::string> names;
    for (const store::HostAttempt& each : found) {
        const std::string name = name_of(each);
        names.insert(name);
        alone(name, [&] { reconcile_one(name, each, after_start); });
    }
    for (auto& [name, live] : live_)
        if (!live.busy && !names.contains(name)) let_go(live);
    std::erase_if(stuck_, [&](const std::string& name) {
        return !names.contains(name) && !records_.find(name);
    });
    std::erase_if(unknown_since_, [&](const auto& each) { return !names.contains(each.first); });
    end_forgotten(names);
    drain_when_faulty();
}

void AttemptReconciler::reconcile_one(const std::string& name, const store::HostAttempt& found,
                                      const std::function<void()>& after_start) {
    const auto known = live_.find(name);
    if (known == live_.end()) {
        begin(found);
        after_start();
    } else if (known->second.key.fence == found.attempt.fence) {
        update(found, known->second);
    } else if (!known->second.busy) {
        give_up(known->second);
    }
}

/// What went wrong with one attempt alone, in words; empty: nothing.
/// errors  throws unavailable when the database does not answer
std::string AttemptReconciler::problem_of(const std::function<void()>& step) {
    try {
        step();
    } catch (const Error& error) {
        if (error.code() == ErrorCode::unavailable) throw;
        return error.what();
    } catch (const std::exception& error) {
        return error.what();
    }
    return {};
}

/// What goes wrong with one attempt alone keeps no other one from its turn: it is tried again in a
/// later one. A database that does not answer ends the turn of all.
void AttemptReconciler::alone(const std::string& name, const std::function<void()>& step) {
    const std::string reason = problem_of(step);
    if (!reason.empty()) note_problem(name, reason);
}

void AttemptReconciler::note_problem(const std::string& name, const std::string& reason) {
    ++counts_.failed_calls;
    if (stuck_.insert(name).second)
        log_error("an attempt waits", {{"attempt", name}, {"reason", reason}});
}

/// Executors of attempts that ended while no agent ran: the database no longer names them.
void AttemptReconciler::end_forgotten(const std::set<std::string>& names) {
    std::vector<std::string> gone;
    for (const auto& [name, record] : records_.all()) {
        if (!is_name(name) || names.contains(name) || live_.contains(name)) continue;
        // One that cannot be looked for now keeps no other one from being ended.
        alone(name, [&, &id = record.id, &gone_name = name] {
            if (launcher_.end_left(id)) gone.push_back(gone_name);
        });
    }
    for (const std::string& name : gone)
        records_.forget(name);
}

void AttemptReconciler::renew() {
    std::vector<store::AttemptKey> held;
    for (const auto& [name, live] : live_)
        if (live.busy || !live.fenced) held.push_back(live.key);
    for (const store::AttemptKey& lost :
         store::renew_leases(store_, options_.host, held, options_.lease)) {
        for (auto& [name, live] : live_)
            if (!live.busy && live.key.job_id == lost.job_id && live.key.attempt == lost.attempt)
                let_go(live);
    }
}

fs::path AttemptReconciler::run_folder_of(const store::AttemptKey& key, int rank) const {
    return artifacts_.locate(Artifact::run, key.job_id, part_of(key, rank));
}

/// Not known yet: a new attempt, or one that an agent before us began.
void AttemptReconciler::begin(const store::HostAttempt& found) {
    const store::AttemptMember& member = found.member();
    const fs::path folder = run_folder_of(found.attempt.key(), found.rank);
    Live live{.key = found.attempt.key(),
              .rank = found.rank,
              .folder = folder,
              .tail = FrameTail(folder / "frames.ndjson", member.frames_relayed),
              .frames_stored = member.frames_relayed,
              .job_state = found.job_state,
              .restarts = found.restarts,
              .process = {},
              .resumed_from_id = found.resume_checkpoint_id,
              .recorded = member.pid.has_value(),
              .is_watched = found.is_watched,
              .saves_requested = found.saves_requested,
              .hosts = int(found.attempt.members.size())};
    const std::string name = live.name();
    if (member.end) {    // an agent before us has stored it
        live.member_stored = true;
        live.ended = Ended{.name = name, .exit = {}};
        live_.emplace(name, std::move(live));
        return;
    }
    // What only the database knows, first: when it does not answer, the attempt has not begun, and
    // the next turn begins it.
    live.wanted = wanted_hosts(found, spec_of(found));
    set_time_limit(found, live);
    const Inputs inputs = member.pid ? Inputs{} : find_inputs(found);
    // Whatever the run folder says: its executor may have written it to be forgotten. That it
    // cannot be looked for is not that it is gone.
    const std::optional<ProcessRecord> known = record_of(found);
    const bool adopted = known && adopt(found, *known, live);
    if (!adopted && known && !launcher_.end_left(known->id)) return;
    try {
        if (!adopted && !find_or_start(found, inputs, bool(known), live)) return;
    } catch (const std::exception& error) {
        // The machine's fault, not the database's: the job runs again, here or elsewhere.
        log_error("an attempt could not be started", {{"attempt", name}, {"reason", error.what()}});
        const std::string missing = find_missing_parts(options_);
        live.is_host_fault = !missing.empty();
        live.problem =
            missing.empty() ? error.what() : fmt::format("{}: {}", missing, error.what());
        live.ended = Ended{.name = name, .exit = {}, .cause = EndCause::not_started};
    }
    unknown_since_.erase(name);
    live_.emplace(name, std::move(live));    // the next turn tells the database of its process
}

/// False: somebody who must go first is still there.
bool AttemptReconciler::find_or_start(const store::HostAttempt& found, const Inputs& inputs,
                                      bool was_started, Live& live) {
    if (live.hosts > 1 || !spares_.take(live.folder)) make_run_folder(live.folder);
    const std::optional<UniqueFd> lock = lock_run_folder(live.folder);
    if (!lock) return is_unknown_for_long(live);
    const bool began = was_started || has_frames(live.folder);
    const bool alone = !began && is_left_alone(found);
    if (began || found.intent || alone) {
        if (!began) live.problem = "it was ended before its executor started";
        live.ended = Ended{.name = live.name(),
                           .exit = {},
                           .cause = found.intent ? cause_of(*found.intent)
                                    : alone      ? EndCause::member_lost
                                                 : EndCause::none};
    } else {
        start(found, inputs, live, *lock);
    }
    return true;
}

/// What the job needs is gone: no executor could help.
void AttemptReconciler::fail_unstarted(Live& live, const std::string& why) {
    live.done = DoneFrame{.code = "data_error", .message = why};
    live.ended = Ended{.name = live.name(), .exit = {}, .cause = EndCause::none};
}

AttemptReconciler::Inputs AttemptReconciler::find_inputs(const store::HostAttempt& found) {
    Inputs inputs;
    const std::optional<int> number = projects_.find(found.project);
    inputs.project_number = number.value_or(0);
    // A checkpoint to go on from has its own weights and network.
    const bool begins = found.kind == JobKind::train && found.resume_checkpoint.empty();
    const auto weights =
        begins ? find_weights_location(store_, found.spec, artifacts_) : fs::path();
    const auto network =
        begins ? find_network_location(store_, found.spec, artifacts_) : fs::path();
    auto checkpoints = find_payload_checkpoints(store_, found.payload, artifacts_);
    const auto split = find_split_location(store_, found.spec, artifacts_);
    if (!number) {
        inputs.missing = no_project_number;
    } else if (!weights) {
        inputs.missing = "the weights of model.init.from are no longer kept";
    } else if (!network) {
        inputs.missing = "the upload of model.from is no longer kept";
    } else if (!checkpoints) {
        inputs.missing = fmt::format(
            "a checkpoint of the {} (from) is no longer kept; "
            "GET /v1/checkpoints lists those that are",
            traits(found.kind).request_name);
    } else if (!split) {
        inputs.missing = "the split of data.split.id is no longer kept";
    }
    if (!found.resume_checkpoint.empty())
        inputs.resume =
            artifacts_.locate(Artifact::checkpoint, found.resume_job_id, found.resume_checkpoint);
    inputs.weights = weights.value_or(fs::path());
    inputs.network = network.value_or(fs::path());
    if (checkpoints) inputs.checkpoints = std::move(*checkpoints);
    if (split) {
        inputs.split = split->path;
        inputs.split_hash = split->hash;
    }
    return inputs;
}

void AttemptReconciler::start(const store::HostAttempt& found, const Inputs& inputs, Live& live,
                              const UniqueFd& lock) {
    const auto location = find_dataset_location(found.dataset_source, found.dataset_id, artifacts_,
                                                {found.project, options_.dataset_roots});
    if (!location) {
        // They were there when the dataset was checked.
        live.is_host_fault = true;
        fail_unstarted(live, fmt::format("the files of dataset {} are not there; its source is {}",
                                         found.dataset_name, found.dataset_source));
        return;
    }
    if (!inputs.missing.empty()) {
        fail_unstarted(live, inputs.missing);
        return;
    }
    const std::string project = fmt::to_string(inputs.project_number);
    const AttemptPaths paths{
        .dataset = location->path,
        .checkpoints = artifacts_.locate(Artifact::checkpoint, live.key.job_id),
        .resume = inputs.resume,
        .report = live.rank == 0 ? artifacts_.locate(Artifact::report, live.key.job_id) : "",
        .cache = artifacts_.locate(Artifact::compile_cache, project),
        .packed = artifacts_.locate(Artifact::packed_images, project),
        .decoded = options_.decoded_bytes_max == 0 || found.dataset_id.empty()
                       ? fs::path()
                       : artifacts_.locate(Artifact::decoded_data, project, found.dataset_id),
        .decoded_bytes_max = options_.decoded_bytes_max,
        .init = inputs.weights,
        .network = inputs.network,
        .payload_checkpoints = inputs.checkpoints,
        .split = inputs.split,
        .split_hash = inputs.split_hash,
        .worker_threads = threads_of(int(found.member().cores.size())),
        .grace_s = double(options_.grace.count()),
        .memory_bytes =
            attempt_memory_bytes(options_, found.spec, int(found.member().cores.size())),
        .member = live.hosts > 1 ? std::optional(member_order(found, live)) : std::nullopt};
    const fs::path order = live.folder / "attempt.json";
    write_order(live.folder, to_json(attempt_order(found, paths)).dump());
    LaunchRequest request{
        .name = live.name(),
        .process = {.program = options_.executor,
                    .arguments = {"attempt", live.folder.string()},
                    .folder = live.folder,
                    .output = live.folder / "output.log",
                    .result = {},
                    .lock_fd = lock.get(),
                    .before_start = keep_record(records_, live.name(), live.key.fence)},
        .project_number = inputs.project_number,
        .cores = int(found.member().cores.size()),
        .readable = {paths.dataset},
        .writable = {live.folder, paths.checkpoints, paths.cache, paths.packed},
        .orders = {order},
        .socket_folder = live.folder,
        .memory_bytes = process_memory_bytes(found)};
    for (const fs::path& folder : {paths.report, paths.decoded})
        if (!folder.empty()) request.writable.push_back(folder);
    if (paths.member) {
        request.writable.push_back(paths.member->rendezvous_folder);
        request.member =
            MemberPlace{.slice = name_of(live.key, 0), .rank = live.rank, .count = live.hosts};
    } else if (found.kind == JobKind::train)
        request.stay = {.run_folder = live.folder,
                        .own = {live.folder, paths.checkpoints, paths.report}};
    if (!location->upload.empty()) request.owned.push_back(paths.dataset);
    const fs::path others = found.resume_job_id == live.key.job_id ? fs::path() : inputs.resume;
    for (const fs::path& input : {inputs.weights, inputs.network, inputs.split, others}) {
        if (!input.empty()) request.shared.push_back(input);
    }
    std::ranges::copy(inputs.checkpoints, std::back_inserter(request.shared));
    std::unique_ptr<LaunchedProcess> process = launcher_.launch(request);
    live.process = process->id();
    ++counts_.started;
    log_info(
        "executor started",
        {{"job_id", live.key.job_id}, {"attempt", live.key.attempt}, {"pid", live.process.pid}});
    watch(live, std::move(process), found);
}

int AttemptReconciler::threads_of(int cores) const {
    const int cpus = launcher_.cpus_of(cores);
    if (cpus > 0) return cpus;
    return thread_share(cores, options_.cores * options_.machine_hosts, usable_cpu_count());
}

/// 0: no limit.
std::int64_t AttemptReconciler::process_memory_bytes(const store::HostAttempt& found) const {
    const std::int64_t bytes =
        attempt_memory_bytes(options_, found.spec, int(found.member().cores.size()));
    return bytes > 0 ? bytes + executor_overhead_bytes : 0;
}

void AttemptReconciler::watch(const Live& live, std::unique_ptr<LaunchedProcess> process,
                              const store::HostAttempt& found) {
    supervisor_.watch({.name = live.name(),
                       .process = std::move(process),
                       .limits = {.start_max = options_.start_max,
                                  .silence_max = options_.silence_max,
                                  // By then an executor without an agent has saved and ended.
                                  .cut_off_max = 2 * options_.grace + options_.silence_max,
                                  .stop_save = options_.stop_save,
                                  .exit_max = options_.exit_max,
                                  .stop_term = options_.stop_term},
                       .folder = live.folder,
                       .fence = live.key.fence,
                       .frames_after = found.member().frames_relayed,
                       .memory_bytes = process_memory_bytes(found)});
}

/// The process that runs the attempt: what the database knows, or what was kept before it could be
/// told. Nothing that an executor writes counts.
std::optional<ProcessRecord> AttemptReconciler::record_of(const store::HostAttempt& found) const {
    if (auto kept = records_.find(name_of(found))) return kept;
    const store::AttemptMember& member = found.member();
    if (!member.pid || !member.start_ticks) return std::nullopt;
    return ProcessRecord{.id = {.pid = pid_t(*member.pid), .start_ticks = *member.start_ticks},
                         .fence = found.attempt.fence};
}

/// False: the recorded process is gone, or it has another fence and must go.
bool AttemptReconciler::adopt(const store::HostAttempt& found, const ProcessRecord& record,
                              Live& live) {
    if (record.fence != live.key.fence) return false;
    std::unique_ptr<LaunchedProcess> process = launcher_.adopt(live.name(), record.id);
    if (!process) return false;
    live.process = process->id();
    ++counts_.adopted;
    log_info(
        "executor taken over",
        {{"job_id", live.key.job_id}, {"attempt", live.key.attempt}, {"pid", live.process.pid}});
    watch(live, std::move(process), found);
    // Whether the agent before us has told it is not known; said twice, it asks for no other one.
    if (found.saves_requested > 0) supervisor_.save(live.name(), found.saves_requested);
    return true;
}

/// Somebody holds the lock of the run folder and no record says who: an executor of an older
/// version, which ends itself without an agent. True: the attempt is given up.
bool AttemptReconciler::is_unknown_for_long(Live& live) {
    const std::string name = live.name();
    const auto [since, first] = unknown_since_.try_emplace(name, clock_.tick());
    if (clock_.tick() - since->second < options_.start_max) return false;
    log_error("an unknown process holds a run folder", {{"attempt", name}});
    live.ended = Ended{.name = name, .exit = {}, .cause = EndCause::not_started};
    return true;
}

void AttemptReconciler::update(const store::HostAttempt& found, Live& live) {
    if (!live.busy) {
        update_stored(found, live);
        if (live.ended) return;
        limit_output(live);
    }
    if (live.rank == 0 && found.saves_requested > live.saves_requested) {
        live.saves_requested = found.saves_requested;
        live.awaited_until = clock_.tick() + save_awaited;
        supervisor_.save(live.name(), found.saves_requested);
    }
    if (found.intent && is_asked(live, *found.intent)) supervisor_.stop(live.name(), *found.intent);
    if (live.rank == 0 && live.time_is_up && clock_.tick() >= *live.time_is_up) {
        supervisor_.stop(live.name(), Intent::timeout);
    }
}

void AttemptReconciler::update_stored(const store::HostAttempt& found, Live& live) {
    live.job_state = found.job_state;
    live.restarts = found.restarts;
    set_watched(live, found.is_watched || clock_.tick() < live.awaited_until);
    expect_words(live, clock_.tick());    // a hint may have been missed; a look costs little
    if (found.member().frames_relayed < live.frames_stored) {
        // The database came back without what it had confirmed: said again, from the file.
        log_warn("frames are stored again", {{"attempt", live.name()},
                                             {"after", found.member().frames_relayed},
                                             {"before", live.frames_stored}});
        live.frames_stored = found.member().frames_relayed;
        live.tail = FrameTail(live.folder / "frames.ndjson", live.frames_stored);
    }
    if (live.hosts > 1) update_member(found, live);
}

/// The limits count all attempts of the job together.
void AttemptReconciler::set_time_limit(const store::HostAttempt& found, Live& live) {
    const auto limit_s = time_limit(found.spec);
    if (!limit_s) return;
    const double used_s = store::find_run_time(store_, live.key.job_id).count();
    const std::chrono::duration<double> rest(std::max(*limit_s - used_s, 0.0));
    live.time_is_up = clock_.tick() + std::chrono::duration_cast<Tick::duration>(rest);
}

store::AttemptEnd AttemptReconciler::own_end(const Live& live) const {
    return decide_end(
        {.done = live.done,
         .exit_status = exit_status_of(*live.ended),
         .cause = live.ended->cause,
         .memory = live.ended->memory,
         .job_state = live.job_state,
         .restarts = live.restarts,
         .problem = live.problem,
         .output_tail = read_tail(live.folder / "output.log", output_tail_bytes),
         .unheard = live.ended->exit && live.ended->exit->had_waited && !has_frames(live.folder),
         .knows_order =
             live.done && live.done->code == wrong_build_code && knows_order(live.folder),
         .note = live.ended->note,
         .position = left_position(live.folder),
         .host = options_.host,
         .spoke = has_frames(live.folder),
         .stepped = live.stepped,
         .is_host_fault = live.is_host_fault});
}

/// The attempt has ended. A member of a slice that had ended before has waited for that.
void AttemptReconciler::let_go(Live& live) {
    if (live.member_stored)
        live.fenced = true;
    else
        give_up(live);
}

/// The attempt has ended or belongs to somebody else: its executor must go, nothing is written.
void AttemptReconciler::give_up(Live& live) {
    if (live.fenced) return;
    live.fenced = true;
    log_warn("an attempt is no longer ours", {{"attempt", live.name()}});
    if (live.process.pid == 0) {
        live.ended = Ended{.name = live.name(), .exit = {}, .cause = EndCause::fenced};
    }
    if (!live.ended) supervisor_.kill(live.name(), EndCause::fenced);
}

}    // namespace slipway
