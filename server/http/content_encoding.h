#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/http/message.h"

namespace slipway {

/// What the bytes of a body went through, spelled as on the wire.
enum class ContentEncoding { identity, gzip, zstd };

std::string_view to_string(ContentEncoding encoding) noexcept;

/// Shorter bodies are sent as they are: headers and time would cost more than the bytes saved.
inline constexpr std::size_t encoded_bytes_min = 1024;

/// The encoding that an Accept-Encoding asks for: the one of the greatest weight, zstd before gzip
/// where they are equal. `identity` when it names neither, and for what cannot be read.
/// Source: RFC 9110, 12.5.3
ContentEncoding choose_encoding(std::string_view accept_encoding);

/// True for text, JSON, scripts and SVG; not for streams of events, which are sent as they come.
bool is_compressible(std::string_view media_type);

/// The whole of `bytes` compressed. None when that would be no smaller. Holds at most the result
/// and some 300 KiB (gzip) or 2 MiB (zstd) for each thread that calls it.
std::optional<std::string> compressed(ContentEncoding encoding, std::string_view bytes);

/// The strong ETag of the encoded form: "v1" is "v1-gzip".
std::string encoded_etag(std::string_view etag, ContentEncoding encoding);
/// The ETag without the encoding that `encoded_etag` put in it: both forms are of one version.
std::string plain_etag(std::string_view etag);

/// A body that is the same for each request, with its forms.
struct StoredBody {
    std::string media_type;
    std::string etag;
    std::string_view bytes;    ///< live as long as the program
    std::string gzip, zstd;    ///< empty: no smaller
};
std::shared_ptr<const StoredBody> store_body(std::string_view media_type, std::string_view bytes);
/// An answer with that body, which the browser asks for again on each use and gets as 304.
Response stored_response(std::shared_ptr<const StoredBody> body);

/// Sends the body in the encoding that the request asks for, if it has more than
/// `encoded_bytes_min` bytes and a compressible type: with Content-Encoding, an ETag of its own and
/// Vary. Judges the preconditions first: what is not modified is not compressed. For handlers'
/// threads; an answer from a file, of a range and of events is left as it is.
void encode_content(const Request& request, Response& response);

}    // namespace slipway
