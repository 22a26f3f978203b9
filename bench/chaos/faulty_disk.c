// Writes and fsyncs that fail on request, for the process that it is preloaded into (LD_PRELOAD) and its children. The file
// named by SLIPWAY_FAULTS says what fails as long as it is there: its first word is "fsync" (EIO) or "write" (ENOSPC, of
// files only). Sockets, pipes and terminals are left alone.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int fails(const char* what) {
    const char* name = getenv("SLIPWAY_FAULTS");
    if (name == NULL) return 0;
    const int saved = errno;
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC);
    char word[16] = {0};
    if (fd >= 0) {
        if (syscall(SYS_read, fd, word, sizeof(word) - 1) < 0) word[0] = 0;
        syscall(SYS_close, fd);
    }
    errno = saved;
    return strncmp(word, what, strlen(what)) == 0;
}

static int is_file(int fd) {
    struct stat status;
    const int saved = errno;
    const int found = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    errno = saved;
    return found;
}

#define REAL(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name))
#define FAIL_WHEN(what, number, fd) \
    if (is_file(fd) && fails(what)) { \
        errno = number; \
        return -1; \
    }

int fsync(int fd) {
    FAIL_WHEN("fsync", EIO, fd)
    return REAL(int, fsync, int)(fd);
}

int fdatasync(int fd) {
    FAIL_WHEN("fsync", EIO, fd)
    return REAL(int, fdatasync, int)(fd);
}

ssize_t write(int fd, const void* bytes, size_t count) {
    FAIL_WHEN("write", ENOSPC, fd)
    return REAL(ssize_t, write, int, const void*, size_t)(fd, bytes, count);
}

ssize_t writev(int fd, const struct iovec* parts, int count) {
    FAIL_WHEN("write", ENOSPC, fd)
    return REAL(ssize_t, writev, int, const struct iovec*, int)(fd, parts, count);
}

ssize_t pwrite(int fd, const void* bytes, size_t count, off_t offset) {
    FAIL_WHEN("write", ENOSPC, fd)
    return REAL(ssize_t, pwrite, int, const void*, size_t, off_t)(fd, bytes, count, offset);
}

ssize_t pwrite64(int fd, const void* bytes, size_t count, off64_t offset) {
    FAIL_WHEN("write", ENOSPC, fd)
    return REAL(ssize_t, pwrite64, int, const void*, size_t, off64_t)(fd, bytes, count, offset);
}
