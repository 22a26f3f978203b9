#pragma once

#include <filesystem>

#include "api/protocol/run_position.h"

namespace slipway {

/// The file of a run folder that says where the run is, mapped into memory until the end of this
/// object. Without a place for it (a full disk) the position is kept in memory alone: a run is not
/// worse for it.
class PositionFile {
public:
    explicit PositionFile(const std::filesystem::path& run_folder);
    ~PositionFile();
    PositionFile(const PositionFile&) = delete;
    PositionFile& operator=(const PositionFile&) = delete;

    RunPosition& position() { return *position_; }

private:
    RunPosition unmapped_;
    RunPosition* position_ = &unmapped_;
};

}    // namespace slipway
