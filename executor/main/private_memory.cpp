#include "executor/main/private_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace slipway {

std::int64_t private_memory_bytes() {
    std::array<char, 128> text{};
    const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    const ssize_t length = read(file, text.data(), text.size() - 1);
    close(file);
    long data_pages = 0;    // the sixth number
    if (length <= 0 || std::sscanf(text.data(), "%*d %*d %*d %*d %*d %ld", &data_pages) != 1)
        return 0;
    return std::int64_t(data_pages) * sysconf(_SC_PAGESIZE);
}

}    // namespace slipway
