#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "api/base/posix.h"

namespace slipway {

/// One CPU as the system counts them.
struct Cpu {
    int number = 0;
    int core = 0;    ///< the lowest number among the CPUs that share its physical core
};

/// The CPUs that this process may use: its affinity mask, which cgroups and taskset narrow.
std::vector<Cpu> usable_cpus();

/// Their numbers in the order in which workers take them: one CPU of each physical core, then the
/// second ones, and so on.
std::vector<int> order_of_use(std::vector<Cpu> cpus);

/// The scope of all executors: a folder with an entry for each CPU.
inline constexpr const char* machine_cpu_scope = "/sys/devices/system/cpu";

/// A CPU that its holder has for itself, among all processes of this machine that claim in the same
/// scope. The claim is a lock on the CPU's entry there, which every user may open: no file is left
/// behind, and it ends with the process, however that ends. A confined process may have no socket
/// whose name could be the claim.
class CpuClaim {
public:
    /// None when it is claimed already, or the scope has no such CPU.
    static std::optional<CpuClaim> take(const std::filesystem::path& scope, int cpu);
    int cpu() const { return cpu_; }

private:
    CpuClaim(UniqueFd lock, int cpu) : lock_(std::move(lock)), cpu_(cpu) {}

    UniqueFd lock_;
    int cpu_;
};

/// At most `count` claims on the CPUs of `order` that are free. No scope: none.
std::vector<CpuClaim> claim_cpus(const std::filesystem::path& scope, const std::vector<int>& order,
                                 int count);

}    // namespace slipway
