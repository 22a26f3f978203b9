#!/usr/bin/env python3
"""What torchvision makes of two small images: goldens.json, for test_goldens.cpp.

usage: make_goldens.py > tests/executor/data/augment/goldens.json

Needs Debian's python3-torchvision and python3-pil. Images are Pillow's where torchvision has both, because that is what
its loaders give; hue is that of byte tensors, since Pillow's has only 256 hues.
"""
import json
import sys

import numpy
import torch
import torchvision.transforms.functional as F
from PIL import Image
from torchvision.transforms import InterpolationMode

HEIGHT, WIDTH = 13, 17


def level(y, x, channel):
    return (x * 11 + y * 7 + channel * 53 + (x * y * 13) % 97) % 256


def image_of(channels):
    pixels = numpy.array([[[level(y, x, c) for c in range(channels)] for x in range(WIDTH)] for y in range(HEIGHT)],
                         dtype=numpy.uint8)
    return Image.fromarray(pixels if channels == 3 else pixels[:, :, 0])


def bytes_of(image):
    if isinstance(image, torch.Tensor):
        image = image.permute(1, 2, 0).numpy()
    return numpy.array(image)


def hue(image, share):
    return F.adjust_hue(F.pil_to_tensor(image), share)


def rotate(image, degrees, fill):
    return F.rotate(image, degrees, InterpolationMode.BILINEAR, fill=fill)


def affine(image, degrees, right, down, scale, shear, fill):
    return F.affine(image, degrees, [right, down], scale, [shear, 0.0], InterpolationMode.BILINEAR, fill=fill)


def erase(image, top, left, height, width, fill):
    return F.erase(F.pil_to_tensor(image), top, left, height, width, torch.tensor(fill))


CASES = [
    ("shorter_side", F.resize, [[7], [29], [13]]),
    ("resize", lambda image, *size: F.resize(image, list(size)), [[9, 5], [40, 31], [13, 50], [1, 1]]),
    ("resized_crop", lambda image, *box: F.resized_crop(image, *box[:4], list(box[4:])),
     [[2, 3, 9, 11, 6, 6], [0, 0, 4, 3, 8, 8], [5, 9, 8, 8, 8, 8]]),
    ("crop", F.crop, [[1, 2, 5, 6], [0, 0, 13, 17]]),
    ("pad", lambda image, pixels, fill: F.pad(image, pixels, fill), [[2, 0], [3, 200]]),
    ("center_crop", lambda image, *size: F.center_crop(image, list(size)), [[8, 8], [9, 4], [20, 21], [6, 22]]),
    ("horizontal_flip", F.hflip, [[]]),
    ("vertical_flip", F.vflip, [[]]),
    ("rotate", rotate, [[17.5, 51], [-63, 0], [180, 0], [120, 255]]),
    ("affine", affine, [[10.0, 2, -3, 1.25, 8.0, 30], [-75.0, 0, 1, 0.6, -20.0, 0], [0.0, 3, 2, 1.0, 0.0, 99]]),
    ("brightness", F.adjust_brightness, [[0.4], [1.7], [0.0]]),
    ("contrast", F.adjust_contrast, [[0.3], [1.6], [0.0]]),
    ("saturation", F.adjust_saturation, [[0.0], [0.4], [1.9]]),
    ("hue", hue, [[-0.3], [0.1], [0.5]]),
    ("erase", erase, [[2, 3, 6, 9, 128]]),
]


def main():
    lines = []
    for name, function, parameters in CASES:
        for channels in (3, 1):
            for values in parameters:
                pixels = bytes_of(function(image_of(channels), *values))
                lines.append(json.dumps({"function": name, "channels": channels, "parameters": values,
                                         "height": pixels.shape[0], "width": pixels.shape[1],
                                         "pixels": pixels.tobytes().hex()}))
    sys.stdout.write("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
