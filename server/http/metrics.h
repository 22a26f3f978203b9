#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace prometheus {
class Registry;
}

namespace slipway {

/// The counters behind GET /metrics. Safe from every thread.
///
/// slipway_http_requests_total{method,route,status}     route = the row's pattern, or "unmatched"
/// slipway_http_request_seconds{route}                  histogram: head read to answer written,
///                                                      less the time a client asked to wait
/// slipway_http_connections, slipway_http_event_streams gauges
/// slipway_http_buffered_body_bytes                     gauge: bodies held in memory
/// slipway_http_buffered_answer_bytes                   gauge: large answers held in memory
/// slipway_http_refused_total{code}                     requests that the framing guard refused
class HttpMetrics {
public:
    HttpMetrics();
    ~HttpMetrics();
    HttpMetrics(const HttpMetrics&) = delete;
    HttpMetrics& operator=(const HttpMetrics&) = delete;

    struct Finished {
        std::string_view method;
        std::string_view route;
        int status = 0;
        double seconds = 0;
    };
    void request_finished(const Finished& request);
    void request_refused(std::string_view code);
    void connections_changed(int by);
    void event_streams_changed(int by);
    void buffered_bodies_changed(double bytes);
    void buffered_answers_changed(double bytes);

    /// Where other modules add their own families.
    prometheus::Registry& registry();
    /// Everything in the registry in Prometheus' text format (version 0.0.4).
    std::string text() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}    // namespace slipway
