#include "executor/train/fitting_batch.h"

#include <algorithm>

namespace slipway {

namespace {

constexpr std::int64_t even_unit = 8;
constexpr int guesses_max = 4;    // then the peak is no line, and halving is sure to end

struct Bound {
    std::int64_t units = 0;
    double peak = 0;
};

/// The largest number of units below `asked` that fits; 0: none.
std::int64_t largest_units(std::int64_t asked, double bytes_max,
                           const std::function<double(std::int64_t)>& peak) {
    Bound fits{1, peak(1)};
    if (asked <= 1 || fits.peak > bytes_max) return 0;
    Bound over{asked, peak(asked)};
    for (int round = 0; over.units - fits.units > 1; ++round) {
        const double share = (bytes_max - fits.peak) / std::max(1.0, over.peak - fits.peak);
        const double middle = round < guesses_max ? std::clamp(share, 0.0, 1.0) : 0.5;
        const auto step = std::int64_t(middle * double(over.units - fits.units));
        const std::int64_t guess =
            fits.units + std::clamp<std::int64_t>(step, 1, over.units - fits.units - 1);
        const Bound tried{guess, peak(guess)};
        (tried.peak <= bytes_max ? fits : over) = tried;
    }
    return fits.units;
}

}    // namespace

std::int64_t largest_fitting_batch(std::int64_t asked, std::int64_t bytes_max,
                                   const PeakOfBatch& peak) {
    const auto search = [&](std::int64_t below, std::int64_t unit) {
        return unit * largest_units(below / unit, double(bytes_max),
                                    [&](std::int64_t units) { return double(peak(units * unit)); });
    };
    if (asked % even_unit != 0) return search(asked, 1);
    const std::int64_t even = search(asked, even_unit);
    return even > 0 ? even : search(std::min(asked, even_unit), 1);
}

}    // namespace slipway
