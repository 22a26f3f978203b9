#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <functional>
#include <latch>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "api/protocol/slice_memory.h"
#include "executor/collectives/library/join.h"
#include "executor/runtime/reduction_tree.h"
#include "executor/tensor/bfloat16.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

using std::chrono::steady_clock;
using testing::AllOf;
using testing::HasSubstr;

/// Members that are threads of this process, each with a connection of its own over loopback, and
/// with memory that they share or without.
class Members : public testing::TestWithParam<bool> {
protected:
    /// As executors do: a connection whose other end is gone is written to.
    void SetUp() override { std::signal(SIGPIPE, SIG_IGN); }

    MemberOrder order_of(int rank, int count) {
        MemberOrder order{.rank = rank,
                          .hosts = {},
                          .rendezvous_folder = folder_.path() / "rendezvous",
                          .secret = "of this attempt",
                          .bind_address = "127.0.0.1",
                          .timeout_s = 20,
                          .shared_memory = memory_.get()};
        for (int i = 0; i < count; ++i)
            order.hosts.push_back("host-" + std::to_string(i));
        return order;
    }

    using Work = std::function<void(Member& member)>;
    using Change = std::function<void(MemberOrder& order)>;

    /// What ended each rank; empty: nothing. Each runs `work`.
    std::vector<std::string> run(int count, const Work& work, const Change& change = {}) {
        if (GetParam()) memory_ = make_slice_memory(count);
        std::vector<std::string> errors(static_cast<std::size_t>(count));
        std::vector<std::jthread> threads;
        for (int rank = 0; rank < count; ++rank)
            threads.emplace_back([&, rank] {
                MemberOrder order = order_of(rank, count);
                if (change) change(order);
                try {
                    const std::unique_ptr<Member> member = join_members(order);
                    work(*member);
                } catch (const MemberLost& lost) {
                    errors[std::size_t(rank)] = lost.what();
                }
            });
        threads.clear();
        return errors;
    }

    TempFolder folder_;
    UniqueFd memory_;
};

INSTANTIATE_TEST_SUITE_P(, Members, testing::Bool(), [](const auto& each) {
    return each.param ? "over_shared_memory" : "over_sockets";
});

class MembersWithoutMemory : public Members {};
INSTANTIATE_TEST_SUITE_P(, MembersWithoutMemory, testing::Values(false),
                         [](const auto&) { return "over_sockets"; });

class MembersWithMemory : public Members {};
INSTANTIATE_TEST_SUITE_P(, MembersWithMemory, testing::Values(true),
                         [](const auto&) { return "over_shared_memory"; });

template <class T>
std::span<std::byte> bytes_of(std::vector<T>& values) {
    return std::as_writable_bytes(std::span(values));
}

/// Numbers of many magnitudes: another order of additions gives other bits.
std::vector<float> random_values(int rank, std::size_t count) {
    std::mt19937_64 random(std::uint64_t(rank) + 17);
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<float> values(count);
    for (float& value : values)
        value = uniform(random) * std::exp2(float(random() % 20));
    return values;
}

std::vector<float> tree_of(int ranks, std::size_t count, Combine how) {
    std::vector<std::vector<float>> values;
    std::vector<std::byte*> roots;
    for (int rank = 0; rank < ranks; ++rank)
        values.push_back(random_values(rank, count));
    for (std::vector<float>& each : values)
        roots.push_back(bytes_of(each).data());
    combine_roots({0, how}, DType::f32, roots, 0, std::int64_t(count));
    return values[0];
}

std::vector<std::uint32_t> bits(const std::vector<float>& values) {
    std::vector<std::uint32_t> all;
    for (const float value : values)
        all.push_back(std::bit_cast<std::uint32_t>(value));
    return all;
}

const std::vector<std::string> no_errors_of(int count) {
    return std::vector<std::string>(static_cast<std::size_t>(count));
}

TEST_P(Members, all_know_how_sums_travel) {
    const auto errors =
        run(3, [](Member& member) { EXPECT_EQ(member.adds_in_shared_memory(), GetParam()); });
    EXPECT_EQ(errors, no_errors_of(3));
}

/// Shards of values that lie one after the other.
std::vector<std::span<std::byte>> shards_of(std::vector<float>& values,
                                            const std::vector<std::size_t>& lengths) {
    std::vector<std::span<std::byte>> shards;
    std::size_t begin = 0;
    for (const std::size_t length : lengths) {
        shards.push_back(bytes_of(values).subspan(begin * sizeof(float), length * sizeof(float)));
        begin += length;
    }
    return shards;
}

// Goal: each rank's shard has the bits of the tree, and after the gather all ranks have all shards.
// Method: uneven and empty shards, some larger than the memory takes at once; whole sums in
// between.
TEST_P(Members, the_halves_of_an_all_reduce_add_as_it_does) {
    const std::vector<std::vector<std::size_t>> layouts{
        {5000, 64, 0}, {0, 0, 1}, {2'500'000, 1'300'003, 2'500'000}, {1, 2, 3}};
    const auto errors = run(3, [&](Member& member) {
        for (const auto& lengths : layouts) {
            const std::size_t count = std::reduce(lengths.begin(), lengths.end());
            const std::vector<float> tree = tree_of(3, count, Combine::add);
            std::vector<float> values = random_values(member.rank(), count);
            const auto shards = shards_of(values, lengths);
            member.reduce_scatter(Combine::add, DType::f32, shards);
            for (std::size_t rank = 0; rank < shards.size(); ++rank)
                if (int(rank) != member.rank()) std::ranges::fill(shards[rank], std::byte{0xFF});
            std::vector<float> small = random_values(member.rank(), 100);
            member.all_reduce(Combine::add, DType::f32, bytes_of(small));
            member.gather_shards(shards);
            EXPECT_TRUE(bits(values) == bits(tree)) << count << " elements";
            EXPECT_EQ(bits(small), bits(tree_of(3, 100, Combine::add)));
        }
    });
    EXPECT_EQ(errors, no_errors_of(3));
}

// Goal: the sum of all ranks has the bits of the fixed tree, whatever way its bytes took.
// Method: sizes below and above the limit of what is sent whole, slices that are empty and uneven.
TEST_P(Members, all_reduce_adds_in_the_order_of_the_tree) {
    for (const int ranks : {2, 3, 4}) {
        const auto errors = run(
            ranks,
            [&](Member& member) {
                for (const std::size_t count : {1, 63, 4096, 4097, 70'001})
                    for (const Combine how : {Combine::add, Combine::maximum}) {
                        std::vector<float> values = random_values(member.rank(), count);
                        member.all_reduce(how, DType::f32, bytes_of(values));
                        EXPECT_EQ(bits(values), bits(tree_of(ranks, count, how)))
                            << count << " elements, rank " << member.rank() << " of " << ranks;
                    }
            },
            [&](MemberOrder& order) { order.rendezvous_folder += std::to_string(ranks); });
        EXPECT_EQ(errors, no_errors_of(ranks));
    }
}

// Goal: the same of bf16, which is added in f32 and rounded once.
TEST_P(Members, all_reduce_adds_bf16_in_f32) {
    const auto narrowed = [](const std::vector<float>& values) {
        std::vector<BFloat16> all;
        for (const float value : values)
            all.emplace_back(value);
        return all;
    };
    for (const int ranks : {2, 4}) {
        const auto errors = run(
            ranks,
            [&](Member& member) {
                for (const std::size_t count : {1, 63, 8193, 70'001}) {
                    std::vector<std::vector<float>> wide;
                    std::vector<std::byte*> roots;
                    for (int rank = 0; rank < ranks; ++rank) {
                        std::vector<float>& each = wide.emplace_back();
                        for (const BFloat16 value : narrowed(random_values(rank, count)))
                            each.push_back(value);
                    }
                    for (std::vector<float>& each : wide)
                        roots.push_back(bytes_of(each).data());
                    std::vector<BFloat16> values = narrowed(wide[std::size_t(member.rank())]);
                    combine_roots({0, Combine::add}, DType::f32, roots, 0, std::int64_t(count));
                    member.all_reduce(Combine::add, DType::bf16, bytes_of(values));
                    const std::vector<BFloat16> expected = narrowed(wide[0]);
                    for (std::size_t i = 0; i < count; ++i)
                        ASSERT_EQ(values[i].bits(), expected[i].bits()) << i << " of " << count;
                }
            },
            [&](MemberOrder& order) { order.rendezvous_folder += std::to_string(ranks); });
        EXPECT_EQ(errors, no_errors_of(ranks));
    }
}

// Goal: values that are larger than the memory that is shared are added part by part.
TEST_P(Members, all_reduce_of_many_megabytes_has_the_bits_of_the_tree) {
    const std::vector<float> expected = tree_of(2, 4'500'003, Combine::add);
    const auto errors = run(2, [&](Member& member) {
        std::vector<float> values = random_values(member.rank(), expected.size());
        member.all_reduce(Combine::add, DType::f32, bytes_of(values));
        EXPECT_EQ(std::memcmp(values.data(), expected.data(), bytes_of(values).size()), 0);
    });
    EXPECT_EQ(errors, no_errors_of(2));
}

// Goal: operations of both kinds may follow each other in any order, and the halves of the memory
// are not written over before all have read them.
TEST_P(Members, many_sums_of_many_sizes_follow_each_other) {
    const auto errors = run(3, [](Member& member) {
        std::mt19937 random(7);    // the same sizes in all
        for (int i = 0; i < 300; ++i) {
            std::vector<std::int32_t> values(1 + random() % 20'000, member.rank() + i);
            member.all_reduce(Combine::add, DType::i32, bytes_of(values));
            ASSERT_EQ(values, std::vector<std::int32_t>(values.size(), 3 + 3 * i)) << i;
            if (i % 50 == 0) member.barrier("round");
        }
    });
    EXPECT_EQ(errors, no_errors_of(3));
}

TEST_P(Members, integers_wrap_around) {
    const auto errors = run(2, [](Member& member) {
        std::vector<std::int64_t> values(3000, std::int64_t{1} << 62);
        member.all_reduce(Combine::add, DType::i64, bytes_of(values));
        EXPECT_EQ(values, std::vector<std::int64_t>(3000, std::int64_t(std::uint64_t{1} << 63)));
    });
    EXPECT_EQ(errors, no_errors_of(2));
}

TEST_P(Members, everybody_gets_what_one_or_all_gave) {
    const auto errors = run(3, [](Member& member) {
        EXPECT_EQ(member.count(), 3);
        EXPECT_EQ(member.name_of(2), "rank 2 (host-2)");
        std::vector<int> one(100, member.rank());
        member.broadcast(1, bytes_of(one), "settings");
        EXPECT_EQ(one, std::vector<int>(100, 1));
        std::vector<int> mine{member.rank(), 7}, all(6);
        member.all_gather(bytes_of(mine), bytes_of(all), "numbers");
        EXPECT_EQ(all, (std::vector<int>{0, 7, 1, 7, 2, 7}));
    });
    EXPECT_EQ(errors, no_errors_of(3));
}

// Goal: who does not come in time is named, by rank, host and phase, to everybody who waits.
TEST_P(Members, a_time_limit_says_who_is_missing_where) {
    const auto errors = run(
        4,
        [](Member& member) {
            member.barrier("start");
            std::vector<float> values(9000, 1);
            if (member.rank() < 2)
                return member.all_reduce(Combine::add, DType::f32, bytes_of(values));
            // Stays connected and does not come.
            std::this_thread::yield();
            const auto until = steady_clock::now() + std::chrono::seconds(3);
            while (steady_clock::now() < until)
                std::this_thread::yield();
        },
        [](MemberOrder& order) { order.timeout_s = 1; });
    const std::string expected =
        "rank 2 (host-2) and rank 3 (host-3) did not come to all_reduce within 1 s";
    EXPECT_EQ(errors, (std::vector<std::string>{expected, expected, "", ""}));
}

TEST_P(Members, a_barrier_waits_longer_for_who_says_that_it_is_busy) {
    const auto errors = run(
        3,
        [](Member& member) {
            member.busy();
            if (member.rank() == 1) {
                const auto until = steady_clock::now() + std::chrono::seconds(3);
                while (steady_clock::now() < until)
                    std::this_thread::yield();
            }
            member.barrier("compiled");
            member.barrier("again");
            std::vector<float> values(10, 1);
            member.all_reduce(Combine::add, DType::f32, bytes_of(values));
            EXPECT_EQ(values[0], 3);
        },
        [](MemberOrder& order) { order.timeout_s = 1; });
    EXPECT_EQ(errors, no_errors_of(3));
}

TEST_P(Members, who_has_ended_is_named_at_once) {
    const auto begin = steady_clock::now();
    const auto errors = run(3, [](Member& member) {
        member.barrier("start");
        if (member.rank() == 2) return;
        std::vector<float> values(100'000, 1);
        member.all_reduce(Combine::add, DType::f32, bytes_of(values));
    });
    for (const int rank : {0, 1})
        EXPECT_THAT(errors[std::size_t(rank)], HasSubstr("rank 2 (host-2) was lost at all_reduce"));
    EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(15)) << "the time limit is 20 s";
}

// Goal: a late member of a lower rank does not hide that a higher one is lost.
// Method: rank 0 comes only when rank 1 has named rank 2, which has ended.
TEST_P(Members, a_late_one_does_not_hide_who_has_ended) {
    const auto begin = steady_clock::now();
    std::latch is_named(1);
    const auto errors = run(3, [&](Member& member) {
        member.barrier("start");
        if (member.rank() == 2) return;
        if (member.rank() == 0) return is_named.wait();
        std::vector<float> values(100'000, 1);
        try {
            member.all_reduce(Combine::add, DType::f32, bytes_of(values));
        } catch (const MemberLost&) {
            is_named.count_down();
            throw;
        }
        is_named.count_down();
    });
    EXPECT_THAT(errors[1], HasSubstr("rank 2 (host-2) was lost at all_reduce"));
    EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(15)) << "the time limit is 20 s";
}

// Method: as above, at a barrier that rank 0 comes to late without a message that it is busy.
TEST_P(Members, a_late_one_does_not_hide_who_has_ended_at_a_barrier) {
    std::latch is_named(1);
    const auto begin = steady_clock::now();
    const auto errors = run(3, [&](Member& member) {
        member.barrier("start");
        if (member.rank() == 2) return;
        if (member.rank() == 0) return is_named.wait();
        try {
            member.barrier("epoch");
        } catch (const MemberLost&) {
            is_named.count_down();
            throw;
        }
        is_named.count_down();
    });
    EXPECT_THAT(errors[1], HasSubstr("rank 2 (host-2) was lost at epoch"));
    EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(15)) << "the time limit is 20 s";
}

// Goal: Gloo tells nothing to who waits for the rest of a message. Its sender is named all the
// same. Method: a process that does nothing but send, and is killed.
TEST_P(MembersWithoutMemory, one_that_is_killed_in_the_middle_of_a_message_is_named_at_once) {
    for (int round = 0; round < 3; ++round) {
        MemberOrder order = order_of(0, 2);
        order.rendezvous_folder += std::to_string(round);
        std::vector<float> values(std::size_t{64} << 20, 1);
        const auto receive_all = [&] {
            const std::unique_ptr<Member> member = join_members(order);
            while (true)
                member->broadcast(1, bytes_of(values), "the weights");
        };
        const pid_t other = fork();
        if (other == 0) {
            order.rank = 1;
            receive_all();
        }
        const auto begin = steady_clock::now();
        const std::jthread killer([&] {
            const timespec pause{.tv_sec = 0, .tv_nsec = 200'000'000 + 20'000'000L * round};
            nanosleep(&pause, nullptr);
            kill(other, SIGKILL);
        });
        try {
            receive_all();
        } catch (const MemberLost& lost) {
            EXPECT_THAT(lost.what(), HasSubstr("rank 1 (host-1) was lost at the weights"));
        }
        EXPECT_EQ(waitpid(other, nullptr, 0), other);
        EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(15)) << "the limit is 20 s";
    }
}

// Goal: who hears last names the one that was lost, and not the one that gave up because of it.
// Method: rank 1 ends, rank 0 gives up, and rank 2, which looks at rank 0 first, comes later.
TEST_P(Members, who_gives_up_says_who_was_lost) {
    std::latch has_given_up(1);
    const auto errors = run(3, [&](Member& member) {
        member.barrier("start");
        if (member.rank() == 1) return;
        if (member.rank() == 2) has_given_up.wait();
        std::vector<float> values(100'000, 1);
        try {
            member.all_reduce(Combine::add, DType::f32, bytes_of(values));
        } catch (const MemberLost&) {
            if (member.rank() == 0) has_given_up.count_down();
            throw;
        }
    });
    for (const int rank : {0, 2})
        EXPECT_THAT(errors[std::size_t(rank)], HasSubstr("rank 1 (host-1) was lost at all_reduce"));
}

TEST_P(Members, one_that_is_lost_stays_lost) {
    const auto errors = run(2, [](Member& member) {
        if (member.rank() == 1) return;
        std::vector<float> values(10, 1);
        EXPECT_THROW(member.all_reduce(Combine::add, DType::f32, bytes_of(values)), MemberLost);
        member.barrier("the next thing");
    });
    EXPECT_THAT(errors[0], HasSubstr("rank 1 (host-1) was lost at all_reduce"));
}

TEST_P(Members, members_at_different_barriers_are_told_apart) {
    const auto errors =
        run(2, [](Member& member) { member.barrier(member.rank() == 0 ? "epoch" : "checkpoint"); });
    EXPECT_THAT(errors[0], AllOf(HasSubstr("rank 1 (host-1)"), HasSubstr("epoch")));
    EXPECT_THAT(errors[1], AllOf(HasSubstr("rank 0 (host-0)"), HasSubstr("checkpoint")));
}

// Goal: where one member does not have what the others have, all of them use their connections.
// Method: no memory, another one, one that is too small, a file on a disk, and what is no file.
TEST_P(MembersWithMemory, what_one_does_not_see_is_used_by_none) {
    const UniqueFd another = make_slice_memory(3);
    const UniqueFd small(memfd_create("small", 0));
    ASSERT_EQ(ftruncate(small.get(), 4096), 0);
    folder_.write("file", std::string(std::size_t{24} << 20, '\0'));
    const UniqueFd file(open((folder_.path() / "file").c_str(), O_RDWR));
    const UniqueFd event = make_event();
    for (const int descriptor : {-1, 9999, another.get(), small.get(), file.get(), event.get()}) {
        const auto errors = run(
            3,
            [](Member& member) {
                EXPECT_FALSE(member.adds_in_shared_memory());
                std::vector<float> values(9000, 1);
                member.all_reduce(Combine::add, DType::f32, bytes_of(values));
                EXPECT_EQ(values, std::vector<float>(9000, 3));
            },
            [&](MemberOrder& order) {
                order.rendezvous_folder += std::to_string(descriptor);
                if (order.rank == 1) order.shared_memory = descriptor;
            });
        EXPECT_EQ(errors, no_errors_of(3)) << descriptor;
    }
}

TEST_P(Members, who_never_comes_to_the_rendezvous_is_named) {
    MemberOrder order = order_of(0, 3);
    order.timeout_s = 0.5;
    try {
        join_members(order);
        ADD_FAILURE() << "met members that are not there";
    } catch (const MemberLost& lost) {
        EXPECT_STREQ(lost.what(),
                     "rank 1 (host-1) and rank 2 (host-2) did not come to the rendezvous within "
                     "0.5 s");
    }
}

TEST_P(Members, another_secret_is_a_clear_error) {
    const auto errors = run(
        2, [](Member&) { ADD_FAILURE() << "members of different secrets have met"; },
        [](MemberOrder& order) { order.secret += std::to_string(order.rank); });
    EXPECT_THAT(errors[0], AllOf(HasSubstr("rank 1 (host-1)"), HasSubstr("another secret")));
    EXPECT_THAT(errors[1], AllOf(HasSubstr("rank 0 (host-0)"), HasSubstr("another secret")));
}

TEST_P(Members, a_damaged_rendezvous_file_is_named) {
    MemberOrder order = order_of(0, 2);
    for (const char* text :
         {"", "{", "[]", R"({"addresses": 3})", R"({"addresses": [], "proof": "zz"})"}) {
        folder_.write("rendezvous/1", text);
        try {
            join_members(order);
            ADD_FAILURE() << text;
        } catch (const MemberLost& lost) {
            EXPECT_THAT(lost.what(), HasSubstr("rank 1 (host-1) cannot be met")) << text;
        }
    }
}

TEST_P(Members, an_address_that_this_host_has_not_is_refused) {
    MemberOrder order = order_of(0, 2);
    for (const char* address : {"203.0.113.7", "0.0.0.0", "no address", ""}) {
        order.bind_address = address;
        try {
            join_members(order);
            ADD_FAILURE() << address;
        } catch (const MemberLost& lost) {
            EXPECT_THAT(lost.what(), HasSubstr("rank 0 (host-0) cannot be reached at its address"))
                << address;
        }
    }
}

}    // namespace
}    // namespace slipway
