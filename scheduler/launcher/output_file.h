#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

namespace slipway {

/// Opens, with the flags `mode`, a file that a program is to write: only where a regular file or
/// nothing is. An earlier program may have left something else in its place. -1 with errno when it
/// cannot be. Safe between fork and exec.
inline int open_output(const char* path, int mode) {
    const int file = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | mode, 0600);
    struct stat facts {};
    if (file < 0 || fstat(file, &facts) != 0) return -1;
    if (S_ISREG(facts.st_mode)) return file;
    errno = EINVAL;
    return -1;
}

}    // namespace slipway
