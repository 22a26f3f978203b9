// Goal: what is remembered of placements is what placement asks for, and no more than it may be.
#include "scheduler/maintenance/warm_memory.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace slipway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

WaitingJob job_of(const std::string& project, const std::string& dataset_id) {
    WaitingJob job{.job_id = "x", .core_id = {}, .due_at = {}};
    job.project = project;
    job.dataset_id = dataset_id;
    return job;
}

Instant at(int seconds) {
    return Instant{} + std::chrono::seconds{seconds};
}

TEST(WarmMemory, knows_the_newest_placement_of_each_host) {
    WarmMemory memory;
    memory.placed(job_of("a", "ds_1"), "sun", at(1));
    memory.placed(job_of("a", "ds_1"), "moon", at(2));
    memory.placed(job_of("a", "ds_1"), "sun", at(3));
    memory.placed(job_of("a", "ds_2"), "moon", at(4));
    memory.placed(job_of("b", "ds_1"), "moon", at(5));
    memory.placed(job_of("b", ""), "moon", at(6));
    EXPECT_THAT(
        memory.places_of({job_of("a", "ds_1"), job_of("a", "ds_1")}, at(9)),
        ElementsAre(WarmPlace{"a", "ds_1", "moon", at(2)}, WarmPlace{"a", "ds_1", "sun", at(3)}));
    EXPECT_THAT(memory.places_of({job_of("c", "ds_1"), job_of("b", "")}, at(9)), IsEmpty());
}

TEST(WarmMemory, forgets_what_is_old_and_what_is_too_much) {
    WarmMemory memory;
    memory.placed(job_of("a", "ds_1"), "sun", at(0));
    EXPECT_THAT(memory.places_of({job_of("a", "ds_1")}, Instant{} + WarmMemory::kept), IsEmpty());
    for (std::size_t i = 1; i <= WarmMemory::places_max; ++i)
        memory.placed(job_of("a", fmt::format("ds_x{}", i)), "sun", at(int(i)));
    EXPECT_THAT(memory.places_of({job_of("a", "ds_1")}, at(9)), IsEmpty()) << "the oldest is gone";
    EXPECT_THAT(memory.places_of({job_of("a", "ds_x1")}, at(9)),
                ElementsAre(WarmPlace{"a", "ds_x1", "sun", at(1)}));
}

}    // namespace
}    // namespace slipway
