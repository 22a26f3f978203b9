#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace slipway::client {

/// A metric of the validation part that says how good a network is, besides the loss.
struct Score {
    std::string_view metric;    ///< val_accuracy, …
    std::string_view words;     ///< in the line
    std::string_view title;     ///< in a sentence
};

/// Those that a line shows; of several the first.
std::span<const Score> scores();

/// What the one line of `follow` knows of a job. Filled from its events.
struct JobView {
    std::string state = "queued";
    std::string wait_reason;    ///< while queued
    int epoch = 0;
    int epochs = 0;
    long long step = 0;
    long long steps_total = 0;
    double samples_per_s = 0;
    std::optional<double> eta_s;
    std::optional<double> train_loss;
    std::optional<double> val_loss;
    const Score* score = nullptr;    ///< the job's task has: a row of scores(); null: none yet
    double score_value = 0;
    bool connected = true;
};

/// "running ━━━━━━╸────  58 %  epoch 3/5  step 580/1000  loss 0.1234  val acc 0.9712  1234/s  eta
/// 12 s", cut to `columns`.
std::string progress_line(const JobView& view, std::size_t columns);

/// "0.1234"; "1.1e-05" where four places would say nothing.
std::string metric_text(double value);

/// "1 h 02 min", "3 min 05 s", "12 s", "0.4 s".
std::string duration_text(double seconds);

/// "1.5 MiB", "12 bytes".
std::string bytes_text(double bytes);

/// Cuts UTF-8 text to so many characters, ending in "…" when something is missing.
std::string cut_to(std::string_view text, std::size_t characters);

}    // namespace slipway::client
