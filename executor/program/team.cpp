#include "executor/program/team.h"

#include <algorithm>
#include <bit>

#include "executor/program/program.h"

namespace slipway {

std::vector<CoreBlock> core_blocks(const Team& team) {
    int size = 1;
    while ((team.cores + size * 2 - 1) / (size * 2) >= team.workers && size < team.cores &&
           size < block_cores)
        size *= 2;
    const int count = (team.cores + size - 1) / size;
    std::vector<CoreBlock> blocks;
    for (int block = 0; block < count; ++block)
        blocks.push_back({.first = block * size,
                          .count = std::min(size, team.cores - block * size),
                          .worker = block * team.workers / count});
    return blocks;
}

int partials_needed(int count) {
    int needed = 0;
    for (int index = 0; index < count; ++index)
        needed = std::max(needed, std::popcount(unsigned(index)) + 1);
    return needed;
}

}    // namespace slipway
