#include "server/http/gathering_lane.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <string>

#include "tests/support/eventually.h"

namespace slipway {

namespace {

/// Adds up what its handlers leave, and waits where a test says so.
struct Adder : Gathering {
    struct Shared {
        std::atomic<int> sum = 0;
        std::atomic<int> runs = 0;
        std::atomic<int> largest_run = 0;
        std::function<void()> before_run = [] {};
    };

    explicit Adder(Shared& shared_) : shared(shared_) {}

    void join(Gathering& other) override {
        left += std::exchange(dynamic_cast<Adder&>(other).left, 0);
    }

    void run() noexcept override {
        shared.before_run();
        ++shared.runs;
        shared.sum += left;
        shared.largest_run = std::max(shared.largest_run.load(), left);
    }

    Shared& shared;
    int left = 0;
};

class Gathered : public testing::Test {
protected:
    ~Gathered() override { end(); }

    /// Before the lanes go: their threads use them.
    void end() {
        go_on();
        threads.stop();    // the timers
        threads.join();
    }

    void add(int value = 1) {
        lane.add({.handle =
                      [this, value](Gathering& gathering) {
                          dynamic_cast<Adder&>(gathering).left += value;
                          ++handled;
                      },
                  .answer = [this] { ++answered; },
                  .done = [this] { ++done; }});
    }

    /// The first run waits until go_on().
    void hold_first_run() {
        shared.before_run = [this, first = std::make_shared<std::atomic<bool>>(true)] {
            if (first->exchange(false)) gate.wait();
        };
    }

    void go_on() {
        if (!gone_on.exchange(true)) gate.count_down();
    }

    std::latch gate{1};
    std::atomic<bool> gone_on = false;
    std::atomic<int> handled = 0;
    std::atomic<int> answered = 0;
    std::atomic<int> done = 0;
    Adder::Shared shared;
    asio::thread_pool threads{4};
    GatheringLane lane{threads,
                       [this] { return std::make_unique<Adder>(shared); },
                       {.requests_max = 64, .overlap_min = 4, .patience = std::chrono::hours{1}}};
};

TEST_F(Gathered, one_alone_is_handled_run_and_answered) {
    add(5);
    EXPECT_TRUE(eventually([&] { return done == 1; }));
    EXPECT_EQ(handled, 1);
    EXPECT_EQ(answered, 1);
    EXPECT_EQ(shared.sum, 5);
}

TEST_F(Gathered, those_who_come_meanwhile_are_handled_at_once_and_run_together) {
    hold_first_run();
    add();
    EXPECT_TRUE(eventually([&] { return handled == 1; }));
    for (int i = 0; i < 40; ++i)
        add();
    EXPECT_TRUE(eventually([&] { return handled >= 38; })) << "beside the run that waits";
    EXPECT_EQ(answered, 0);
    go_on();
    EXPECT_TRUE(eventually([&] { return done == 41; }));
    EXPECT_EQ(shared.sum, 41);
    EXPECT_LE(shared.runs, 3);
    EXPECT_GE(shared.largest_run, 37) << "one of those handled was the first";
}

TEST_F(Gathered, a_few_wait_for_the_run_that_is_under_way) {
    hold_first_run();
    add();
    EXPECT_TRUE(eventually([&] { return handled == 1; }));
    add();
    add();
    go_on();
    EXPECT_TRUE(eventually([&] { return done == 3; }));
}

class PatientGathered : public Gathered {
protected:
    ~PatientGathered() override { end(); }

    GatheringLane patient{
        threads,
        [this] { return std::make_unique<Adder>(shared); },
        {.requests_max = 64, .overlap_min = 4, .patience = std::chrono::milliseconds{5}}};

    void add_patiently() {
        patient.add({.handle = [](Gathering& gathering) { ++dynamic_cast<Adder&>(gathering).left; },
                     .answer = [] {},
                     .done = [this] { ++done; }});
    }
};

// The first run never ends by itself: a lock in the database that somebody holds.
TEST_F(PatientGathered, a_run_that_is_late_holds_up_only_its_own) {
    hold_first_run();
    add_patiently();
    EXPECT_TRUE(eventually([&] {
        add_patiently();
        return done >= 10;
    }));
    go_on();
}

TEST_F(Gathered, every_request_is_answered_once) {
    std::vector<std::jthread> clients;
    for (int client = 0; client < 8; ++client)
        clients.emplace_back([&] {
            for (int i = 0; i < 500; ++i)
                add();
        });
    clients.clear();
    EXPECT_TRUE(eventually([&] { return done == 4000; }));
    EXPECT_EQ(handled, 4000);
    EXPECT_EQ(answered, 4000);
    EXPECT_EQ(shared.sum, 4000);
}

}    // namespace

}    // namespace slipway
