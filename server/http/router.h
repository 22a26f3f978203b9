#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/gathering.h"
#include "server/http/message.h"

namespace slipway {

inline constexpr std::size_t json_body_bytes_max = 1 << 20;

/// Where a route's handler runs.
enum class Lane {
    worker,      ///< on the pool of workers, which may all be busy
    reserved,    ///< on threads that nothing else uses: for what an operator must always get
    io           ///< on the connection's own I/O thread: it must not block
};

/// One row of the table of routes.
struct Route {
    Method method = Method::GET;
    /// "/v1/jobs/{id}/cancel": a part in braces matches one whole non-empty segment.
    std::string pattern = {};
    Handler handler = {};
    /// Bodies above this are refused with 413 from Content-Length alone; 0: no body at all (400).
    std::size_t body_bytes_max = 0;
    /// The media types a body may have; any other is 415. Ignored for an empty body.
    std::vector<std::string> media_types = {};
    /// When set, it is asked before a body is read. Not for rows with a receiver, which ask
    /// already.
    Admission admit = {};
    Lane lane = Lane::worker;
    /// When set, requests of Lane::worker that `may_gather` takes are handled together with others
    /// that wait; their handler does not block for long.
    MakeGathering gather = {};
    std::function<bool(const Request&)> may_gather = {};
    /// When set, the body is not kept in memory but written where this says.
    Receiver receive = {};
};

/// Rows for the two common kinds.
Route get_route(std::string pattern, Handler handler);
/// A JSON body of at most 1 MiB (application/json); empty bodies reach the handler too.
Route json_route(Method method, std::string pattern, Handler handler);

/// What the table says about a request: a row, or nothing and the methods that the path has
/// (empty: 404, else 405 with Allow).
struct RouteMatch {
    const Route* route = nullptr;
    std::vector<Pair> parameters;
    std::vector<Method> allowed;
};

/// The whole URL space as a table. Constant after construction; safe from every thread.
class Router {
public:
    /// Two rows that match the same requests, or a malformed pattern, are a bug.
    explicit Router(std::vector<Route> routes);

    /// A literal segment beats a parameter, from left to right. HEAD finds the row of GET; OPTIONS
    /// never finds a row (the server answers it from `allowed`).
    RouteMatch match(Method method, std::span<const std::string> segments) const;

    std::span<const Route> routes() const { return routes_; }

private:
    struct Row {
        std::vector<std::string> parts;    // "{id}" for a parameter
        std::size_t route = 0;             // index in routes_
    };
    std::vector<Route> routes_;
    std::vector<Row> rows_;    // most literal first
};

}    // namespace slipway
