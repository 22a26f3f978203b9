// The stream says when something has happened; what is shown is read again, so that a watcher need
// not know what each event means for what it shows. Events that come while it reads are one look.

#include "api/client/watch_stream.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "api/base/clock.h"
#include "api/client/service.h"
#include "api/client/sse_parser.h"

namespace slipway::client {
namespace {

constexpr std::chrono::minutes patience{5};
constexpr std::chrono::seconds stream_silence_max{40};    // the service beats every 15 s
constexpr std::chrono::milliseconds look_every{250};
constexpr std::chrono::milliseconds again_after{500};
/// Behind every event that there is: the stream begins with what comes.
constexpr const char* newest = "9007199254740991";

class Watcher {
public:
    Watcher(const HttpClient& client, const std::string& target, const std::function<bool()>& look)
        : client_(client), target_(target), look_(look) {}

    /// One connection. False: it was cut before the end.
    bool watch_once() {
        ClientRequest request{.target = target_};
        request.headers = {{"Accept", "text/event-stream"}, {"Last-Event-ID", last_id_}};
        SseParser parser([this](const SseEvent& event) {
            last_id_ = event.id;
            has_news_ = true;
        });
        has_news_ = true;    // whatever came before the stream was open
        const ClientResponse response = client_.stream(request, [&](std::string_view bytes) {
            heard_ = true;
            parser.feed(bytes);
            return !look_at_news();
        });
        if (response.status == 204) return look_at_news();    // it has ended
        if (response.status == 503 || response.status == 429 || response.status == 502)
            return false;
        require_success(response);
        return ended_;
    }

    bool has_heard() { return std::exchange(heard_, false); }

private:
    /// True when nothing is left to watch.
    bool look_at_news() {
        if (!std::exchange(has_news_, false)) return ended_;
        const auto since = system_clock().tick() - looked_at_;
        if (since < look_every)
            pause_for(std::chrono::duration_cast<std::chrono::milliseconds>(look_every - since));
        looked_at_ = system_clock().tick();
        ended_ = look_();
        return ended_;
    }

    const HttpClient& client_;
    const std::string& target_;
    const std::function<bool()>& look_;
    std::string last_id_ = newest;
    bool has_news_ = true;
    bool heard_ = false;
    bool ended_ = false;
    Tick looked_at_{};
};

}    // namespace

void watch_stream(const HttpClient& client, const std::string& target,
                  const std::function<bool()>& look) {
    ClientOptions options = client.options();
    options.silence_max = stream_silence_max;
    const HttpClient stream(options);
    Watcher watcher(stream, target, look);
    Tick heard_at = system_clock().tick();
    for (;;) {
        std::string trouble = "the stream ended early";
        try {
            if (watcher.watch_once()) return;
        } catch (const Error& error) {
            if (error.code() != ErrorCode::unavailable) throw;
            trouble = error.what();
        }
        const Tick now = system_clock().tick();
        if (watcher.has_heard()) heard_at = now;
        if (now - heard_at > patience)
            throw Stop(ExitCode::unreachable,
                       fmt::format("the service did not answer for five minutes ({})", trouble));
        pause_for(again_after);
    }
}

}    // namespace slipway::client
