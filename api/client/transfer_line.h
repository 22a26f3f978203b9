#pragma once

#include <cstdint>
#include <string>

#include "api/base/clock.h"

namespace slipway::client {

/// How far an upload or a download is: one line on stderr that is written over, on a terminal only.
class TransferLine {
public:
    /// bytes   of the whole
    TransferLine(std::string name, std::uintmax_t bytes);
    TransferLine(const TransferLine&) = delete;
    TransferLine& operator=(const TransferLine&) = delete;
    /// Takes the line away: what the command prints says how it ended.
    ~TransferLine();

    /// `done` bytes have been sent or have arrived. At most ten times a second something is drawn.
    void show(std::uintmax_t done);

private:
    const std::string name_;
    const std::uintmax_t bytes_;
    const bool is_shown_;
    Tick drawn_at_{};
};

/// The line, at most so many characters wide.
std::string transfer_text(const std::string& name, std::uintmax_t done, std::uintmax_t bytes,
                          std::size_t characters);

}    // namespace slipway::client
