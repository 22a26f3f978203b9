// A run is its log added up, so what is kept is never wrong, only behind: whoever borrows it reads
// the sweep's row, adds the lines that others have written since, and stores its own step against
// the version that it has read. A step that is not stored leaves a run that has seen what never
// happened: it is dropped and read again. Workers that ask at the same time wait for each other,
// since of their steps all but one would be refused; whoever has waited too long reads the log.

#include "scheduler/sweeps/kept_runs.h"

#include <algorithm>
#include <utility>

#include "api/base/error.h"

namespace slipway::sweeps {

namespace {

// A run without trials takes 20 KiB with 20 parameters, most of it for its spec: the text, what was
// read from it, and the space. A thousand sweeps that have hardly begun count by this.
constexpr std::int64_t values_of_any_run = 50;
constexpr std::int64_t spec_bytes_of_value = 10;

std::int64_t values_of(const SweepRun& run) {
    const std::int64_t of_each = 1 + std::int64_t(run.search.space().parameters().size());
    std::int64_t values = values_of_any_run +
                          std::int64_t(run.sweep.spec.size()) / spec_bytes_of_value +
                          std::int64_t(run.search.plan().known.size()) * of_each;
    for (const search::Trial& trial : run.search.trials())
        values += of_each + std::int64_t(trial.reports.size());
    return values;
}

}    // namespace

KeptRuns::Lent::Lent(KeptRuns& runs, SweepRun run, bool has_place)
    : runs_(runs), id_(run.sweep.id), run_(std::move(run)), has_place_(has_place) {}

KeptRuns::Lent::~Lent() {
    if (!has_place_) return;
    runs_.give_back(id_, is_kept_ ? std::optional(std::move(run_)) : std::nullopt);
}

void KeptRuns::Lent::keep(store::Sweep stored) {
    run_.sweep = std::move(stored);
    is_kept_ = true;
}

KeptRuns::Lent KeptRuns::borrow(store::Store& store, store::Sweep sweep) {
    struct Taken {
        KeptRuns& runs;
        const std::string id;
        bool is_mine;
        ~Taken() {
            if (is_mine) runs.give_back(id, std::nullopt);
        }
    };
    std::optional<SweepRun> run;
    Taken place{*this, sweep.id, take_place(sweep.id, run)};
    if (!run) {
        run.emplace(load_run(store, std::move(sweep)));
    } else {
        if (sweep.version < run->sweep.version) {    // somebody's step was stored after it was read
            auto stored = store::find_sweep(store, place.id);
            if (!stored) throw Error{ErrorCode::not_found, "the sweep was deleted: " + place.id};
            sweep = *std::move(stored);
        }
        catch_up(store, *run, std::move(sweep));
    }
    return {*this, *std::move(run), std::exchange(place.is_mine, false)};
}

bool KeptRuns::take_place(const std::string& sweep_id, std::optional<SweepRun>& run) {
    std::unique_lock lock(mutex_);
    const auto is_free = [&] {
        const auto found = places_.find(sweep_id);
        return found == places_.end() || !found->second.is_lent;
    };
    if (!given_back_.wait_for(lock, options_.patience, is_free)) return false;
    Place& place = places_[sweep_id];
    place.is_lent = true;
    values_ -= std::exchange(place.values, 0);
    run = std::exchange(place.run, std::nullopt);
    return true;
}

void KeptRuns::give_back(const std::string& sweep_id, std::optional<SweepRun> run) {
    {
        const std::lock_guard lock(mutex_);
        Place& place = places_.at(sweep_id);
        place.is_lent = false;
        place.used = ++uses_;
        const std::int64_t values = run ? values_of(*run) : 0;
        if (run && values <= options_.values_max) {
            place.values = values;
            values_ += values;
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
    while (values_ > options_.values_max) {
        const auto oldest = std::ranges::min_element(places_, {}, [](const auto& each) {
            return std::pair(each.second.is_lent, each.second.used);
        });
        values_ -= oldest->second.values;
        places_.erase(oldest);
    }
}

std::int64_t KeptRuns::kept_values() const {
    const std::lock_guard lock(mutex_);
    return values_;
}

}    // namespace slipway::sweeps
