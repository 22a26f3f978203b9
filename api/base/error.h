#pragma once

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace slipway {

/// Why a unit of work stopped. Enumerators are spelled as on the wire.
enum class ErrorCode {
    invalid_argument,     ///< what the caller gave cannot be used, whatever the state of the system
    not_found,            ///< the thing named does not exist
    conflict,             ///< legal in general, not in the present state
    unauthenticated,      ///< nobody known is asking
    permission_denied,    ///< somebody known, without the right
    exhausted,            ///< out of memory, disk, quota or a limit
    unavailable,          ///< a part is down for now; trying again may help
    data_loss,            ///< stored or given data is damaged
    internal              ///< ours
};

std::string_view to_string(ErrorCode code) noexcept;

/// Ends one unit of work: a request, a sweep, a job. Caught only at the seams that
/// docs/contributing/style.md lists.
class Error : public std::runtime_error {
public:
    Error(ErrorCode code, const std::string& message,
          std::source_location where = std::source_location::current())
        : std::runtime_error(message), code_(code), where_(where) {}

    ErrorCode code() const noexcept { return code_; }
    /// Where it was thrown: for the log, never for the user.
    std::source_location where() const noexcept { return where_; }

private:
    ErrorCode code_;
    std::source_location where_;
};

}    // namespace slipway
