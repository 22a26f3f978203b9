#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "api/base/json.h"
#include "api/client/http_client.h"
#include "api/client/service.h"
#include "api/spec/dataset_format.h"

namespace slipway::client {

struct DataPushOptions {
    std::string path;            ///< a folder or a file
    std::string name = {};       ///< empty: that of the path, without its ending
    std::string format = {};     ///< empty: recognised by the names of the files
    std::string project = {};    ///< empty: the service's default
    std::map<std::string, std::string> options = {};    ///< label_column=…
    bool wait = true;                                   ///< until it is checked
};
/// Uploads files, creates a dataset of them and prints what its check has found. Goes on where an
/// earlier command was interrupted (upload.h). errors  throws Stop
ExitCode push_data(const HttpClient& client, const DataPushOptions& options);

/// Uploads a file as it is and prints its id. The same file again within its time: the same id.
/// errors  throws Stop
ExitCode upload_file(const HttpClient& client, const std::string& path);

/// The format that files of these names most likely have; none: it cannot be told.
std::optional<DatasetFormat> recognised_format(std::span<const std::string> names);

/// The `options` of a dataset from name=value: a value that is a number, a truth value or an array
/// in JSON is one, any other a text.
Json dataset_options(const std::map<std::string, std::string>& given);

/// Creates a dataset and prints its state and its problems; with `wait` once it is checked.
ExitCode register_dataset(const HttpClient& client, const Json& request, bool wait);

}    // namespace slipway::client
