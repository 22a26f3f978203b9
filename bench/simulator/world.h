#pragma once

#include <memory>
#include <queue>

#include "bench/simulator/agent_model.h"
#include "bench/simulator/server_model.h"
#include "bench/simulator/stimulus.h"

namespace slipway::simulator {

/// The service and what is around it, over simulated time: one event after the other, nothing else
/// moves. The same scenario gives the same run.
class World final : private AgentWorld {
public:
    /// `lines`: where what happens is told, or null.
    World(const Scenario& scenario, BrokenRule broken, std::vector<std::string>* lines);

    /// Until every job has ended; how long that took in simulated time. throws Violation
    std::chrono::duration<double> run();
    const Tally& tally() const { return store_.tally; }

private:
    enum class Kind { stimulus, restore, pulse, agent, server_read, server_write, process, submit };
    struct Event {
        Tick at;
        std::int64_t order;
        Kind kind;
        int who;
        int turn;
        bool operator<(const Event& other) const {
            return std::tie(other.at, other.order) < std::tie(at, order);    // the earliest first
        }
    };
    struct HostModel {
        AgentModel agent;
        std::optional<ServerModel> server;
        bool joined = false;
        int instance = 0;
        // How many faults of a kind are on.
        int down = 0, frozen = 0, cut = 0;
        bool in_turn = false;
        bool writes = false;    // its server has read and has not written
    };
    struct Run {
        ProcessModel process;
        int host;
        int turn = 0;
        int frozen = 0;
        bool is_gone = false;
    };

    // AgentWorld
    Tick tick() const override { return now_; }
    StoreModel& reach_store(const std::string& host) override;
    bool loses_answer(const std::string& host) override;
    ProcessModel& start_process(const std::string& host, const StoreModel::Attempt& attempt,
                                int resumed_from) override;
    void ask(ProcessModel& process, std::optional<Intent> intent) override;
    void kill(ProcessModel& process) override;
    void cores_freed() override;
    void trace(const std::string& line) override;

    void schedule(Millis after, Kind kind, int who, int turn = 0);
    void handle(const Event& event);
    void happen(const Stimulus& stimulus);
    void happen_to_job(const Stimulus& stimulus);
    void happen_to_host(const Stimulus& stimulus);
    void happen_to_executor(const Stimulus& stimulus);
    void restore(const Stimulus& stimulus);
    void submit(const Stimulus& stimulus);
    void join(int host);
    void run_agent(int host);
    void read_as_server(int host);
    void write_as_server(int host);
    void advance(int run);
    void freeze(Run& run, int index, int by);
    void settle_process(Run& run);
    void wake(int host);
    void calm_down();
    Millis bound() const;
    bool has_ended() const;
    void tell_who_waits();
    Run& run_of(const ProcessModel& process);
    int host_number(const std::string& name) const { return name.back() - '0'; }
    bool is_working(const HostModel& host) const {
        return host.joined && host.down == 0 && host.frozen == 0;
    }
    bool reaches_store(const HostModel& host) const { return host.cut == 0 && database_down_ == 0; }
    StoreModel& store_now();
    std::uint64_t dice();
    bool one_in(int count) { return dice() % std::uint64_t(count) == 0; }
    Millis latency();

    const Scenario& scenario_;
    std::vector<std::string>* lines_;
    Checker checker_;
    StoreModel store_;
    Tick now_{};
    Millis clock_offset_{0};
    double back_s_ = 0;    // how far the clock has gone back, all jumps together
    std::priority_queue<Event> events_;
    std::int64_t order_ = 0;
    std::uint64_t dice_;
    std::vector<std::unique_ptr<HostModel>> hosts_;
    std::vector<std::unique_ptr<Run>> runs_;
    std::map<int, int> thaw_later_;    // stimulus, run
    int database_down_ = 0, database_slow_ = 0, answers_lost_ = 0, notifications_lost_ = 0;
    bool is_calm_ = false;
    std::int64_t checked_version_ = -1;
};

}    // namespace slipway::simulator
