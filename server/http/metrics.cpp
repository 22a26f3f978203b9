#include "server/http/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace slipway {

struct HttpMetrics::State {
    prometheus::Registry registry;
    prometheus::Family<prometheus::Counter>& requests =
        prometheus::BuildCounter()
            .Name("slipway_http_requests_total")
            .Help("Requests answered, by method, route and status.")
            .Register(registry);
    prometheus::Family<prometheus::Histogram>& seconds =
        prometheus::BuildHistogram()
            .Name("slipway_http_request_seconds")
            .Help("From the end of the request's head to the end of its answer.")
            .Register(registry);
    prometheus::Family<prometheus::Counter>& refused =
        prometheus::BuildCounter()
            .Name("slipway_http_refused_total")
            .Help("Requests refused before routing, by reason.")
            .Register(registry);
    prometheus::Gauge& connections = prometheus::BuildGauge()
                                         .Name("slipway_http_connections")
                                         .Help("Open connections.")
                                         .Register(registry)
                                         .Add({});
    prometheus::Gauge& event_streams = prometheus::BuildGauge()
                                           .Name("slipway_http_event_streams")
                                           .Help("Open event streams.")
                                           .Register(registry)
                                           .Add({});
    prometheus::Gauge& buffered_bodies = prometheus::BuildGauge()
                                             .Name("slipway_http_buffered_body_bytes")
                                             .Help("Bytes of request bodies held in memory.")
                                             .Register(registry)
                                             .Add({});
    prometheus::Gauge& buffered_answers = prometheus::BuildGauge()
                                              .Name("slipway_http_buffered_answer_bytes")
                                              .Help("Bytes of large answers held in memory.")
                                              .Register(registry)
                                              .Add({});
};

HttpMetrics::HttpMetrics() : state_(std::make_unique<State>()) {}
HttpMetrics::~HttpMetrics() = default;

void HttpMetrics::request_finished(const Finished& request) {
    const std::string route(request.route);
    state_->requests
        .Add({{"method", std::string(request.method)},
              {"route", route},
              {"status", std::to_string(request.status)}})
        .Increment();
    const prometheus::Histogram::BucketBoundaries bounds{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                         0.1,   0.25,   0.5,   1,    2.5,   10};
    state_->seconds.Add({{"route", route}}, bounds).Observe(request.seconds);
}

void HttpMetrics::request_refused(std::string_view code) {
    state_->refused.Add({{"code", std::string(code)}}).Increment();
}

void HttpMetrics::connections_changed(int by) {
    state_->connections.Increment(by);
}

void HttpMetrics::event_streams_changed(int by) {
    state_->event_streams.Increment(by);
}

void HttpMetrics::buffered_bodies_changed(double bytes) {
    state_->buffered_bodies.Increment(bytes);
}

void HttpMetrics::buffered_answers_changed(double bytes) {
    state_->buffered_answers.Increment(bytes);
}

prometheus::Registry& HttpMetrics::registry() {
    return state_->registry;
}

std::string HttpMetrics::text() const {
    return prometheus::TextSerializer().Serialize(state_->registry.Collect());
}

}    // namespace slipway
