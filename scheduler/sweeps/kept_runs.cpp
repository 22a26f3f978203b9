// A run is its log added up, so what is kept is never wrong, only behind. A request that borrows it
// reads the sweep's row, adds the lines that others have written since, and stores its own step
// against the version that it has read. A step that is not stored leaves a run that has seen what
// never happened: it is dropped and read again. Workers that ask at the same time wait for each
// other, since of their steps all but one would be refused. A request that has waited too long gets
// `exhausted`: reading the log again would take the memory and the time of the read under way.

#include "scheduler/sweeps/kept_runs.h"

#include <algorithm>
#include <utility>

#include "api/base/error.h"

namespace slipway::sweeps {

namespace {

// Of the allocator: what a block takes besides, and a node of a map besides what is in it.
constexpr std::int64_t block_bytes = 16;
constexpr std::int64_t node_bytes = 32 + block_bytes;

std::int64_t bytes_of_text(const std::string& text) {
    return text.capacity() < sizeof(std::string) / 2 ? 0
                                                     : std::int64_t(text.capacity()) + block_bytes;
}

/// Beyond the value itself.
std::int64_t bytes_below(const Json& json) {
    std::int64_t bytes = 0;
    if (json.is_string()) {
        const auto& text = json.get_ref<const std::string&>();
        bytes = std::int64_t(sizeof(std::string)) + block_bytes + bytes_of_text(text);
    } else if (json.is_structured()) {
        bytes = std::int64_t(sizeof(Json::object_t)) + block_bytes;
        for (const auto& [key, value] : json.items())
            bytes += node_bytes + std::int64_t(sizeof(std::string) + sizeof(Json)) +
                     std::int64_t(key.size()) + bytes_below(value);
    }
    return bytes;
}

std::int64_t bytes_of_point(const search::Point& point) {
    std::int64_t bytes = 0;
    for (const auto& [path, value] : point)
        bytes += node_bytes + std::int64_t(sizeof(search::Point::value_type)) +
                 bytes_of_text(path) + bytes_below(value);
    return bytes;
}

/// A spec is kept as text, as what was read from it and as the space that is sampled; measured with
/// jobs of 20 and of 128 parameters.
constexpr std::int64_t copies_of_spec = 8;
constexpr std::int64_t bytes_of_any_run = 8192;

}    // namespace

std::int64_t KeptRuns::bytes_of(const SweepRun& run, PointBytes& points) {
    const std::vector<search::Trial>& trials = run.search.trials();
    for (; points.trials < trials.size(); ++points.trials) {
        const search::Trial& trial = trials[points.trials];
        points.bytes += std::int64_t(sizeof(search::Trial) + sizeof(TrialJobs)) + block_bytes +
                        std::int64_t(trial.unit.capacity() * sizeof(double)) +
                        bytes_of_point(trial.point);
    }
    std::int64_t bytes =
        bytes_of_any_run + copies_of_spec * std::int64_t(run.sweep.spec.size()) + points.bytes;
    for (const search::KnownResult& known : run.search.plan().known)
        bytes += std::int64_t(sizeof(known)) + bytes_of_point(known.point) +
                 std::int64_t(run.search.space().dimension() * sizeof(double));
    for (const search::Trial& trial : trials)
        bytes += std::int64_t(trial.reports.capacity() * sizeof(search::TrialReport)) +
                 std::int64_t(trial.fold_values.capacity() * sizeof(double));
    for (const TrialJobs& jobs : run.jobs)
        bytes += bytes_of_text(jobs.job_id) + bytes_of_text(jobs.reason);
    return bytes;
}

KeptRuns::Lent::Lent(KeptRuns& runs, SweepRun run)
    : runs_(runs), id_(run.sweep.id), run_(std::move(run)) {}

KeptRuns::Lent::~Lent() {
    runs_.give_back(id_, is_kept_ ? std::optional(std::move(run_)) : std::nullopt);
}

void KeptRuns::Lent::keep(store::Sweep stored) {
    run_.sweep = std::move(stored);
    is_kept_ = true;
}

KeptRuns::Lent KeptRuns::borrow(store::Store& store, store::Sweep sweep,
                                const KeepGoing& may_go_on) {
    struct Taken {
        KeptRuns& runs;
        const std::string id;
        bool is_mine = true;
        ~Taken() {
            if (is_mine) runs.give_back(id, std::nullopt);
        }
    };
    std::optional<SweepRun> run = take_place(sweep.id);
    Taken place{*this, sweep.id};
    if (run && run->sweep.folds != sweep.folds) run.reset();    // the search is made of the folds
    if (!run) {
        run.emplace(load(store, std::move(sweep), may_go_on));
    } else {
        if (sweep.version < run->sweep.version) {    // somebody's step was stored after it was read
            auto stored = store::find_sweep(store, place.id);
            if (!stored) throw Error{ErrorCode::not_found, "the sweep was deleted: " + place.id};
            sweep = *std::move(stored);
        }
        catch_up(store, *run, std::move(sweep));
    }
    place.is_mine = false;
    return {*this, *std::move(run)};
}

std::optional<SweepRun> KeptRuns::take_place(const std::string& sweep_id) {
    std::unique_lock lock(mutex_);
    const auto is_free = [&] {
        const auto found = places_.find(sweep_id);
        return found == places_.end() || !found->second.is_lent;
    };
    if (!given_back_.wait_for(lock, options_.patience, is_free))
        throw Error{ErrorCode::exhausted,
                    "other requests work on this sweep, or its log is being read; try again in a "
                    "moment"};
    Place& place = places_[sweep_id];
    place.is_lent = true;
    bytes_ -= std::exchange(place.bytes, 0);
    return std::exchange(place.run, std::nullopt);
}

SweepRun KeptRuns::load(store::Store& store, store::Sweep sweep, const KeepGoing& may_go_on) {
    struct Loading {
        KeptRuns& runs;
        ~Loading() {
            {
                const std::lock_guard lock(runs.mutex_);
                --runs.loading_;
            }
            runs.given_back_.notify_all();
        }
    };
    {
        std::unique_lock lock(mutex_);
        if (!given_back_.wait_for(lock, options_.patience,
                                  [&] { return loading_ < options_.loads_max; }))
            throw Error{ErrorCode::exhausted,
                        "the logs of other sweeps are being read; try again in a moment"};
        ++loading_;
    }
    const Loading loading{*this};
    return load_run(store, std::move(sweep), may_go_on);
}

void KeptRuns::give_back(const std::string& sweep_id, std::optional<SweepRun> run) {
    PointBytes points;
    {
        const std::lock_guard lock(mutex_);
        points = places_.at(sweep_id).points;
    }
    const std::int64_t bytes = run ? bytes_of(*run, points) : 0;
    {
        const std::lock_guard lock(mutex_);
        Place& place = places_.at(sweep_id);
        place.is_lent = false;
        place.used = ++uses_;
        place.points = points;
        if (run && bytes <= options_.bytes_max) {
            place.bytes = bytes;
            bytes_ += bytes;
            place.run = std::move(run);
        }
        make_room();
    }
    given_back_.notify_all();
}

/// Forgets places without a run, and the runs that were used longest ago while there are too many.
void KeptRuns::make_room() {
    std::erase_if(places_, [](const auto& each) {
        return !each.second.is_lent && !each.second.run.has_value();
    });
    while (bytes_ > options_.bytes_max) {
        const auto oldest = std::ranges::min_element(places_, {}, [](const auto& each) {
            return std::pair(each.second.is_lent, each.second.used);
        });
        bytes_ -= oldest->second.bytes;
        places_.erase(oldest);
    }
}

std::int64_t KeptRuns::kept_bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
}

}    // namespace slipway::sweeps
