#include "api/client/follow.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace slipway::client {
namespace {

TEST(Follow, events_fill_the_line) {
    JobView view;
    EXPECT_TRUE(take_event(view, {"1", "state", R"({"state":"running"})"}));
    EXPECT_TRUE(take_event(
        view, {"2", "progress",
               R"({"epoch":2,"epochs":5,"step":50,"steps_total":200,"samples_per_s":1234.4,)"
               R"("eta_s":75})"}));
    EXPECT_TRUE(take_event(view, {"3", "metric", R"({"step":50,"values":{"train_loss":0.25}})"}));
    EXPECT_TRUE(take_event(
        view, {"4", "metric", R"({"step":50,"values":{"val_loss":0.5,"val_accuracy":0.875}})"}));
    EXPECT_EQ(progress_line(view, 200),
              "running  ━━━━━───────────────  25 %  epoch 2/5  step 50/200  loss 0.2500  "
              "val loss 0.5000  val acc 0.8750  1234/s  eta 1 min 15 s");
    EXPECT_FALSE(take_event(view, {"5", "end", R"({"state":"succeeded"})"}));
    EXPECT_EQ(view.state, "succeeded");
}

TEST(Follow, the_line_shows_what_the_task_measures) {
    struct Case {
        const char* values;
        const char* says;
    };
    for (const Case& one :
         {Case{R"({"val_loss":1,"val_auc":0.75,"val_auc_sick":0.5})", "val auc 0.7500"},
          Case{R"({"val_loss":1,"val_mae":2.5,"val_r2":-0.25})", "val r2 -0.2500"},
          Case{R"({"val_loss":1,"val_mae":2.5})", "val mae 2.5000"},
          Case{R"({"val_loss":1,"val_perplexity":20})", "val ppl 20.0000"}}) {
        JobView view;
        take_event(view, {"1", "metric", fmt::format(R"({{"step":5,"values":{}}})", one.values)});
        EXPECT_EQ(progress_line(view, 200), fmt::format("queued  val loss 1.0000  {}", one.says));
        take_event(view, {"2", "metric", R"({"step":6,"values":{"train_loss":2,"val_auc":null}})"});
        EXPECT_TRUE(progress_line(view, 200).ends_with(one.says));
    }
}

TEST(Follow, events_of_other_forms_are_survived) {
    JobView view;
    for (const char* data : {"", "[]", "null", "{", R"({"state":5})", R"({"values":[1]})",
                             R"({"values":{"train_loss":null}})", R"({"step":"x"})"})
        for (const char* type : {"state", "metric", "progress", "log", "new"})
            EXPECT_TRUE(take_event(view, {"1", type, data}));
    EXPECT_EQ(view.state, "queued");
    EXPECT_FALSE(take_event(view, {"2", "end", "{}"}));
}

TEST(Follow, a_failure_is_placed_by_what_is_known_of_it) {
    const Json failure{{"step", 118},
                       {"epoch", nullptr},
                       {"program", "train_step"},
                       {"operation", "matmul 12 \x1b[31m"},
                       {"replica", 3},
                       {"samples", {1, 2}}};
    EXPECT_EQ(failure_place({{"failure", failure}}),
              "step 118, program train_step, operation matmul 12 \\u001b[31m, replica 3");
    for (const Json& nothing : {Json(), Json::object(), Json{{"failure", nullptr}},
                                Json{{"failure", "crash"}}, Json::array()})
        EXPECT_EQ(failure_place(nothing), "");
}

TEST(Follow, the_exit_code_tells_the_outcome) {
    EXPECT_EQ(exit_code_of("succeeded"), ExitCode::ok);
    EXPECT_EQ(exit_code_of("cancelled"), ExitCode::cancelled);
    for (const char* state : {"failed", "timed_out", "expired", "stopped"})
        EXPECT_EQ(exit_code_of(state), ExitCode::job_failed);
}

TEST(ProgressLine, it_never_is_wider_than_the_terminal) {
    JobView view;
    view.wait_reason = std::string(300, 'x') + "é";
    for (std::size_t columns = 0; columns < 40; ++columns) {
        std::size_t characters = 0;
        for (const char byte : progress_line(view, columns))
            if ((static_cast<unsigned char>(byte) & 0xc0U) != 0x80U) ++characters;
        EXPECT_LE(characters, columns);
    }
    view.connected = false;
    EXPECT_TRUE(progress_line(view, 80).starts_with("reconnecting"));
}

TEST(ProgressLine, times_and_sizes_are_for_people) {
    EXPECT_EQ(duration_text(0.44), "0.4 s");
    EXPECT_EQ(duration_text(9.96), "10 s");
    EXPECT_EQ(duration_text(59.6), "1 min 00 s");
    EXPECT_EQ(duration_text(3723), "1 h 02 min");
    EXPECT_EQ(duration_text(-1), "?");
    EXPECT_EQ(bytes_text(12), "12 bytes");
    EXPECT_EQ(bytes_text(1536), "1.5 KiB");
    EXPECT_EQ(bytes_text(1048576.0 * 2048), "2.0 GiB");
    EXPECT_EQ(cut_to("äöü", 3), "äöü");
    EXPECT_EQ(cut_to("äöüß", 3), "äö…");
}

}    // namespace
}    // namespace slipway::client
