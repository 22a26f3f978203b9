#pragma once

namespace slipway {

/// Whether the kernel has filters of system calls, and this process may set one.
bool has_system_call_filters();

/// Lets this process, and what it becomes, use only the system calls that an executor needs:
/// memory, files, threads, time, and the sockets that it inherits. No process, no socket of its
/// own, no connection, no signal to others (also none through a descriptor), no change of other
/// processes' limits or CPUs, no shared anonymous memory. Anything else fails with EPERM.
/// `connects`: also TCP sockets to other hosts, for a member of a slice; no datagrams, no Unix
/// sockets. Which address it connects to, no filter sees. False when the kernel has no such
/// filters: nothing is refused. errors  throws unavailable
bool allow_system_calls(bool connects = false);

}    // namespace slipway
