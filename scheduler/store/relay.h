#pragma once

#include <exception>
#include <set>
#include <span>
#include <variant>

#include "scheduler/store/jobs.h"
#include "scheduler/store/metrics/series.h"

namespace slipway::store {

/// An event for the job's stream: type progress, metric, log, checkpoint, compile or warning.
/// (`state` and `end` are written by the database with the state itself.)
struct RelayedEvent {
    std::string type{};
    JsonText body{};    ///< an object
};

/// The executor entered another state.
struct RelayedState {
    JobState state{};    ///< compiling, running or finishing
};

struct RelayedMetric {
    std::string name{};
    std::int64_t step = 0;
    std::int64_t epoch = 0;
    double value = 0;    ///< NaN and infinities are kept as such
};

struct RelayedCheckpoint {
    std::string id{};      ///< new_id("ckp")
    std::string name{};    ///< "step_000500_attempt_2"
    std::int64_t step = 0;
    std::int64_t epoch = 0;
    std::vector<std::string> kinds{};    ///< last, best
    /// Names of all that are kept as last and as best once this one is; the kinds of the job's
    /// other checkpoints follow. None (an executor of an older version): they stay as they are.
    struct Kept {
        std::vector<std::string> last;
        std::vector<std::string> best;
    };
    std::optional<Kept> kept{};
    JsonText files{};         ///< [{"name", "bytes", "sha256"}]
    JsonText written_by{};    ///< of api/spec/checkpoint_writer.h; empty: not said
    std::int64_t bytes = 0;
    std::string metric_name{};    ///< empty: no metric
    double metric_value = 0;
    std::vector<std::string> pruned{};    ///< names no longer kept, see below
};

/// What one numbered frame leaves behind. A frame may be any of these, or nothing but its number.
struct RelayedFrame {
    std::int64_t number = 0;                ///< "n" of the frame
    std::optional<RelayedState> state{};    ///< written before the events of this frame
    /// The attempt has ended with it, and finish_attempt follows, which moves the job through its
    /// state: neither that nor the same state of an earlier frame without events behind it is
    /// written here.
    bool ends = false;
    std::vector<RelayedEvent> events{};
    std::vector<RelayedMetric> metrics{};
    std::optional<RelayedCheckpoint> checkpoint{};
    JsonText progress{};     ///< replaces job.progress when not empty
    JsonText best{};         ///< replaces job.best when not empty
    JsonText effective{};    ///< replaces job.effective when not empty
};

struct Relayed {
    std::int64_t frames_relayed = 0;    ///< number of the last frame stored, now or before
    std::int64_t event_seq = 0;         ///< sequence number of the job's newest event
    JobState job_state{};               ///< e.g. cancelling: the agent must act
    std::optional<Intent> intent{};     ///< what is asked of it
    /// Names of checkpoints that this batch pruned and nobody needs: their folders are garbage.
    std::vector<std::string> pruned{};
};

/// True: the database did not take what was to be stored, and will not take it the next time
/// either. It says nothing about the database. (A conflict that has a type of its own, such as
/// IllegalTransition, is none.)
bool is_refused_content(const Error& error) noexcept;

/// The metrics of a job as its relay left them. Kept by the caller from batch to batch: to ask the
/// database with each would cost more than the batch.
struct MetricSeries {
    std::int64_t names_max = 0;    ///< how many metrics may have points; 0: no limit
    SeriesEnds ends{};
    std::int64_t frames_relayed = -1;    ///< when `ends` was true; else it is read again
    std::int64_t points_skipped = 0;
    bool warned = false;
};

/// Stores a batch of frames in one transaction and two round trips; three where points are written
/// again (metrics/series.h). Frames up to the attempt's
/// `frames_relayed` are skipped: sending a batch again after an unknown outcome is safe; so are
/// frames whose number does not grow. A state that the job may not enter from where it is now (it
/// is cancelling, pausing or preempting, or already further) is left out; one that it skipped
/// (compiling) is added. What the database would refuse is repaired or left out (broken text, an
/// unknown event type becomes a warning, a checkpoint whose name is none), so that no frame can
/// stop the relay. Throws Fenced, and errors of which is_refused_content is true: then nothing was
/// stored.
///
/// Points of a new metric beyond series.names_max are left out and counted; the first one is
/// named in an event of type warning.
///
/// rank  of the member whose frames these are: each has numbers of its own
///
/// A checkpoint that is pruned is marked deleted, unless it is pinned or used by a job that has
/// not ended (NewJob::checkpoint_ids); the latter goes when its last user ends.
Relayed relay_frames(Store& store, const AttemptKey& key, const std::vector<RelayedFrame>& frames,
                     MetricSeries& series, int rank = 0);

/// The executor of a member, as record_process takes it.
struct RelayedProcess {
    std::int64_t pid = 0;
    std::int64_t start_ticks = 0;
    std::string resumed_from_id{};
};

/// A batch that is stored together with those of other jobs.
struct RelayedOne {
    const AttemptKey* key = nullptr;
    const std::vector<RelayedFrame>* frames = nullptr;
    MetricSeries* series = nullptr;
    int rank = 0;
    std::optional<RelayedProcess> process{};    ///< recorded with the batch
    std::optional<Relayed> stored{};            ///< none: the attempt was not live with this fence
};

/// Stores batches of different jobs in one transaction, each as relay_frames would: one statement
/// of each kind for all of them. When a batch is refused, each is stored by itself. `errors` has as
/// many places as `ones`: each gets what relay_frames would have thrown, but for Fenced.
void relay_frames(Store& store, std::span<RelayedOne* const> ones,
                  std::span<std::exception_ptr> errors);

/// Without a limit of metrics.
Relayed relay_frames(Store& store, const AttemptKey& key, const std::vector<RelayedFrame>& frames);

}    // namespace slipway::store
