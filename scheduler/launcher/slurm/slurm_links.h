#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "api/base/clock.h"
#include "scheduler/launcher/node_link/link_listener.h"
#include "scheduler/launcher/slurm/start_order.h"

namespace slipway {

/// The connection of one job's program, which its node makes and makes again.
class SlurmLink {
public:
    SlurmLink(std::shared_ptr<LinkListener> listener, std::string identity)
        : listener_(std::move(listener)), identity_(std::move(identity)) {}
    ~SlurmLink() { listener_->forget(identity_); }
    SlurmLink(const SlurmLink&) = delete;
    SlurmLink& operator=(const SlurmLink&) = delete;

    std::optional<UniqueFd> take() { return listener_->take(identity_); }

private:
    const std::shared_ptr<LinkListener> listener_;
    const std::string identity_;
};

/// How nodes on other machines reach this service; without an address they are on this machine, and
/// there is nothing to be done. Each job has a key of its own, which is in its order and so is
/// known to the next service. Safe from every thread.
class SlurmLinks {
public:
    /// Listens, and announces it in `folder`. `clock` outlives the links.
    /// errors  throws unavailable when it cannot listen
    SlurmLinks(const std::optional<LinkListenerOptions>& options,
               const std::filesystem::path& folder, const Clock& clock);

    explicit operator bool() const { return listener_ != nullptr; }
    /// For a new order.
    std::optional<StartLink> make() const;
    /// From now on its node is let in; null: it needs no link.
    std::unique_ptr<SlurmLink> expect(const std::optional<StartOrder>& order,
                                      const std::string& name) const;

private:
    const std::filesystem::path announcement_;
    std::shared_ptr<LinkListener> listener_;
};

}    // namespace slipway
