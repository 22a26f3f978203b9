#include "scheduler/launcher/slurm/slurm_links.h"

#include <utility>

#include "api/base/id.h"
#include "api/base/log.h"
#include "scheduler/launcher/node_link/announcement.h"
#include "scheduler/launcher/private_folder.h"

namespace slipway {

namespace {

constexpr std::size_t identity_bytes = 12;
constexpr const char* announcement_name = "listener.json";

}    // namespace

SlurmLinks::SlurmLinks(const std::optional<LinkListenerOptions>& options,
                       const std::filesystem::path& folder, const Clock& clock)
    : announcement_(folder / announcement_name) {
    if (!options) return;
    listener_ = std::make_shared<LinkListener>(*options, clock);
    make_private_folder(folder);
    announce(announcement_, {.address = options->address, .port = listener_->port()});
    log_info("nodes of Slurm connect here",
             {{"address", options->address}, {"port", listener_->port()}});
}

std::optional<StartLink> SlurmLinks::make() const {
    if (!listener_) return std::nullopt;
    return StartLink{.identity = random_hex(identity_bytes),
                     .secret = random_hex(link_secret_bytes_min),
                     .announcement = announcement_};
}

std::unique_ptr<SlurmLink> SlurmLinks::expect(const std::optional<StartOrder>& order,
                                              const std::string& name) const {
    if (!listener_ || !order || !order->link) return nullptr;
    const StartLink& link = *order->link;
    listener_->expect({.identity = link.identity, .secret = link.secret}, name);
    return std::make_unique<SlurmLink>(listener_, link.identity);
}

}    // namespace slipway
