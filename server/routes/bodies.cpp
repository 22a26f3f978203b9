#include "server/routes/bodies.h"

#include "server/http/problem.h"

namespace slipway {

ParsedJson parse_body(const Request& request) {
    if (request.body.empty())
        throw ProblemError({.status = 400,
                            .code = "invalid_json",
                            .detail = "the request needs a JSON body (Content-Type: "
                                      "application/json)"});
    auto parsed = parse_json(request.body);
    if (!parsed)
        throw ProblemError(
            {.status = 400, .code = "invalid_json", .detail = parsed.error().what()});
    return std::move(parsed).value();
}

}    // namespace slipway
