#pragma once

#include <cstdio>
#include <map>
#include <string>

#include "executor/train/reporter.h"

namespace slipway {

/// What a person sees of a run: the newest numbers.
struct ProgressView {
    Progress progress;
    std::map<std::string, double> metrics;    ///< newest value of each
};

/// "1:05" or "2:03:04"; "-" when it is not known.
std::string format_duration(double seconds);

/// "epoch 2/5 [=======>      ]  312/625  1234 samples/s  eta 0:12  train_loss 0.1234", at most
/// `width` columns: the bar shrinks first, then metrics are left out.
std::string format_bar(const ProgressView& view, int width);

/// "epoch 2/5  step 312/624  1234 samples/s  train 12 s  evaluate 0.8 s  val_loss 0.1": a line
/// about an epoch that has ended.
std::string format_epoch(const EpochSummary& summary, std::int64_t steps_total);

/// Shows a run: a line for each epoch, and on a terminal one bar below, drawn anew. One thread.
class ProgressBar {
public:
    explicit ProgressBar(std::FILE* output);
    ~ProgressBar();
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

    void show(const Progress& progress);
    void show(const MetricPoint& point);
    void show(const EpochSummary& summary);
    /// A line of its own, above the bar.
    void say(const std::string& line);

private:
    void draw();
    void erase();

    std::FILE* const output_;    // the process's own stdout or stderr
    const bool terminal_;
    ProgressView view_;
    bool drawn_ = false;
};

}    // namespace slipway
