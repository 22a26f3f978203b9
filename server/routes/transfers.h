#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "scheduler/store/rights.h"
#include "scheduler/store/store.h"
#include "server/http/transfer_permit.h"

namespace slipway {

/// What is asked about transfers that are under way. May block, and may throw Error: they are then
/// asked again a little later, and transfers go on meanwhile.
struct TransferChecks {
    /// Those of the rights that no longer exist.
    std::function<std::vector<store::Right>(const std::vector<store::Right>&)> lost_rights;
    /// Those of the upload ids that no longer exist.
    std::function<std::vector<std::string>(const std::vector<std::string>&)> lost_uploads;
};

/// The checks of the real service.
TransferChecks store_transfer_checks(store::Store& store);

/// Ends bodies under way whose token has ended or lost a right, or whose upload is gone: a request
/// is asked about when it begins, and its body may take days. Safe from every thread.
class Transfers {
public:
    explicit Transfers(TransferChecks checks,
                       std::chrono::milliseconds recheck = std::chrono::seconds{10});
    ~Transfers();
    Transfers(const Transfers&) = delete;
    Transfers& operator=(const Transfers&) = delete;

    /// For one transfer that needs all these rights, into this upload unless it is empty. Asked
    /// about as long as it exists; it may outlive this object.
    std::shared_ptr<TransferPermit> permit(std::vector<store::Right> rights,
                                           std::string upload_id = {});

    /// Asks soon. Happens by itself at intervals of `recheck`: another process may have taken a
    /// right away, and tokens expire.
    void recheck();

private:
    struct State;
    // Shared with the permits: the server may drop the last of them later.
    std::shared_ptr<State> state_;
    std::thread thread_;
};

}    // namespace slipway
