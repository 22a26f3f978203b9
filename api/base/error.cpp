#include "api/base/error.h"

namespace slipway {

std::string_view to_string(ErrorCode code) noexcept {
    switch (code) {
        case ErrorCode::invalid_argument:
            return "invalid_argument";
        case ErrorCode::not_found:
            return "not_found";
        case ErrorCode::conflict:
            return "conflict";
        case ErrorCode::unauthenticated:
            return "unauthenticated";
        case ErrorCode::permission_denied:
            return "permission_denied";
        case ErrorCode::exhausted:
            return "exhausted";
        case ErrorCode::unavailable:
            return "unavailable";
        case ErrorCode::data_loss:
            return "data_loss";
        case ErrorCode::internal:
            return "internal";
    }
    return "internal";
}

}    // namespace slipway
