#pragma once

#include <string>

#include "api/base/clock.h"
#include "server/main/backup_files.h"

namespace slipway {

/// Says on standard error every few seconds how far a copy has come. One thread uses it.
class CopyReporter {
public:
    /// `verb`: "copied"
    CopyReporter(std::string verb, const Clock& clock);

    /// Refers to this.
    CopyProgress progress();
    void print_sum(const CopyCounts& counts) const;

private:
    const std::string verb_;
    const Clock& clock_;
    Tick next_;
};

}    // namespace slipway
