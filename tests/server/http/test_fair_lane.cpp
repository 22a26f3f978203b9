// Goal: a client with many requests leaves threads and places of the queue to others.
#include "server/http/fair_lane.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "tests/server/http/sample_server.h"
#include "tests/support/eventually.h"

namespace slipway {
namespace {

class FairLanes : public testing::Test {
protected:
    ~FairLanes() override {
        gate.open();
        threads.join();
    }

    bool add(FairLane::Client client) {
        return lane.add(client, [this, client](bool) {
            {
                const std::lock_guard lock(mutex);
                begun.push_back(client);
            }
            gate.wait();
        });
    }

    std::vector<FairLane::Client> begun_now() {
        const std::lock_guard lock(mutex);
        return begun;
    }

    Gate gate;
    std::mutex mutex;
    std::vector<FairLane::Client> begun;    // guarded by mutex
    asio::thread_pool threads{8};
    FairLane lane{threads, {.threads = 8, .of_client = 8, .waiting = 16}};
};

TEST_F(FairLanes, a_client_holds_as_many_threads_as_it_leaves_free) {
    for (int i = 0; i < 8; ++i)
        EXPECT_TRUE(add(1));
    gate.wait_for_visitors(4);
    for (int i = 0; i < 3; ++i)
        EXPECT_TRUE(add(2));
    gate.wait_for_visitors(6);
    EXPECT_TRUE(add(3));
    gate.wait_for_visitors(7);
    EXPECT_TRUE(add(4));
    gate.wait_for_visitors(8);
    EXPECT_EQ(begun_now(), (std::vector<FairLane::Client>{1, 1, 1, 1, 2, 2, 3, 4}));
    gate.open();
    EXPECT_TRUE(eventually([&] { return begun_now().size() == 13; })) << "none is forgotten";
}

TEST_F(FairLanes, a_client_holds_as_many_places_of_the_queue_as_it_leaves_free) {
    int taken = 0;
    while (add(1))
        ++taken;
    EXPECT_EQ(taken, 4 + 8);
    int of_another = 0;
    while (add(2))
        ++of_another;
    EXPECT_EQ(of_another, 2 + 4);
    EXPECT_FALSE(add(1));
}

TEST(FairLane, a_client_has_no_more_threads_than_its_limit) {
    asio::thread_pool threads{8};
    FairLane lane(threads, {.threads = 8, .of_client = 2, .waiting = 16});
    Gate gate;
    std::atomic<int> waited_for = 0;
    for (int i = 0; i < 3; ++i)
        lane.add(1, [&](bool waited) {
            waited_for += waited;
            gate.wait();
        });
    gate.wait_for_visitors(2);
    gate.open();
    threads.join();
    EXPECT_EQ(waited_for, 1);
}

TEST(FairLane, requests_of_one_thread_are_handled_in_their_order) {
    asio::thread_pool threads{1};
    FairLane lane(threads, {.threads = 1, .of_client = 1, .waiting = 16});
    Gate gate;
    std::vector<int> order;    // of the only thread
    lane.add(1, [&](bool waited) {
        EXPECT_FALSE(waited);
        gate.wait();
    });
    gate.wait_for_visitors(1);
    for (const int client : {1, 1, 2, 3, 2})
        lane.add(FairLane::Client(client), [&order, client](bool waited) {
            EXPECT_TRUE(waited);
            order.push_back(client);
        });
    gate.open();
    threads.join();
    EXPECT_EQ(order, (std::vector{1, 1, 2, 3, 2})) << "one at a time, the oldest first";
}

}    // namespace
}    // namespace slipway
