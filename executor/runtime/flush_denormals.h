#pragma once

#include <immintrin.h>

namespace slipway {

/// While it lives, this thread takes numbers below the smallest normal one for zero and rounds
/// results down there to zero, as XLA does: a processor that meets one falls back to microcode, a
/// hundred times slower, and a masked softmax or an old momentum is full of them.
class FlushDenormals {
public:
    FlushDenormals() : before_(_mm_getcsr()) {
        _mm_setcsr(before_ | _MM_FLUSH_ZERO_ON | _MM_DENORMALS_ZERO_ON);
    }
    ~FlushDenormals() { _mm_setcsr(before_); }
    FlushDenormals(const FlushDenormals&) = delete;
    FlushDenormals& operator=(const FlushDenormals&) = delete;

private:
    const unsigned before_;
};

}    // namespace slipway
