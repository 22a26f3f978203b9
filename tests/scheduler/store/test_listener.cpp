#include "scheduler/store/pg/listener.h"

#include <gmock/gmock.h>

#include <thread>

#include "tests/scheduler/store/samples.h"
#include "tests/support/eventually.h"

namespace slipway::store {

namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;
using namespace std::chrono_literals;

class Listening : public StoreTest {
protected:
    ~Listening() override {
        if (TempPostgres::instance().pid() == 0) TempPostgres::instance().start();
    }

    /// Waits until `topic` is heard.
    static bool hears(Listener& listener, const std::string& topic) {
        const Tick deadline = system_clock().tick() + 20s;
        while (system_clock().tick() < deadline) {
            for (const std::string& heard : listener.wait(1000ms)) {
                if (heard == topic) return true;
            }
        }
        return false;
    }
};

TEST_F(Listening, every_change_is_heard_after_its_commit) {
    Listener listener(store.options());
    EXPECT_THAT(listener.wait(10s), ElementsAre(Listener::missed));
    const std::string id = submit();
    EXPECT_TRUE(hears(listener, id));
    add_host();
    EXPECT_TRUE(hears(listener, std::string(topics::queue)));
    const AttemptKey key = place(id);
    EXPECT_TRUE(hears(listener, id));
    relay_state(key, 1, JobState::compiling);
    EXPECT_TRUE(hears(listener, id));
    store.announce("'; select 1; --");
    EXPECT_TRUE(hears(listener, "'; select 1; --"));
}

// Goal: what running jobs say wakes those who listen now and then, and what somebody may wait for
// takes it along at once.
TEST_F(Listening, jobs_wait_for_each_other_and_go_with_what_does_not_wait) {
    Listener listener(store.options());
    listener.wait(10s);
    const std::string first = new_id("job"), second = new_id("job"), third = new_id("job");
    store.announce(first);
    store.announce(second);
    const std::vector<std::string> together = listener.wait(10s);
    EXPECT_THAT(together, UnorderedElementsAre(first, second));
    store.announce(third);
    store.announce(topics::queue);
    EXPECT_THAT(listener.wait(10s), UnorderedElementsAre(third, std::string(topics::queue)));
}

TEST_F(Listening, a_wait_ends_by_time_and_by_wake) {
    Listener listener(store.options());
    listener.wait(10s);
    EXPECT_TRUE(listener.wait(20ms).empty());
    listener.wake();
    EXPECT_TRUE(listener.wait(1h).empty());
    std::jthread waker([&] { listener.wake(); });
    EXPECT_TRUE(listener.wait(1h).empty());
}

TEST_F(Listening, a_new_connection_says_that_something_may_be_missed) {
    Listener listener(store.options());
    listener.wait(10s);
    TempPostgres::instance().stop();
    EXPECT_TRUE(listener.wait(300ms).empty());
    TempPostgres::instance().start();
    EXPECT_TRUE(hears(listener, std::string(Listener::missed)));
    EXPECT_TRUE(eventually([&] {
        store.announce("hello");
        return hears(listener, "hello");
    }));
}

}    // namespace

}    // namespace slipway::store
