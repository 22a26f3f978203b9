#pragma once

#include <string>
#include <string_view>

#include "api/base/parsed_json.h"
#include "api/spec/documents.h"
#include "server/http/message.h"
#include "server/routes/problems.h"

namespace slipway {

/// The body as JSON. errors  throws 400 `invalid_json` when it is none, or is missing
ParsedJson parse_body(const Request& request);

/// The body as `decode` reads it. `what` names it in messages ("the job spec").
/// errors  400 `invalid_json`; 422 `invalid_body` with every problem
template <class T>
T read_body(const Request& request, Decoded<T> (*decode)(const ParsedJson&),
            std::string_view what) {
    Decoded<T> decoded = decode(parse_body(request));
    throw_problems(decoded.problems, "invalid_body", what);
    return std::move(decoded.value);
}

}    // namespace slipway
