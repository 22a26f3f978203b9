#pragma once

#include <string>

#include "api/client/service.h"

namespace slipway::client {

/// What a user may name by its id or its name.
enum class NamedKind { job, sweep, cross_validation, dataset };

/// How much of an id or a name is enough. Commands that end or delete something take whole ones
/// only: the beginning of a name that is gone must not become the name of another object.
enum class NamedBy { beginning, whole };

/// What an argument that names one may be: "id or name of the sweep, or the beginning of either".
std::string argument_text(NamedKind kind, NamedBy by);

/// "job", "sweep", …; `plural`: "jobs", "sweeps", ….
std::string_view word_of(NamedKind kind, bool plural = false);

/// The id of the object that a user means.
/// errors  throws Stop{refused} when there is none, and when there are several, which it lists;
///         Stop{usage} when `text` is empty
std::string find_id(const HttpClient& client, NamedKind kind, const std::string& text,
                    NamedBy by = NamedBy::beginning);

}    // namespace slipway::client
