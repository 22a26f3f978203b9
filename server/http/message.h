#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"

namespace slipway {

class Gathering;
class TransferPermit;
class UniqueFd;
struct StoredBody;

/// The methods that the server knows; any other is answered 501. Spelled as on the wire.
enum class Method { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS };

std::string_view to_string(Method method) noexcept;
std::optional<Method> parse_method(std::string_view text) noexcept;
/// Every method, in the enumeration's order.
std::vector<Method> all_methods();

/// One name and value: a header (of a request: name in lower case), a query pair or a path
/// parameter.
struct Pair {
    std::string name;
    std::string value;
};

/// What a handler sees of one request. Everything in it has passed the framing guard: the path and
/// the query are percent-decoded valid UTF-8 without control bytes.
struct Request {
    Method method = Method::GET;    ///< HEAD stays HEAD; the body of its answer is dropped
    std::string path = {};          ///< decoded, without the query: "/v1/jobs/job_06c4"
    std::vector<std::string> segments =
        {};    ///< decoded parts of the path: {"v1", "jobs", "job_06c4"}
    std::vector<Pair> query_pairs = {};    ///< decoded, in the order sent
    std::vector<Pair> parameters = {};     ///< what the route's {names} matched
    std::vector<Pair> headers = {};      ///< names in lower case, values trimmed, in the order sent
    std::string body = {};               ///< empty when the route receives into a file
    std::uint64_t received_bytes = 0;    ///< size of the body, wherever it went
    std::string route = {};              ///< the matched row's pattern
    std::string request_id = {};         ///< the client's when it is well-formed, else a new one
    /// Of the span that answers it, within the one that the client's valid traceparent names; empty
    /// without one.
    std::string traceparent = {};
    std::string peer = {};    ///< address of the client, without the port
    /// Whom the client means, checked: "localhost:8470"; empty for HTTP/1.0 without Host.
    std::string host = {};
    bool secure = false;                           ///< over TLS
    std::shared_ptr<const void> admission = {};    ///< what the route's Admission found, if it ran
    /// Whether the client has closed its end meanwhile; from any thread, while the handler runs.
    /// Unset outside of a server.
    std::function<bool()> client_has_left = {};
    double waited_s = 0;    ///< since the first call of the handler (Response::again_after_s)
    /// When all of it was there, by system_clock(); the maximum means now.
    Tick asked_at = Tick::max();
    /// Of the requests that are handled together with this one (Route::gather); else null.
    Gathering* gathering = nullptr;

    /// The value of the first header of that name (given in lower case); none when absent.
    std::optional<std::string_view> header(std::string_view lower_name) const;
    /// The value of the first query pair of that name; none when absent.
    std::optional<std::string_view> query(std::string_view name) const;
    /// What {name} of the route's pattern matched; a bug when the pattern has no such name.
    const std::string& parameter(std::string_view name) const;
};

/// A stretch of an open file to send. `offset` and `length` lie inside the file.
struct FileBody {
    std::shared_ptr<const UniqueFd> file =
        {};    ///< shared: the answer outlives the handler's copy
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
};

/// Makes the bytes of an endless answer (Server-Sent Events). The server pulls, so a slow client
/// costs no more than what one `take` gave. All functions may be called from any thread, never two
/// `take` at a time, and must not block.
class EventSource {
public:
    virtual ~EventSource() = default;
    /// Called once, before the first `take`. From then on the source calls `wake` whenever `take`
    /// might have something new; `wake` is quick, safe from any thread, and may be called too
    /// often.
    virtual void start(std::function<void()> wake) = 0;
    /// Appends whole events that are ready to `bytes`. False: nothing follows these bytes, and the
    /// stream ends after them.
    virtual bool take(std::string& bytes) = 0;
    /// What to send when nothing was sent for the heartbeat interval.
    virtual std::string_view heartbeat() const = 0;
    /// The client has gone or the server stops: `wake` is not called any more after this returns.
    virtual void close() = 0;
};

/// What a handler answers. The body is the first of these that is set: `events`, `file`,
/// `embedded`, `body`. The server adds Content-Length, Date, Server, X-Request-Id, Cache-Control
/// (no-store unless given here) and the security headers; turns a 200 with an ETag that
/// If-None-Match names into 304; compresses a body in memory for a client that asks for that.
struct Response {
    int status = 200;
    std::vector<Pair> headers = {};    ///< spelled as sent; a line break in one makes it a 500
    std::string body = {};
    std::string media_type = "application/json";    ///< no Content-Type is sent when empty
    std::string_view embedded = {};                 ///< bytes that live as long as the program
    /// Whose bytes `embedded` are; it has them compressed, too. Shared with the route.
    std::shared_ptr<const StoredBody> stored = {};
    std::optional<FileBody> file = {};
    /// Of a body that takes long: once it has ended, no further piece is sent and the connection
    /// ends. Shared with whoever may end it.
    std::shared_ptr<const TransferPermit> permit = {};
    /// Shared between the connection that pulls and the hub that feeds.
    std::shared_ptr<EventSource> events = {};
    /// Long polling without a worker: this answer is thrown away and the handler called again after
    /// so many seconds, with `Request::waited_s` telling the time since its first call.
    std::optional<double> again_after_s = {};
    /// Of a gathered request: makes the answer once the gathering has run. The request outlives it;
    /// it throws as a Handler does.
    std::function<Response()> rest = {};
    /// Of a gathered request: this answer is thrown away and the handler called again, without a
    /// gathering.
    bool alone = false;
    /// The client is authenticated: its connection makes no room for others.
    bool identified = false;
    /// The audit log has an entry of the request already: it was written with what it is about.
    bool audited = false;

    /// Adds a header and returns itself: `return Response{...}.with("Location", url);`
    Response&& with(std::string name, std::string value) &&;
    /// The value of the first header of that name (any case); none when absent.
    std::optional<std::string_view> header(std::string_view name) const;
};

/// Answers one request. Runs on a worker thread and may block; throws Error or ProblemError for
/// everything that is not an answer (problem.h). Called from many threads at once.
using Handler = std::function<Response(const Request&)>;

/// Where the body of an upload goes: written from `offset` on as it comes. When the client breaks
/// off, what came stays in the file (so its size is the offset to go on from) and the handler is
/// not called.
struct BodyTarget {
    std::shared_ptr<const UniqueFd> file = {};    ///< open for writing; shared with the disk thread
    std::uint64_t offset = 0;
    std::uint64_t bytes_max = 0;    ///< a longer body is refused with 413
    /// Called on the disk thread after bytes were written at `offset` of the file.
    std::function<void(std::string_view bytes, std::uint64_t offset)> written = {};
    /// Once it has ended, the rest of the body is refused with its reason. Shared with whoever may
    /// end it.
    std::shared_ptr<const TransferPermit> permit = {};
};

/// Called on a worker before the body is read (and before "100 Continue" is sent); refuses by
/// throwing, as a Handler does: so rights and Upload-Offset are checked before a byte is stored.
using Receiver = std::function<BodyTarget(const Request&)>;

/// Called on a worker before the body of a request is read (and before "100 Continue" is sent);
/// refuses by throwing, as a Handler does: so nobody without the right to sends a body. What it
/// returns reaches the handler as Request::admission.
using Admission = std::function<std::shared_ptr<const void>(const Request&)>;

}    // namespace slipway
