#pragma once

#include <vector>

namespace slipway {

/// How many virtual cores there are, and how many threads run them.
struct Team {
    int cores = 1;
    int workers = 1;
};

/// A range of cores whose contributions one worker adds up by itself: an aligned subtree of the
/// fixed tree.
struct CoreBlock {
    int first = 0;
    int count = 0;
    int worker = 0;
};

/// The subtrees of ((0+1)+(2+3))+((4+5)+(6+7))... and their workers: whole powers of two (the last
/// may be cut off by the number of cores), at most block_cores, dealt out in order.
std::vector<CoreBlock> core_blocks(const Team& team);

/// The most partial sums that `count` cores of one block have at once: the one that a core adds to,
/// and as many of its left neighbours as its number has ones.
int partials_needed(int count);

}    // namespace slipway
