#pragma once

namespace slipway {

/// From now on no thread of this process makes a socket, listens or connects; those that it has
/// stay as they are. For good. Only in a process that can gain no privileges (no_new_privs), as a
/// confined one: another one could not be kept to it, and nothing is changed.
/// errors  throws unavailable with the system's reason
void keep_sockets();

}    // namespace slipway
