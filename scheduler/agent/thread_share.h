#pragma once

namespace slipway {

/// CPUs that this process, and with it an executor that it starts, may use; at least 1.
int usable_cpu_count();

/// Threads of an attempt on `cores` of the `cores_of_host` virtual cores that `cpus` CPUs stand
/// for: its cores' share of the CPUs, at least 1, so that jobs on all cores have a CPU for each
/// thread.
int thread_share(int cores, int cores_of_host, int cpus);

}    // namespace slipway
