#pragma once

#include <optional>
#include <string>
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

/// The scope of all executors.
inline constexpr const char* machine_cpu_scope = "slipway";

/// A CPU that its holder has for itself, among all processes of this machine that claim in the same
/// scope. The kernel keeps the claim as the name of an abstract socket: no file is left behind, and
/// it ends with the process, however that ends.
class CpuClaim {
public:
    /// None when somebody holds it, or the system gives no socket.
    static std::optional<CpuClaim> take(const std::string& scope, int cpu);
    int cpu() const { return cpu_; }

private:
    CpuClaim(UniqueFd name, int cpu) : name_(std::move(name)), cpu_(cpu) {}

    UniqueFd name_;
    int cpu_;
};

/// At most `count` claims on the CPUs of `order` that are free. No scope: none.
std::vector<CpuClaim> claim_cpus(const std::string& scope, const std::vector<int>& order,
                                 int count);

}    // namespace slipway
