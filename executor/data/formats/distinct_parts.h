#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipway {

/// Two files of one part are the same samples twice, such as a file beside its own .gz.
/// `part` makes a name of what tells parts apart.
/// errors  throws DataError that names both files
void require_distinct_parts(const std::vector<std::string>& files,
                            std::string (*part)(std::string_view file));

/// "x.tar" of "x.tar.gz" and "x.tgz"; endings in any case.
std::string without_compression(std::string_view file);

/// `file` without this ending in any case, gzipped or not: "train" of "train.csv.gz".
std::string without_ending(std::string_view file, std::string_view ending);

}    // namespace slipway
