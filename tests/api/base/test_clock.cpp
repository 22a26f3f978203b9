#include "api/base/clock.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(Clock, an_instant_survives_its_text) {
    for (const char* text : {"2026-11-20T20:37:00.123456Z", "1970-01-01T00:00:00.000000Z",
                             "2024-02-29T23:59:59.999999Z"}) {
        EXPECT_EQ(to_rfc3339(parse_rfc3339(text).value()), text);
    }
}

TEST(Clock, the_fraction_may_be_short_or_absent) {
    EXPECT_EQ(to_rfc3339(parse_rfc3339("2026-11-20T20:37:00Z").value()),
              "2026-11-20T20:37:00.000000Z");
    EXPECT_EQ(to_rfc3339(parse_rfc3339("2026-11-20T20:37:00.5Z").value()),
              "2026-11-20T20:37:00.500000Z");
}

TEST(Clock, what_is_no_time_is_refused) {
    for (const char* text :
         {"", "Z", "2026-11-20", "2026-11-20T20:37:00", "2026-11-20T20:37:00+01:00",
          "2026-13-20T20:37:00Z", "2026-02-30T20:37:00Z", "2026-11-20T24:37:00Z",
          "2026-11-20T20:60:00Z", "2026-11-20T20:37:60Z", "2026-11-20T20:37:00.Z",
          "2026-11-20T20:37:00.1234567Z", "2026-11-20T20:37:00.12x4Z", "x026-11-20T20:37:00Z"}) {
        EXPECT_FALSE(parse_rfc3339(text)) << text;
    }
}

}    // namespace
}    // namespace slipway
