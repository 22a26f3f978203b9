// Goal: a listing is the same things in each form. Method: one listing with all that is awkward:
// commas, quotes, wide letters, nothing.
#include "api/client/listing.h"

#include <gtest/gtest.h>

namespace slipway::client {
namespace {

Listing two_jobs() {
    return {.head = {"id", "name", "state", "labels"},
            .rows = {{"1", "größer, \"so\"", "failed", "a=b"}, {"22", "–", "odd", "–"}},
            .items = Json::parse(R"([{"id": 1, "name": "x"}, {"id": 22}])"),
            .wide_count = 1};
}

TEST(Listing, a_table_is_aligned_and_leaves_wide_columns_out) {
    EXPECT_EQ(listing_text(two_jobs(), OutputForm::table, false),
              "id  name          state\n"
              "1   größer, \"so\"  failed\n"
              "22  –             odd\n");
    EXPECT_EQ(listing_text(two_jobs(), OutputForm::wide, false),
              "id  name          state   labels\n"
              "1   größer, \"so\"  failed  a=b\n"
              "22  –             odd     –\n");
}

TEST(Listing, colours_are_those_of_states_and_change_no_width) {
    EXPECT_EQ(listing_text(two_jobs(), OutputForm::wide, true),
              "id  name          state   labels\n"
              "1   größer, \"so\"  \x1b[31mfailed\x1b[0m  a=b\n"
              "22  –             odd     –\n");
}

TEST(Listing, csv_has_every_column_and_quotes_what_must_be) {
    EXPECT_EQ(listing_text(two_jobs(), OutputForm::csv, true),
              "id,name,state,labels\n"
              "1,\"größer, \"\"so\"\"\",failed,a=b\n"
              "22,,odd,\n");
}

TEST(Listing, json_is_what_the_service_named) {
    EXPECT_EQ(Json::parse(listing_text(two_jobs(), OutputForm::json, true)), two_jobs().items);
    EXPECT_EQ(listing_text(two_jobs(), OutputForm::jsonl, true),
              "{\"id\":1,\"name\":\"x\"}\n{\"id\":22}\n");
    EXPECT_EQ(listing_text({.head = {"id"}}, OutputForm::json, false), "[]\n");
    EXPECT_EQ(listing_text({.head = {"id"}}, OutputForm::table, false), "id\n");
}

}    // namespace
}    // namespace slipway::client
