#include "bench/simulator/stimulus.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace slipway::simulator {

namespace {

using Millis = std::chrono::milliseconds;
using std::chrono::seconds;

class Draw {
public:
    explicit Draw(std::uint64_t seed) : random_(seed) {}
    /// From `least` to `most`.
    int between(int least, int most) {
        return least + int(random_() % std::uint64_t(most - least + 1));
    }
    bool one_in(int count) { return between(1, count) == 1; }
    Millis time(Millis most) {
        return Millis(std::int64_t(random_() % std::uint64_t(most.count())));
    }

private:
    std::mt19937_64 random_;
};

JobShape draw_shape(Draw& draw) {
    JobShape shape{.project = draw.between(0, 2),
                   .class_rank = draw.between(0, 3),
                   .preemptible = !draw.one_in(4),
                   .restarts_max = draw.between(0, 4),
                   .steps = draw.between(1, 12),
                   .step_s = draw.between(1, 20),
                   .save_every = draw.between(1, 4)};
    if (draw.one_in(3)) shape.cores = draw.one_in(2) ? 8 : draw.between(2, 7);
    if (shape.cores == 1 && draw.one_in(5)) shape.core_id = draw.between(1, 8);
    if (draw.one_in(4)) shape.max_wall_s = draw.between(20, 400);
    if (draw.one_in(10)) shape.start_after_s = draw.between(1, 300);
    if (draw.one_in(12)) shape.valid_for_s = draw.between(1, 200);
    if (draw.one_in(5)) shape.crash_at = draw.between(1, shape.steps);
    shape.always_crashes = shape.crash_at && draw.one_in(4);
    shape.hangs = shape.crash_at && draw.one_in(3);
    shape.fails = draw.one_in(12);
    shape.is_deaf = draw.one_in(10);
    return shape;
}

/// How often each comes, of all faults together, and how long it lasts at most.
struct FaultRow {
    Happening what;
    int weight;
    Millis lasts_max;
};

constexpr FaultRow fault_rows[] = {
    {Happening::cancel, 4, Millis(1)},
    {Happening::kill, 2, Millis(1)},
    {Happening::pause, 5, seconds(120)},
    {Happening::drain, 4, seconds(200)},
    {Happening::join, 2, Millis(1)},
    {Happening::service_crash, 4, seconds(90)},
    {Happening::service_freeze, 5, seconds(60)},
    {Happening::machine_crash, 3, seconds(120)},
    {Happening::machine_freeze, 4, seconds(60)},
    {Happening::executor_crash, 4, Millis(1)},
    {Happening::executor_freeze, 3, seconds(40)},
    {Happening::network_cut, 4, seconds(60)},
    {Happening::database_down, 3, seconds(30)},
    {Happening::database_slow, 3, seconds(60)},
    {Happening::answers_lost, 3, seconds(60)},
    {Happening::notifications_lost, 2, seconds(200)},
    {Happening::clock_jump, 2, Millis(1)},
};

Stimulus draw_fault(Draw& draw, const Scenario& scenario) {
    int weights = 0;
    for (const FaultRow& row : fault_rows)
        weights += row.weight;
    int left = draw.between(1, weights);
    const FaultRow* row = fault_rows;
    while ((left -= row->weight) > 0)
        ++row;
    Stimulus fault{.at = draw.time(scenario.active),
                   .what = row->what,
                   .who = draw.between(0, 30),
                   .lasts = draw.time(row->lasts_max),
                   .amount = draw.between(1, 8)};
    if (fault.what == Happening::clock_jump)
        fault.amount = draw.between(1, 3600) * (draw.one_in(2) ? 1 : -1);
    return fault;
}

/// What comes while the jobs before are awaited: more than the hosts can do, all of it less urgent.
void add_background(Draw& draw, Scenario& scenario) {
    Millis at = scenario.active;
    for (int i = 0; i < 40; ++i) {
        at += Millis(draw.between(500, 8000));
        scenario.stimuli.push_back({.at = at,
                                    .what = Happening::submit,
                                    .shape = {.project = draw.between(0, 2),
                                              .class_rank = 4,
                                              .cores = draw.one_in(4) ? 8 : 1,
                                              .preemptible = draw.one_in(2),
                                              .steps = draw.between(1, 4),
                                              .step_s = draw.between(1, 15),
                                              .is_background = true}});
    }
}

}    // namespace

Scenario make_scenario(std::uint64_t seed) {
    Draw draw(seed);
    Scenario scenario{.seed = seed, .hosts = {8}, .active = seconds(draw.between(200, 900))};
    for (int more = draw.between(0, 3); more > 0; --more)
        scenario.hosts.push_back(draw.one_in(2) ? 8 : draw.between(1, 8));
    scenario.hosts_at_begin = draw.between(1, int(scenario.hosts.size()));
    for (int jobs = draw.between(3, 20); jobs > 0; --jobs)
        scenario.stimuli.push_back({.at = draw.time(scenario.active),
                                    .what = Happening::submit,
                                    .shape = draw_shape(draw)});
    for (int faults = draw.between(0, 30); faults > 0; --faults)
        scenario.stimuli.push_back(draw_fault(draw, scenario));
    add_background(draw, scenario);
    std::ranges::stable_sort(scenario.stimuli, {}, &Stimulus::at);
    for (std::size_t i = 0; i < scenario.stimuli.size(); ++i)
        scenario.stimuli[i].id = int(i);
    return scenario;
}

std::string describe(const Stimulus& stimulus) {
    const JobShape& shape = stimulus.shape;
    std::string text =
        fmt::format("at {:.1f} s {}", double(stimulus.at.count()) / 1000, to_string(stimulus.what));
    if (stimulus.what == Happening::submit)
        return text +
               fmt::format(": class {} cores {} steps {} of {} s saved every {}{}{}{}{}{}",
                           shape.class_rank, shape.cores, shape.steps, shape.step_s,
                           shape.save_every,
                           shape.crash_at ? fmt::format(" crash at {}", *shape.crash_at) : "",
                           shape.always_crashes ? " always" : "", shape.hangs ? " hangs" : "",
                           shape.fails ? " fails" : "", shape.is_deaf ? " deaf" : "");
    return text + fmt::format(" {} for {:.1f} s ({})", stimulus.who,
                              double(stimulus.lasts.count()) / 1000, stimulus.amount);
}

}    // namespace slipway::simulator
