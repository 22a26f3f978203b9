#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

#include "server/http/metrics.h"
#include "server/http/server.h"
#include "server/http/transfer_permit.h"
#include "tests/support/raw_http.h"
#include "tests/support/temp_folder.h"

namespace slipway {

/// Opens once; whoever waits goes on. Waits end after 20 s.
class Gate {
public:
    void open();
    void wait();
    void wait_for_visitors(int count);

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool open_ = false;
    int visitors_ = 0;
};

/// More than the kernel's buffers of a loopback connection take (at most 4 MiB to send and 32 MiB
/// to receive): an answer of this size stays in the server until its reader reads.
inline constexpr std::size_t huge_answer_bytes = 64'000'000;

/// A server on a free port of the loopback with one route of each kind.
///
/// GET  /probe            "probe"
/// GET  /things/{id}      the id; ?q= is appended
/// GET  /smuggled         counts; POST too
/// POST /json             "got N" (JSON, at most 1 MiB)
/// POST /any              the body (any type, at most 64 KiB)
/// POST /empty            takes no body
/// GET  /gate             waits for `gate`
/// GET  /fails/{how}      error, problem, exception, header
/// GET  /page, /tagged    HTML; an ETag
/// GET  /script, /list    `sample_script`, stored; made at each request, with an ETag
/// GET  /big, /huge       3 MB of x; `huge_answer_bytes` of them
/// POST /guarded          JSON, only with Authorization
/// GET  /at-once, /reserved   on the I/O thread; on the reserved ones
/// PATCH /upload          into `folder`/upload at Upload-Offset, at most 100 000 bytes
/// GET  /host, /address   whom the client means; where it comes from
/// GET  /file, /later     the file `folder`/file; long polling
///
/// The client is authenticated, unless the request has the header X-Unknown.
struct SampleServer {
    explicit SampleServer(ServerOptions options = {});

    TempFolder folder;
    std::shared_ptr<TransferPermit> permit =
        std::make_shared<TransferPermit>();    ///< of /upload, /file
    Gate gate;
    std::atomic<int> smuggled{0};
    HttpMetrics metrics;
    std::unique_ptr<Server> server;

    std::uint16_t port() const { return server->port(); }
};

/// Some 20 KB of text.
std::string_view sample_script();

/// "GET /probe", then the connection closes.
inline constexpr std::string_view probe =
    "GET /probe HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

/// A bodyless request with the headers it needs.
std::string plain_get(std::string_view path);

}    // namespace slipway
