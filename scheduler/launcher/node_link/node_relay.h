#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "api/base/clock.h"
#include "scheduler/launcher/node_link/secret_channel.h"

namespace slipway {

struct NodeRelayOptions {
    LinkKey key;
    std::filesystem::path announcement;    ///< of the service: see announcement.h
    std::filesystem::path folder;          ///< with the program's executor.sock and frames.ndjson
    std::chrono::milliseconds pause_min{100};    ///< between two tries to connect
    std::chrono::milliseconds pause_max{4000};
    std::chrono::milliseconds handshake_max{5000};
    std::chrono::milliseconds last_words_max{2000};    ///< after the program has ended
};

/// On the node of a program: connects to the service, proves the program's key, and carries what
/// program and service say to each other, again and again for as long as the program lives. Frames
/// are on the disk of everybody before the service hears of them. One thread of its own.
class NodeRelay {
public:
    /// `say` gets a line for a person when the service cannot be reached and when it is again, at
    /// the most one for each. `clock` outlives the relay.
    NodeRelay(NodeRelayOptions options, std::function<void(const std::string&)> say,
              const Clock& clock);
    /// The program has ended: what it has said goes on its way, for last_words_max.
    ~NodeRelay();
    NodeRelay(const NodeRelay&) = delete;
    NodeRelay& operator=(const NodeRelay&) = delete;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}    // namespace slipway
