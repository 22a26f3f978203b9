#pragma once

#include <limits>
#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

#include "api/base/json.h"
#include "api/client/http_client.h"

namespace slipway::client {

/// How the program ends; documented in `slipway --help`.
enum class ExitCode : int {
    ok = 0,
    job_failed = 1,     ///< failed, timed_out, expired or stopped; a dataset whose check failed
    usage = 2,          ///< the command line or a file it names cannot be used
    cancelled = 3,      ///< the job was cancelled
    refused = 4,        ///< the service answered 4xx
    unreachable = 5,    ///< no service, or it is out of order (5xx)
};

/// Ends a command: what to print on stderr and how to exit.
class Stop : public std::runtime_error {
public:
    Stop(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
    ExitCode code() const { return code_; }

private:
    ExitCode code_;
};

/// Where to go and as whom. The first that is given decides: the command line; SLIPWAY_CONTEXT;
/// SLIPWAY_URL or SLIPWAY_HOME; the current context; the usual home folder. The token of a context
/// or of a home folder is sent to its own service only; SLIPWAY_TOKEN is used with any.
struct ConnectOptions {
    /// Without a context: else SLIPWAY_URL, else where the home folder's service said that it
    /// answers, else http://127.0.0.1:8470.
    std::string url;
    std::string token;    ///< else SLIPWAY_TOKEN; never argv
    std::string home;     ///< else SLIPWAY_HOME, else as slipwayd
    std::string certificate_authority;
    std::string context = {};    ///< a name; excludes url and home
};

/// The address that is used where no context is.
std::string address_of(const ConnectOptions& options);

/// Where the service of this home folder answers: it writes its address to home/address once it
/// does. Empty: it never has.
std::string address_in(const std::string& home);

/// errors  throws Stop{usage} when no token can be found or the address is malformed
HttpClient connect(const ConnectOptions& options);

/// One call of the JSON API. Calls that may be repeated (all but POST, and POST with the key that
/// this adds) are tried again for a few seconds when the service breaks off or answers 503.
/// errors  throws Stop{refused} with the problem's detail and every field; Stop{unreachable}
Json call(const HttpClient& client, const std::string& method, const std::string& target,
          const Json& body);
Json get(const HttpClient& client, const std::string& target);
/// The first items of a list, page by page; all of them when there are no more than `count_max`.
/// target   of the list, without `limit` and `cursor`
Json get_items(const HttpClient& client, const std::string& target,
               std::size_t count_max = std::numeric_limits<std::size_t>::max());

/// The same with a raw body and the raw answer: uploads, text, downloads.
ClientResponse call_raw(const HttpClient& client, ClientRequest request);

/// "/v1/jobs/ID".
std::string job_path(const std::string& job_id);

/// A text field of an answer; empty when it is absent or no text.
std::string text_of(const Json& object, const char* name);

/// What a problem+json body says, for people: detail, then a line per field with what is allowed.
std::string problem_text(const ClientResponse& response);

/// Throws Stop for an answer that is not 2xx.
void require_success(const ClientResponse& response);

/// Waits without using the CPU.
void pause_for(std::chrono::milliseconds time);

}    // namespace slipway::client
