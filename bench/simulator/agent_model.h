#pragma once

#include <functional>
#include <map>
#include <memory>

#include "bench/simulator/process_model.h"

namespace slipway::simulator {

/// What an agent needs of the world around it.
class AgentWorld {
public:
    virtual ~AgentWorld() = default;
    virtual Tick tick() const = 0;
    /// The store, as this host reaches it now; throws Unavailable before the call, or makes the
    /// caller throw it after the call (lost_answer).
    virtual StoreModel& reach_store(const std::string& host) = 0;
    virtual bool loses_answer(const std::string& host) = 0;
    virtual ProcessModel& start_process(const std::string& host, const StoreModel::Attempt& attempt,
                                        int resumed_from) = 0;
    /// A stop frame, or SIGTERM without one; the process acts when it gets to it.
    virtual void ask(ProcessModel& process, std::optional<Intent> intent) = 0;
    virtual void kill(ProcessModel& process) = 0;
    virtual void cores_freed() = 0;
    virtual void trace(const std::string& line) = 0;
};

struct AgentTimes {
    Millis lease{10000};
    Millis renew_every{2500};
    Millis poll_every{1000};
    Millis pause_max{2000};
    WatchLimits watch{};
};

/// The agent of a host: the order of a turn of scheduler/agent/agent.cpp and the steps of its
/// AttemptReconciler, over processes that are models. How processes are watched and what an end
/// means is decided by the service's own functions (step, decide_end). A turn is cut into stages,
/// so that anything may happen between two of them.
class AgentModel {
public:
    AgentModel(std::string host, int cores, AgentTimes times, BrokenRule broken, AgentWorld& world)
        : host_(std::move(host)), cores_(cores), times_(times), broken_(broken), world_(world) {}

    /// A new process of the service begins, with what the one before has left: nothing in memory,
    /// the records of processes on the disk.
    void restart(int instance);
    /// Looks after processes; whatever the database does.
    void watch_processes();
    /// One stage of a turn; true: the turn goes on.
    bool run_stage();
    /// The next turn looks at the database.
    void wake() { reconcile_at_ = {}; }
    void lose_processes() { processes_.clear(); }

    const std::string& host() const { return host_; }
    int cores() const { return cores_; }

private:
    struct Live {
        Key key;
        ProcessModel* process = nullptr;
        std::size_t read = 0;    // frames of it
        std::int64_t frames_stored = 0;
        JobState job_state{};
        int restarts = 0;
        bool recorded = false, speaking = true, fenced = false;
        std::optional<DoneFrame> done = {};
        Watch watch = {};
        std::optional<EndCause> ended = {};
        std::string problem = {};
        std::optional<Tick> time_is_up = {};
    };
    enum class Stage { renew, look, relay, finish, reconcile, rest };

    template <class Call>
    auto call(const Call& call);
    void renew();
    void reconcile();
    void begin(const StoreModel::Attempt& found);
    void start(const StoreModel::Attempt& found, Live& live);
    void update(const StoreModel::Attempt& found, Live& live);
    void relay();
    void relay_one(Live& live);
    void finish();
    void finish_one(Live& live);
    void act(Live& live, const WatchEvent& event);
    void give_up(Live& live);
    void end_forgotten(const std::vector<StoreModel::Attempt>& found);
    void run(Stage stage);

    const std::string host_;
    const int cores_;
    const AgentTimes times_;
    const BrokenRule broken_;
    AgentWorld& world_;
    std::map<Key, ProcessModel*> processes_;    // the records on the disk; the world owns them
    // In memory from here on.
    int instance_ = 0;
    bool registered_ = false;
    bool reconciled_ = false;
    Stage stage_ = Stage::renew;
    Tick renew_at_{}, reconcile_at_{}, not_before_{};
    Millis pause_{0};
    std::map<Key, Live> live_;
};

}    // namespace slipway::simulator
