#include "executor/codegen/jit/compiler.h"
#include "executor/processor/instruction_set.h"

namespace slipway {

CompileTarget host_target() {
    const InstructionSet used = instruction_set();
    return {.lanes = used >= InstructionSet::avx512_core ? 16U : 8U,
            .rounds_to_bf16 = used >= InstructionSet::avx512_core_bf16};
}

}    // namespace slipway
