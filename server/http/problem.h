#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/base/error.h"
#include "server/http/message.h"

namespace slipway {

/// One entry of `errors` in a problem body: what is wrong with one field.
struct ProblemItem {
    std::string pointer;    ///< RFC 6901, or "?limit" for a query pair
    std::string code;       ///< "unknown_field", "out_of_bounds"
    std::string message;
    std::vector<std::string> allowed = {};
};

/// Ends a request with a status, a code of its own and, for 422, every problem at once. Thrown by
/// handlers when an Error's code alone says too little.
///
///     throw ProblemError({.status = 409, .code = "illegal_transition", .detail = "…"});
///     throw ProblemError({.status = 422, .code = "invalid_spec", .detail = "…", .items = found});
class ProblemError : public Error {
public:
    struct Fields {
        int status = 400;
        std::string code = {};      ///< stable, snake_case: what programs test
        std::string detail = {};    ///< one sentence for a person: field, value, fix
        std::vector<ProblemItem> items = {};
        std::vector<Pair> headers = {};    ///< "Retry-After", "WWW-Authenticate", "Allow"
    };
    explicit ProblemError(Fields fields);

    const Fields& fields() const noexcept { return fields_; }

private:
    Fields fields_;
};

/// The status of an error code: invalid_argument 400, not_found 404, conflict 409,
/// unauthenticated 401, permission_denied 403, exhausted 429, unavailable 503, data_loss and
/// internal 500.
int http_status(ErrorCode code) noexcept;

/// An application/problem+json answer (RFC 9457): type, title, status, detail, code, request_id and
/// `errors` when there are items. 503 and 429 get Retry-After and 401 gets WWW-Authenticate when
/// the fields have none.
Response problem_response(const ProblemError::Fields& fields, std::string_view request_id);

/// 503 `overloaded`: rejected to protect the service; the client may send the request again after
/// `retry_after_s` seconds.
Response overloaded_response(std::string detail, int retry_after_s, std::string_view request_id);

/// The seam: calls the handler and turns whatever it throws into a problem. Error: its message is
/// shown, except for `internal` and `data_loss`. Anything else: 500 "internal error"; what() is
/// logged with the request id, never shown.
Response answer(const Handler& handler, const Request& request);

/// As `answer`, for a function that only prepares: none when it did not throw.
std::optional<Response> refusal_of(const std::function<void()>& prepare, const Request& request);

/// "Not Found" for 404.
std::string_view status_title(int status) noexcept;

}    // namespace slipway
