// Answers are compressed on the thread that made them, so that no I/O thread is held up. The levels
// are those at which a page of jobs costs less than the query that made it; files of the dashboard
// and openapi.json are compressed once. Each form has a strong ETag of its own, as RFC 9110, 8.8.3
// asks; a condition that names one form is met by the other, so that an ETag that a client got with
// a compressed answer can be sent in If-Match. Streams of events are never compressed: an event
// would wait in the compressor for the next one.
#include "server/http/content_encoding.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>

#include "api/base/letter_case.h"
#include "server/http/answer.h"
#include "server/http/files.h"
#include "server/http/text.h"

namespace slipway {

namespace {

constexpr int gzip_level = 4;
constexpr int zstd_level = 3;
constexpr int zstd_level_stored = 17;    // 3 % smaller than 12; 30 ms for the script
constexpr std::size_t encoded_piece_bytes = 16 * 1024;

/// The weight of one item of a list such as Accept-Encoding; 0 for one that cannot be read.
double weight_of(std::string_view parameters) {
    const std::size_t start = parameters.find(';');
    if (start == parameters.npos) return 1;
    const std::string_view q = trimmed(parameters.substr(start + 1));
    if (!q.starts_with("q=") && !q.starts_with("Q=")) return 0;
    double weight = 0;
    const auto [end, error] = std::from_chars(q.begin() + 2, q.end(), weight);
    const bool whole = error == std::errc{} && end == q.end();
    return whole && weight >= 0 && weight <= 1 ? weight : 0;
}

struct Weights {
    std::optional<double> zstd, gzip, others;
};

Weights read_weights(std::string_view accept_encoding) {
    Weights weights;
    for (const std::string_view item : list_items(accept_encoding)) {
        const std::string_view name = trimmed(item.substr(0, item.find(';')));
        const double weight = weight_of(item);
        if (equal_ignoring_case(name, "zstd")) weights.zstd = weight;
        if (equal_ignoring_case(name, "gzip") || equal_ignoring_case(name, "x-gzip"))
            weights.gzip = weight;
        if (name == "*") weights.others = weight;
    }
    return weights;
}

/// All headers of the name, as one list.
std::string accepted_encodings(const Request& request) {
    std::string list;
    for (const Pair& header : request.headers)
        if (header.name == "accept-encoding") list += (list.empty() ? "" : ",") + header.value;
    return list;
}

/// Kept by each thread: to make one costs as much as to compress a small body.
class GzipStream {
public:
    GzipStream() {
        constexpr int gzip_of_32_kib = 15 + 16;
        usable_ = deflateInit2(&stream_, gzip_level, Z_DEFLATED, gzip_of_32_kib, 8,
                               Z_DEFAULT_STRATEGY) == Z_OK;
    }
    ~GzipStream() {
        if (usable_) deflateEnd(&stream_);
    }
    GzipStream(const GzipStream&) = delete;
    GzipStream& operator=(const GzipStream&) = delete;

    /// Appends to `result` while it stays shorter than `bytes`; false: it did not.
    bool run(std::string_view bytes, std::string& result) {
        if (!usable_ || deflateReset(&stream_) != Z_OK) return false;
        const std::size_t size_max = bytes.size();
        stream_.avail_in = 0;
        std::array<char, encoded_piece_bytes> piece;
        int state = Z_OK;
        while (state == Z_OK && result.size() < size_max) {
            if (stream_.avail_in == 0) refill(bytes);
            stream_.next_out = reinterpret_cast<Bytef*>(piece.data());
            stream_.avail_out = encoded_piece_bytes;
            state = deflate(&stream_, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
            result.append(piece.data(), encoded_piece_bytes - stream_.avail_out);
        }
        return state == Z_STREAM_END && result.size() < size_max;
    }

private:
    // zlib counts in 32 bits.
    void refill(std::string_view& bytes) {
        const std::size_t size = std::min(bytes.size(), std::size_t{1} << 30);
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
        stream_.avail_in = uInt(size);
        bytes.remove_prefix(size);
    }

    z_stream stream_{};
    bool usable_ = false;
};

std::optional<std::string> gzipped(std::string_view bytes) {
    static thread_local GzipStream stream;
    std::string result;
    if (!stream.run(bytes, result)) return std::nullopt;
    return result;
}

std::optional<std::string> zstandard(std::string_view bytes, int level) {
    struct Free {
        void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
    };
    static thread_local const std::unique_ptr<ZSTD_CCtx, Free> context(ZSTD_createCCtx());
    if (!context) return std::nullopt;
    ZSTD_CCtx_reset(context.get(), ZSTD_reset_session_only);
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setPledgedSrcSize(context.get(), bytes.size());
    std::string result;
    std::array<char, encoded_piece_bytes> piece;
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    for (std::size_t left = 1; left != 0;) {
        ZSTD_outBuffer out{piece.data(), piece.size(), 0};
        left = ZSTD_compressStream2(context.get(), &out, &in, ZSTD_e_end);
        if (ZSTD_isError(left)) return std::nullopt;
        result.append(piece.data(), out.pos);
        if (result.size() >= bytes.size()) return std::nullopt;
    }
    return result;
}

void set_header(Response& response, std::string_view name, std::string value) {
    const auto header =
        std::find_if(response.headers.begin(), response.headers.end(),
                     [&](const Pair& one) { return equal_ignoring_case(one.name, name); });
    if (header == response.headers.end())
        response.headers.push_back({std::string(name), std::move(value)});
    else
        header->value = std::move(value);
}

/// The encoded form in `response`; false: it is no smaller.
bool take_encoded_form(Response& response, ContentEncoding encoding) {
    if (response.stored) {
        const StoredBody& body = *response.stored;
        const std::string& form = encoding == ContentEncoding::zstd ? body.zstd : body.gzip;
        if (!form.empty()) response.embedded = form;
        return !form.empty();
    }
    auto form = compressed(encoding, memory_body_of(response));
    if (!form) return false;
    response.embedded = {};
    response.body = std::move(*form);
    return true;
}

}    // namespace

std::string_view to_string(ContentEncoding encoding) noexcept {
    if (encoding == ContentEncoding::identity) return "identity";
    return encoding == ContentEncoding::gzip ? "gzip" : "zstd";
}

ContentEncoding choose_encoding(std::string_view accept_encoding) {
    const Weights weights = read_weights(accept_encoding);
    const double others = weights.others.value_or(0);
    const double zstd = weights.zstd.value_or(others);
    const double gzip = weights.gzip.value_or(others);
    if (zstd <= 0 && gzip <= 0) return ContentEncoding::identity;
    return zstd >= gzip ? ContentEncoding::zstd : ContentEncoding::gzip;
}

bool is_compressible(std::string_view media_type) {
    const std::string type = lower_case(trimmed(media_type.substr(0, media_type.find(';'))));
    if (type == "text/event-stream") return false;
    return type.starts_with("text/") || type == "application/json" || type.ends_with("+json") ||
           type.ends_with("+xml");
}

std::optional<std::string> compressed(ContentEncoding encoding, std::string_view bytes) {
    if (encoding == ContentEncoding::gzip) return gzipped(bytes);
    if (encoding == ContentEncoding::zstd) return zstandard(bytes, zstd_level);
    return std::nullopt;
}

std::string encoded_etag(std::string_view etag, ContentEncoding encoding) {
    if (encoding == ContentEncoding::identity || !etag.ends_with('"')) return std::string(etag);
    std::string encoded(etag.substr(0, etag.size() - 1));
    encoded += '-';
    encoded += to_string(encoding);
    return encoded + '"';
}

std::string plain_etag(std::string_view etag) {
    for (const std::string_view suffix : {"-gzip\"", "-zstd\""})
        if (etag.ends_with(suffix))
            return std::string(etag.substr(0, etag.size() - suffix.size())) + '"';
    return std::string(etag);
}

std::shared_ptr<const StoredBody> store_body(std::string_view media_type, std::string_view bytes) {
    StoredBody body{std::string(media_type), etag_of(bytes), bytes, {}, {}};
    if (is_compressible(media_type) && bytes.size() >= encoded_bytes_min) {
        body.gzip = compressed(ContentEncoding::gzip, bytes).value_or("");
        body.zstd = zstandard(bytes, zstd_level_stored).value_or("");
    }
    return std::make_shared<const StoredBody>(std::move(body));
}

Response stored_response(std::shared_ptr<const StoredBody> body) {
    Response response;
    response.embedded = body->bytes;
    response.media_type = body->media_type;
    response.headers = {{"ETag", body->etag}, {"Cache-Control", "no-cache"}};
    response.stored = std::move(body);
    return response;
}

void encode_content(const Request& request, Response& response) {
    const bool in_memory = !response.events && !response.file && !response.again_after_s;
    if (!in_memory || response.status == 206 || response.header("Content-Encoding") ||
        !is_compressible(response.media_type))
        return;
    const std::string others(response.header("Vary").value_or(""));
    set_header(response, "Vary", others.empty() ? "Accept-Encoding" : others + ", Accept-Encoding");
    const ContentEncoding encoding = choose_encoding(accepted_encodings(request));
    if (memory_body_of(response).size() < encoded_bytes_min ||
        encoding == ContentEncoding::identity)
        return;
    settle(request, response);
    if (response.status == 412) return;
    if (response.status != 304) {
        if (!take_encoded_form(response, encoding)) return;
        set_header(response, "Content-Encoding", std::string(to_string(encoding)));
    }
    if (const auto etag = response.header("ETag"))
        set_header(response, "ETag", encoded_etag(*etag, encoding));
}

}    // namespace slipway
