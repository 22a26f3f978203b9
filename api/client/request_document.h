#pragma once

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string>
#include <vector>

#include "api/base/json.h"

namespace slipway::client {

/// The text of a file, or of stdin for "-". errors  throws Stop{usage}
std::string read_text(const std::string& path);

/// "train.epochs=20" put into `document`: a field by its dotted path and its value as JSON; a value
/// that is no JSON is a text. errors  throws Stop{usage} when there is no such place
void set_field(Json& document, const std::string& change);

/// The body of a request, such as a job spec or a sweep: the text of the file as it is, so that the
/// service says where it is wrong; as JSON when it is TOML (by its name, *.toml) or has to be
/// changed. changes   as of set_field; null removes the field labels    added to those of the
/// document errors  throws Stop{usage}
std::string request_document(const std::string& path, const std::vector<std::string>& changes,
                             const std::map<std::string, std::string>& labels);

}    // namespace slipway::client
