#pragma once

#include <limits>

#include "executor/graph/op.h"
#include "executor/graph/ops/loops.h"

namespace slipway {

/// Whether x takes the place of the largest value so far: it is larger, or the first NaN.
template <class T>
bool is_above(T x, T largest) {
    return x > largest || (x != x && largest == largest);
}

template <class T>
bool is_below(T x, T smallest) {
    return x < smallest || (x != x && smallest == smallest);
}

/// One sum, maximum or minimum in the making. Of nothing: 0, the lowest, the highest value.
template <class T>
class Reducer {
public:
    explicit Reducer(Reduction reduction) : reduction_(reduction) {
        using Limits = std::numeric_limits<T>;
        const T lowest = Limits::has_infinity ? T(-Limits::infinity()) : Limits::lowest();
        const T highest = Limits::has_infinity ? Limits::infinity() : Limits::max();
        best_ = reduction == Reduction::maximum ? lowest : highest;
    }

    void add(T value) {
        if (reduction_ == Reduction::add) {
            sum_ += Sum<T>(value);
        } else if (reduction_ == Reduction::maximum ? is_above(value, best_)
                                                    : is_below(value, best_)) {
            best_ = value;
        }
    }
    T result() const { return reduction_ == Reduction::add ? T(sum_) : best_; }

private:
    Reduction reduction_;
    Sum<T> sum_ = 0;
    T best_;
};

}    // namespace slipway
