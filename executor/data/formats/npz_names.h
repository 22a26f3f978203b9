#pragma once

#include <string>
#include <vector>

namespace slipway {

/// Two arrays of a .npz file that belong together.
struct NpzPair {
    std::string part;        ///< "train" of x_train and train_images; empty: the names have none
    std::string features;    ///< names of arrays
    std::string labels;
    std::string label_word;    ///< the name of the labels without the part
};

/// The pairs among the arrays of one file, in the order of the usual parts. `arrays`: the members'
/// names without .npy; each must belong to a pair.
/// errors  throws DataError that names the file, lists the arrays and says which names are
///         understood
std::vector<NpzPair> find_npz_pairs(const std::string& file,
                                    const std::vector<std::string>& arrays);

}    // namespace slipway
