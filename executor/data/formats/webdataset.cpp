#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <unordered_set>
#include <utility>

#include "api/base/letter_case.h"
#include "api/spec/dataset_format.h"
#include "executor/data/formats/csv_reader.h"
#include "executor/data/formats/example.h"
#include "executor/data/formats/format.h"
#include "executor/data/formats/image_dataset.h"
#include "executor/data/formats/name_table.h"
#include "executor/data/formats/shard_images.h"
#include "executor/data/formats/shards.h"
#include "executor/data/formats/tar_reader.h"
#include "executor/data/utf8.h"

// Members of a tar that follow one another and share folder and name up to the first dot are one
// sample: .jpg or .png is the image, .cls the class. A key that occurs again after others is an
// error, since a reader that streams would make two samples of it. Only the places of images are
// kept; they are decoded when a job wants them.
namespace slipway {

namespace {

constexpr std::string_view label_ending = "cls";
constexpr std::int64_t label_bytes_max = 4096;

bool is_tar(std::string_view name) {
    return name.ends_with(".tar") || name.ends_with(".tar.gz") || name.ends_with(".tgz");
}

/// "train/0017.left.jpg" has the key "train/0017" and the ending "left.jpg".
struct MemberName {
    std::string key;
    std::string ending;    ///< in lower case
};

/// None for what belongs to no sample: hidden files and names without a dot.
std::optional<MemberName> parse_member(std::string_view name) {
    const std::size_t slash = name.rfind('/');
    const std::size_t base = slash == std::string_view::npos ? 0 : slash + 1;
    const std::size_t dot = name.find('.', base);
    if (dot == std::string_view::npos || dot == base) return std::nullopt;
    return MemberName{std::filesystem::path(name.substr(0, dot)).lexically_normal().string(),
                      lower_case(name.substr(dot + 1))};
}

/// Gathers the samples of one shard after the other. Whatever is wrong with a sample leaves it out.
class WebdatasetBuilder {
public:
    WebdatasetBuilder(Shards shards, const DatasetOptions& options, ProblemLog& problems)
        : shards_(std::move(shards)),
          options_(options),
          problems_(problems),
          classes_(options.class_names) {}

    void add_file(std::int32_t file) {
        file_ = file;
        sample_ = {};
        keys_.clear();
        try {
            const std::string& name = shards_.files[std::size_t(file)];
            TarReader tar(shards_.folder.open(name), name);
            TarReader::Member member;
            while (tar.next(member))
                add(tar, member);
            end_sample();
        } catch (const DataError& error) {    // an inspection lists what is wrong and goes on
            DataProblem problem = error.problem();
            problem.row = std::max(problem.row, sample_.row);
            problems_.add(std::move(problem));
        }
    }

    std::unique_ptr<Dataset> finish() {
        if (index_.labels.empty()) {
            problems_.add(
                {.file = shards_.files[0], .message = "there is no sample that can be used"});
        }
        index_.class_names =
            options_.class_names.empty() ? classes_.sort(index_.labels) : options_.class_names;
        index_.part_names = std::move(shards_.part_names);
        return std::make_unique<ImageDataset>(
            std::move(index_),
            std::make_unique<ShardImages>(std::move(shards_.folder), std::move(shards_.files),
                                          std::move(pieces_)),
            options_, problems_);
    }

private:
    /// Members of one key, which follow one another.
    struct Sample {
        std::string key = {};
        std::int64_t row = 0;    ///< in its shard; 0: none yet
        std::vector<std::string> endings = {};
        std::optional<ShardImages::Piece> image = {};
        std::optional<std::string> label = {};
        std::string label_member = {};
        bool bad = false;    ///< its problem has been said
    };

    void add(TarReader& tar, const TarReader::Member& member) {
        const std::optional<MemberName> name = parse_member(member.name);
        if (!name) return;
        if (sample_.row == 0 || name->key != sample_.key) begin_sample(name->key, member.name);
        if (sample_.bad) return;
        const auto same = std::find(sample_.endings.begin(), sample_.endings.end(), name->ending);
        if (same != sample_.endings.end()) return refuse(member.name, "the member occurs twice");
        sample_.endings.push_back(name->ending);
        if (name->ending == label_ending) return take_label(tar, member);
        if (name->ending.find('.') == std::string::npos && is_image_name("x." + name->ending))
            take_image(tar, member);
    }

    void begin_sample(const std::string& key, const std::string& member) {
        end_sample();
        sample_ = Sample{.key = key, .row = sample_.row + 1};
        if (!keys_.insert(key).second) {
            refuse(member, fmt::format("the key {} occurs again after other samples; members of a "
                                       "sample follow one another",
                                       shown(key)));
        }
    }

    void take_label(TarReader& tar, const TarReader::Member& member) {
        if (member.bytes > label_bytes_max) {
            return refuse(member.name,
                          fmt::format("the label has {} bytes, more than the {} that are read",
                                      member.bytes, label_bytes_max));
        }
        const std::vector<std::byte> bytes = tar.read();
        sample_.label = without_blanks({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        sample_.label_member = member.name;
        if (sample_.label->empty()) return refuse(member.name, "the label is empty");
        if (!is_utf8(*sample_.label)) return refuse(member.name, "the label is not UTF-8");
    }

    void take_image(TarReader& tar, const TarReader::Member& member) {
        if (sample_.image) {
            return refuse(member.name, fmt::format("the sample has an image already, {}",
                                                   shown(sample_.image->field)));
        }
        if (member.bytes > image_file_bytes_max) {
            return refuse(member.name,
                          fmt::format("the image has {} bytes, more than the {} that are read",
                                      member.bytes, image_file_bytes_max));
        }
        sample_.image = ShardImages::Piece{.file = file_,
                                           .row = sample_.row,
                                           .field = member.name,
                                           .offset = member.begin,
                                           .size = member.bytes,
                                           .kept = {}};
        if (!tar.gzipped()) return;
        kept_bytes_ += member.bytes;
        check_kept_size(kept_bytes_);
        sample_.image->kept = tar.read();
    }

    void end_sample() {
        if (sample_.row == 0 || sample_.bad) return;
        if (!sample_.image || !sample_.label) {
            return refuse(sample_.key, fmt::format("the sample has no {}; it has .{}",
                                                   sample_.image ? ".cls" : ".jpg, .jpeg or .png",
                                                   fmt::join(sample_.endings, ", .")));
        }
        if (const auto wrong = name_problem(*sample_.label, "the member .cls"))
            return refuse(sample_.label_member, *wrong);
        const auto number = classes_.class_number(*sample_.label, options_.class_names);
        if (!number) {
            return refuse(sample_.label_member,
                          fmt::format("{} is neither in class_names nor an index into it, 0 to {}",
                                      shown(*sample_.label), options_.class_names.size() - 1));
        }
        pieces_.push_back(std::move(*sample_.image));
        index_.labels.push_back(*number);
        index_.parts.push_back(shards_.parts[std::size_t(file_)]);
    }

    void refuse(const std::string& member, const std::string& message) {
        sample_.bad = true;
        problems_.add({.file = shards_.files[std::size_t(file_)],
                       .row = sample_.row,
                       .field = member,
                       .message = message});
    }

    Shards shards_;
    const DatasetOptions& options_;
    ProblemLog& problems_;
    NameTable classes_;
    DatasetIndex index_;
    std::vector<ShardImages::Piece> pieces_;
    std::int64_t kept_bytes_ = 0;

    // of the shard that is being read
    std::int32_t file_ = 0;
    Sample sample_;
    std::unordered_set<std::string> keys_;
};

}    // namespace

std::unique_ptr<Dataset> open_webdataset(const std::filesystem::path& path,
                                         const DatasetOptions& options, ProblemLog& problems) {
    Shards shards = find_shards(path, is_tar, "file that ends with .tar, .tar.gz or .tgz");
    const std::size_t files = shards.files.size();
    WebdatasetBuilder builder(std::move(shards), options, problems);
    for (std::size_t i = 0; i < files; ++i)
        builder.add_file(std::int32_t(i));
    return builder.finish();
}

}    // namespace slipway
