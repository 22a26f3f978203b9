#pragma once

#include <span>
#include <vector>

#include "api/spec/augment_spec.h"
#include "executor/data/formats/image.h"
#include "executor/tensor/random.h"

namespace slipway {

/// Height and width of an image; 0: they differ from image to image.
struct ImageSize {
    std::int64_t height = 0;
    std::int64_t width = 0;
    bool known() const { return height > 0; }
    bool operator==(const ImageSize&) const = default;
};

/// Whether a step brings images to a size of its own.
bool sets_size(const AugmentSpec& step);
/// Whether a step does something else to each use of a sample.
bool is_drawn(const AugmentSpec& step);

/// Takes an image through the steps in their order, drawing from `random`: the same stream and
/// image give the same pixels. errors  throws invalid_argument when the image is too small for a
/// crop, naming the step
Image augmented(Image image, std::span<const AugmentSpec> steps, RandomStream& random);

/// What evaluation sees: steps that are not drawn, and in the middle of what they draw from, those
/// that are: random_crop as center_crop, random_resized_crop the largest part in the middle with
/// the size's proportion; all others leave the image as it is. Ends at the same size.
Image unaugmented(Image image, std::span<const AugmentSpec> steps);

/// The size that images end at.
/// errors  throws invalid_argument naming the step ("data.augment[1] (random_crop)") when a crop is
///         larger than its image, or sizes are left to differ
ImageSize size_after(std::span<const AugmentSpec> steps, ImageSize size);

}    // namespace slipway
