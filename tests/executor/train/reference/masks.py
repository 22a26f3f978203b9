#!/usr/bin/env python3
"""What a masked language model is shown and asked: executor/text/masked_samples a second time.

Run as a program it prints the rows that tests/executor/text/test_masked_samples.cpp compares with.
"""
SITE_SHUFFLE, SITE_MASK = 2, 8
WORD = 0xFFFFFFFF


def philox(counter, key):
    """Philox-4x32-10."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 & WORD, (p0 >> 32) ^ c3 ^ k1, p0 & WORD
        k0, k1 = (k0 + 0x9E3779B9) & WORD, (k1 + 0xBB67AE85) & WORD
    return c0, c1, c2, c3


class Stream:
    """The numbers of (seed, site, index)."""

    def __init__(self, seed, site, index):
        self.key = (seed & WORD, seed >> 32)
        self.rest = (index & WORD, index >> 32, site)
        self.drawn = 0
        self.block = ()

    def next_u32(self):
        if self.drawn % 4 == 0:
            self.block = philox((self.drawn // 4, *self.rest), self.key)
        self.drawn += 1
        return self.block[(self.drawn - 1) % 4]

    def next_below(self, bound):
        """Lemire's method over 64 bits."""
        threshold = (1 << 64) % bound
        while True:
            product = (self.next_u32() << 32 | self.next_u32()) * bound
            if product & ((1 << 64) - 1) >= threshold:
                return product >> 64


def masked(row, count, sample, epoch, seed, vocabulary, mask, special):
    """(tokens as shown, {position: token to predict}) of a row whose first `count` tokens are real."""
    places = [i for i in range(count) if row[i] not in special]
    wanted = max(1, (15 * len(places) + 50) // 100) if places else 0
    stream = Stream(seed, SITE_MASK, epoch << 32 | sample)
    for i in range(wanted):
        j = i + stream.next_below(len(places) - i)
        places[i], places[j] = places[j], places[i]
    shown, labels = list(row), {}
    for place in sorted(places[:wanted]):
        labels[place] = row[place]
        lot = stream.next_below(10)
        if lot < 8:
            shown[place] = mask
        elif lot == 8:
            other = stream.next_below(vocabulary)
            while other in special:
                other = stream.next_below(vocabulary)
            shown[place] = other
    return shown, labels


def main():
    # framed_rows(24, {24, 20}) of make_rows.h
    word, rows = 0, []
    for count in (24, 20):
        row = []
        for i in range(24):
            row.append(0 if i >= count else 1 if i == 0 else 2 if i + 1 == count else 4 + word % 96)
            word += 1
        rows.append(row)
    for sample, count, epoch in ((0, 24, 0), (1, 20, 0), (1, 20, 3)):
        print(sample, epoch, masked(rows[sample], count, sample, epoch, 11, 100, 3, {0, 1, 2, 3}))


if __name__ == "__main__":
    main()
