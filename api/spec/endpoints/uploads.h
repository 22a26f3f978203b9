#pragma once

#include <array>

#include "api/spec/endpoints/parts.h"

/// The endpoints of uploads.
namespace slipway::upload_endpoints {

using namespace endpoint_parts;

inline constexpr auto opens_upload = std::to_array<int>({409, 413, 415, 422, 429, 507});
inline constexpr auto uploads = std::to_array<int>({404, 409, 413, 415, 507});

inline constexpr auto rows = std::to_array<Endpoint>({
    {.name = "create_upload",
     .method = "POST",
     .path = "/v1/uploads",
     .group = "uploads",
     .summary = "Start an upload; then send its bytes.",
     .access = Access::write,
     .request = "UploadCreate",
     .response = "Upload",
     .success = 201,
     .errors = opens_upload,
     .idempotent_by_key = true},
    {.name = "append_upload",
     .method = "PATCH",
     .path = "/v1/uploads/{id}",
     .group = "uploads",
     .summary = "Send bytes starting at Upload-Offset. The Upload-Offset of the response is where "
                "to continue.",
     .access = Access::write,
     .success = 204,
     .errors = uploads,
     .body_media_type = "application/octet-stream"},
    {.name = "get_upload",
     .method = "GET",
     .path = "/v1/uploads/{id}",
     .group = "uploads",
     .summary = "Get the progress of an upload. HEAD returns only Upload-Offset and Upload-Length.",
     .access = Access::write,
     .response = "Upload",
     .errors = not_found},
    {.name = "complete_upload",
     .method = "POST",
     .path = "/v1/uploads/{id}/complete",
     .group = "uploads",
     .summary =
         "Complete an upload after all bytes were sent; the size and the SHA-256 are verified.",
     .access = Access::write,
     .response = "Upload",
     .errors = acts,
     .idempotent_by_key = true},
    {.name = "delete_upload",
     .method = "DELETE",
     .path = "/v1/uploads/{id}",
     .group = "uploads",
     .summary = "Delete an upload that no dataset was created from.",
     .access = Access::write,
     .success = 204,
     .errors = not_found},
});

}    // namespace slipway::upload_endpoints
