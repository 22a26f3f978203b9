#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "api/client/http_client.h"

namespace slipway::client {

/// What is to be sent. `read` gives the bytes from an offset on, at most so many; always the same.
struct UploadSource {
    std::string filename;
    std::uintmax_t bytes = 0;
    std::function<std::string(std::uintmax_t offset, std::size_t bytes_max)> read;
};

/// A file as it is. errors  throws Stop{usage} when it cannot be read, or changes
UploadSource file_source(const std::filesystem::path& path);

/// An upload that the service has, complete and checked.
struct FinishedUpload {
    std::string id;
    std::filesystem::path record;    ///< what remembers it, until forget_upload
};

/// Sends what is missing of `source`. A connection that breaks is tried again for five minutes; an
/// upload that an earlier command has begun goes on where it broke off: its id is kept in
/// `XDG_CACHE_HOME`/slipway/uploads by address and checksum.
/// errors  throws Stop
FinishedUpload send_upload(const HttpClient& client, const UploadSource& source);

/// To be called once something uses the upload, or nothing is to go on with it.
void forget_upload(const FinishedUpload& upload);

}    // namespace slipway::client
