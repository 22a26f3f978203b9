#include "executor/runtime/cpus.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/file.h>

#include <algorithm>
#include <fstream>
#include <map>

namespace slipway {

namespace {

/// The first number of a list such as "2-3" or "0,4"; the CPU itself where the system does not say.
int first_sibling(int cpu) {
    std::ifstream file(
        fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
    int first = cpu;
    return file >> first ? first : cpu;
}

}    // namespace

std::vector<Cpu> usable_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return {};
    std::vector<Cpu> cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set)) cpus.push_back({cpu, first_sibling(cpu)});
    return cpus;
}

std::vector<int> order_of_use(std::vector<Cpu> cpus) {
    std::ranges::sort(cpus, {}, &Cpu::number);
    std::map<int, int> taken;    // by physical core
    std::vector<std::pair<int, int>> order;
    for (const Cpu& cpu : cpus)
        order.emplace_back(taken[cpu.core]++, cpu.number);
    std::ranges::sort(order);
    std::vector<int> numbers;
    for (const auto& [round, number] : order)
        numbers.push_back(number);
    return numbers;
}

std::optional<CpuClaim> CpuClaim::take(const std::filesystem::path& scope, int cpu) {
    UniqueFd lock(open((scope / fmt::format("cpu{}", cpu)).c_str(), O_RDONLY | O_CLOEXEC));
    if (!lock || flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return std::nullopt;
    return CpuClaim(std::move(lock), cpu);
}

std::vector<CpuClaim> claim_cpus(const std::filesystem::path& scope, const std::vector<int>& order,
                                 int count) {
    std::vector<CpuClaim> claims;
    if (scope.empty()) return claims;
    for (const int cpu : order) {
        if (int(claims.size()) == count) break;
        if (std::optional<CpuClaim> claim = CpuClaim::take(scope, cpu))
            claims.push_back(std::move(*claim));
    }
    return claims;
}

}    // namespace slipway
