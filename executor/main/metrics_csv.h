#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "executor/train/reporter.h"

namespace slipway {

/// metrics.csv: one row per reported point (step, epoch, then one column per metric; empty where a
/// point has no such metric), written through at once. A metric that appears later adds a column.
/// One thread.
class MetricsCsv {
public:
    /// Continues an older file, or makes it with the first point.
    explicit MetricsCsv(std::filesystem::path file);

    /// Drops the rows of later steps: a resumed run reports them again.
    /// errors  throws exhausted, unavailable
    void forget_after(std::int64_t step);
    /// errors  throws exhausted, unavailable
    void add(const MetricPoint& point);

private:
    bool add_columns(const MetricPoint& point);
    void rewrite();

    const std::filesystem::path file_;
    std::vector<std::string> columns_;    // the metrics, without step and epoch
};

}    // namespace slipway
