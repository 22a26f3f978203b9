#include "api/base/id.h"

#include <gtest/gtest.h>

#include <set>

namespace slipway {
namespace {

/// Time as a test says it.
class SetClock final : public Clock {
public:
    explicit SetClock(std::int64_t milliseconds)
        : SetClock(std::chrono::milliseconds(milliseconds)) {}
    explicit SetClock(std::chrono::microseconds time) : now_(time) {}
    Instant now() const override { return now_; }
    Tick tick() const override { return {}; }

private:
    Instant now_;
};

TEST(Id, is_of_its_kind_and_of_no_other) {
    const std::string id = new_id("job");
    EXPECT_TRUE(is_id("job", id)) << id;
    EXPECT_FALSE(is_id("ds", id));
    EXPECT_FALSE(is_id("job", id + "0"));
    EXPECT_FALSE(is_id("job", id.substr(0, id.size() - 1)));
}

TEST(Id, nothing_but_the_alphabet_passes) {
    const std::string id = new_id("job");
    for (const char bad : {'/', '.', '\'', ' ', '\0', 'I', 'u', '%', '\n'}) {
        std::string wrong = id;
        wrong[10] = bad;
        EXPECT_FALSE(is_id("job", wrong)) << wrong;
    }
}

TEST(Id, sorts_by_the_time_of_making) {
    std::string before = new_id("job", SetClock(0));
    for (const std::int64_t milliseconds : {1LL, 31LL, 32LL, 1LL << 20, 1LL << 40}) {
        const std::string after = new_id("job", SetClock(milliseconds));
        EXPECT_LT(before, after);
        before = after;
    }
}

TEST(Id, sorts_within_a_millisecond) {
    using namespace std::chrono_literals;
    std::string before = new_id("job", SetClock(7ms));
    for (const auto later : {1us, 2us, 500us, 999us, 1000us}) {
        const std::string after = new_id("job", SetClock(7ms + later));
        EXPECT_LT(before, after);
        before = after;
    }
}

TEST(Id, ids_of_one_moment_differ) {
    std::set<std::string> ids;
    for (int i = 0; i < 1000; ++i)
        ids.insert(new_id("job", SetClock(5)));
    EXPECT_EQ(ids.size(), 1000U);
}

TEST(RandomHex, has_two_digits_per_byte) {
    EXPECT_EQ(random_hex(16).size(), 32U);
    EXPECT_NE(random_hex(16), random_hex(16));
    EXPECT_EQ(random_hex(8).find_first_not_of("0123456789abcdef"), std::string::npos);
}

}    // namespace
}    // namespace slipway
