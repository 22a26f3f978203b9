#include "scheduler/store/checkpoints.h"

#include <gmock/gmock.h>

#include "tests/scheduler/store/samples.h"

namespace slipway::store {

namespace {

using ::testing::ElementsAre;

class Checkpoints : public StoreTest {
protected:
    std::string commit(const AttemptKey& key, std::int64_t number, std::int64_t step) {
        RelayedFrame frame;
        frame.number = number;
        frame.checkpoint = RelayedCheckpoint{.id = new_id("ckp"),
                                             .name = fmt::format("step_{}", step),
                                             .step = step,
                                             .epoch = 2,
                                             .kinds = {"last", "best"},
                                             .files = R"([{"name": "weights"}])",
                                             .bytes = 77,
                                             .metric_name = "val_loss",
                                             .metric_value = 0.125};
        relay_frames(store, key, {frame});
        return frame.checkpoint->id;
    }
};

TEST_F(Checkpoints, are_kept_as_they_were_relayed) {
    const AttemptKey key = running_job();
    const std::string id = commit(key, 3, 10);
    const Checkpoint checkpoint = find_checkpoint(store, id).value();
    EXPECT_EQ(checkpoint.job_id, key.job_id);
    EXPECT_EQ(checkpoint.project, "default");
    EXPECT_EQ(checkpoint.attempt, 1);
    EXPECT_EQ(checkpoint.step, 10);
    EXPECT_THAT(checkpoint.kinds, ElementsAre("last", "best"));
    EXPECT_EQ(checkpoint.files, R"([{"name": "weights"}])");
    EXPECT_EQ(checkpoint.bytes, 77);
    EXPECT_EQ(checkpoint.metric_value, 0.125);
    EXPECT_FALSE(checkpoint.deleted_at || checkpoint.pinned);
    EXPECT_FALSE(find_checkpoint(store, new_id("ckp")));
    EXPECT_FALSE(find_newest_checkpoint(store, new_id("job")));
}

TEST_F(Checkpoints, the_newest_is_the_one_with_the_highest_step) {
    const AttemptKey key = running_job();
    commit(key, 3, 10);
    const std::string newest = commit(key, 4, 30);
    commit(key, 5, 20);
    EXPECT_EQ(find_newest_checkpoint(store, key.job_id)->id, newest);
}

TEST_F(Checkpoints, what_a_job_may_need_is_not_deleted) {
    const AttemptKey key = running_job();
    const std::string old = commit(key, 3, 10);
    const std::string newest = commit(key, 4, 20);
    EXPECT_EQ(code_of([&] { delete_checkpoint(store, newest); }), ErrorCode::conflict);
    EXPECT_TRUE(pin_checkpoint(store, old, true)->pinned);
    EXPECT_EQ(code_of([&] { delete_checkpoint(store, old); }), ErrorCode::conflict);
    EXPECT_FALSE(pin_checkpoint(store, old, false)->pinned);
    EXPECT_TRUE(delete_checkpoint(store, old));
    EXPECT_TRUE(delete_checkpoint(store, old));    // again
    EXPECT_TRUE(find_checkpoint(store, old)->deleted_at);
    EXPECT_FALSE(delete_checkpoint(store, new_id("ckp")));
    EXPECT_FALSE(pin_checkpoint(store, new_id("ckp"), true));

    finish_attempt(store, key, {.exit_kind = "failed", .job_state = JobState::failed});
    EXPECT_TRUE(delete_checkpoint(store, newest));
    EXPECT_FALSE(find_newest_checkpoint(store, key.job_id));
    EXPECT_EQ(list_garbage(store).size(), 2U);
}

TEST_F(Checkpoints, lists_are_narrowed_and_paged) {
    const AttemptKey key = running_job();
    const std::string first = commit(key, 3, 10);
    const std::string second = commit(key, 4, 20);
    const std::string third = commit(key, 5, 30);
    delete_checkpoint(store, first);
    const auto ids = [&](const CheckpointFilter& filter) {
        std::vector<std::string> found;
        PageRequest page{.limit = 1};
        do {
            const Page<Checkpoint> part = list_checkpoints(store, filter, page);
            for (const Checkpoint& checkpoint : part.items)
                found.push_back(checkpoint.id);
            page.cursor = part.next_cursor;
        } while (!page.cursor.empty());
        return found;
    };
    EXPECT_THAT(ids({}), ElementsAre(third, second));
    EXPECT_THAT(ids({.job_id = key.job_id, .deleted_too = true}),
                ElementsAre(third, second, first));
    EXPECT_THAT(ids({.job_id = new_id("job")}), ElementsAre());
    EXPECT_THAT(ids({.project = "other"}), ElementsAre());
}

}    // namespace

}    // namespace slipway::store
