#pragma once

namespace slipway {

/// Lets this process, and what it becomes, use only the system calls that an executor needs:
/// memory, files, threads, time, and Unix stream sockets that it listens on. No process, no other
/// socket, no connection, no signal to others (also none through a descriptor), no change of other
/// processes' limits or CPUs, no shared anonymous memory. Anything else fails with EPERM.
/// errors  throws unavailable
void allow_system_calls();

}    // namespace slipway
