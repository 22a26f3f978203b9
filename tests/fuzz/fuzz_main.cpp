// One libFuzzer program for each target: SLIPWAY_FUZZ_TARGET is its function.
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    slipway::SLIPWAY_FUZZ_TARGET(std::as_bytes(std::span(data, size)));
    return 0;
}
