#include "api/client/transfer_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "api/base/printable.h"
#include "api/client/progress_line.h"

namespace slipway::client {

namespace {
constexpr auto redraw_every = std::chrono::milliseconds{100};
constexpr std::size_t columns = 79;
}    // namespace

TransferLine::TransferLine(std::string name, std::uintmax_t bytes)
    : name_(std::move(name)), bytes_(bytes), is_shown_(isatty(STDERR_FILENO) == 1) {}

TransferLine::~TransferLine() {
    if (is_shown_) fmt::print(stderr, "\r\033[K");
}

void TransferLine::show(std::uintmax_t done) {
    const Tick now = system_clock().tick();
    if (!is_shown_ || (drawn_at_ != Tick{} && now - drawn_at_ < redraw_every)) return;
    drawn_at_ = now;
    fmt::print(stderr, "\r\033[K{}", transfer_text(name_, done, bytes_, columns));
}

std::string transfer_text(const std::string& name, std::uintmax_t done, std::uintmax_t bytes,
                          std::size_t characters) {
    const double share = bytes == 0 ? 1 : static_cast<double>(done) / static_cast<double>(bytes);
    return cut_to(
        fmt::format("{:3.0f} %  {} of {}  {}", 100 * share, bytes_text(static_cast<double>(done)),
                    bytes_text(static_cast<double>(bytes)), printable_line(name)),
        characters);
}

}    // namespace slipway::client
