#include "executor/program/program.h"

namespace slipway {

std::vector<StepRange> steps_in_one_go(const Program& program) {
    std::vector<StepRange> ranges(program.steps.size());
    for (std::size_t first = 0, end = 0; first < ranges.size(); first = end) {
        end = first + 1;
        while (program.replicas_together > 1 && end < ranges.size() && program.steps[end].continues)
            ++end;
        for (std::size_t i = first; i < end; ++i)
            ranges[i] = {first, end - 1};
    }
    return ranges;
}

}    // namespace slipway
