#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/spec/pixel_layout.h"
#include "api/spec/truncated_images.h"
#include "executor/data/formats/image.h"
#include "executor/data/problem.h"
#include "executor/tensor/shape.h"

namespace slipway {

/// How the files of a dataset are to be read. A format reads the fields that concern it.
struct DatasetOptions {
    std::string label_column = "label";               ///< csv, image_csv, tfrecord: of classes
    std::vector<std::string> label_columns = {};      ///< likewise, of numbers instead of classes
    std::string group_column = {};                    ///< likewise; empty: no groups
    std::string file_column = "file";                 ///< image_csv
    std::string labels_file = "labels.csv";           ///< image_csv: the table, below the folder
    std::vector<std::string> feature_columns = {};    ///< csv, tfrecord; empty: all but these
    std::string image_column = {};    ///< tfrecord: the image; empty: "image", where there is one
    /// tfrecord: the image is pixels in this order; none: a JPEG or PNG file.
    std::optional<PixelLayout> raw_pixels = {};
    /// tfrecord, with raw_pixels: height, width and depth of all images; empty: each record's own.
    std::vector<std::int64_t> raw_shape = {};
    /// tfrecord, with raw_pixels and without raw_shape: where a record has them.
    std::vector<std::string> shape_columns = {"height", "width", "depth"};
    std::vector<std::string> class_names = {};    ///< in their order; empty: as found
    std::int64_t image_size = 0;                  ///< images: side in pixels; 0: as the first image
    std::int64_t channels = 0;                    ///< images: 1 gray, 3 RGB; 0: 3 if any is
    std::vector<double> mean = {};                ///< per channel or column, or one for all
    std::vector<float> deviation = {};            ///< likewise; (x - mean) / deviation
    TruncatedImages truncated_images = TruncatedImages::fail;    ///< images
    std::int64_t cache_bytes_max = 512 << 20;    ///< images: decoded pixels kept in memory
    /// csv, tfrecord: used as features only where feature_columns names them. The labels and groups
    /// of a dataset whose job has others; not in the JSON.
    std::vector<std::string> excluded_columns = {};
    /// Numbers of label_columns must be from 0 to 1. What a task asks for; not in the JSON.
    bool labels_are_shares = false;
};

/// Reads the options of a dataset's JSON (label_column, label_columns, group_column, file_column,
/// image_column, raw_pixels, raw_shape, shape_columns, labels_file, feature_columns, class_names,
/// image_size, channels, truncated_images, mean, std). null means none. errors  invalid_argument
/// naming the unknown or wrong key and what is allowed
DatasetOptions parse_dataset_options(const nlohmann::json& options);

/// What is known of a dataset without reading its samples. Constant after opening.
struct DatasetIndex {
    Dims feature_dims;    ///< of one sample: {channels, height, width} or {columns}
    std::vector<std::string> class_names;    ///< sorted, or as the options say
    /// Per sample, in [0, class_names.size()); 0 where labels are numbers.
    std::vector<std::int32_t> labels;
    std::vector<std::string> target_names;    ///< labels that are numbers; empty: they are classes
    std::vector<float> targets;               ///< per sample target_names.size() finite numbers
    std::string group_column;    ///< what the groups are, for messages; empty: no groups
    std::vector<std::string> group_names;    ///< sorted; empty: no groups
    std::vector<std::int32_t> groups;        ///< per sample, index of group_names; empty: no groups
    std::vector<std::string> part_names;     ///< "train", "val"; file prefixes; empty: one part
    std::vector<std::int32_t> parts;         ///< per sample, index of part_names; empty: one part
    std::vector<std::string> feature_names;    ///< of a table's columns; empty: they have none
    /// Of the table or the records, features or not, as an inspection lists them; empty: they have
    /// no names.
    std::vector<std::string> column_names;

    std::int64_t sample_count() const { return std::int64_t(labels.size()); }
    std::int64_t class_count() const { return std::int64_t(class_names.size()); }
    std::int64_t target_count() const { return std::int64_t(target_names.size()); }
    std::int64_t feature_count() const;    ///< numbers per sample
};

class CopyWriter;

/// What a shared copy of a dataset (executor/data/shared) holds; none: nothing, since the samples
/// do not lie in memory. Part of the files: numbers stay.
enum class CopyKind : std::int64_t { none = 0, idx = 1, cifar10 = 2, table = 3, npz = 4 };

/// A dataset opened for reading. Safe from every thread: readers share nothing that changes but
/// the cache of decoded images, which looks after itself.
class Dataset {
public:
    virtual ~Dataset() = default;
    Dataset(const Dataset&) = delete;
    Dataset& operator=(const Dataset&) = delete;

    const DatasetIndex& index() const { return index_; }
    std::int64_t size() const { return index_.sample_count(); }
    std::int32_t label(std::int64_t sample) const { return index_.labels[std::size_t(sample)]; }
    /// Its labels that are numbers, index().target_count() of them.
    std::span<const float> targets(std::int64_t sample) const {
        const auto count = index_.target_names.size();
        return std::span(index_.targets).subspan(std::size_t(sample) * count, count);
    }

    /// Writes the sample's features, index().feature_count() numbers: bytes are scaled to [0, 1],
    /// then (x - mean) / deviation where the options say so; numbers of a table are as written.
    /// errors  DataError when the file has become unreadable, damaged or another size
    virtual void read(std::int64_t sample, std::span<float> features) const = 0;
    /// The same in double, with what a float rounds away of a table's numbers; without any
    /// normalisation.
    virtual void read_exact(std::int64_t sample, std::span<double> features) const;

    /// The sample's pixels, for sets whose features are pixels: before any normalisation, at its
    /// own size where the options give none. It will be shrunk to no less than `side_hint`: see
    /// ImageRequest.
    /// errors  as read
    virtual Image image(std::int64_t sample, std::int64_t side_hint = 0) const;

    /// The bytes that say whether two samples are the same, whatever their labels: those of its
    /// image file, else of its features.
    /// errors  as read
    virtual std::vector<std::byte> content(std::int64_t sample) const;

    /// Whether samples are image files that are decoded when read; and how often that was done.
    virtual bool decodes_images() const { return false; }
    virtual std::int64_t decoded_count() const { return 0; }

    /// Lets go of what is kept of decoded images, and keeps none: whoever reads them does. Call it
    /// before another thread reads.
    virtual void keep_no_images() {}

    /// What is wrong with the sample's image, when it is there and cannot be decoded whole.
    virtual std::optional<DataProblem> damage(std::int64_t /*sample*/) const { return {}; }

    /// Damaged images that were accepted since the last call, each once.
    virtual std::vector<DataProblem> take_accepted() const { return {}; }
    /// Whether the sample's image was ever read as far as it can be, although it is damaged.
    virtual bool is_accepted(std::int64_t /*sample*/) const { return false; }

    /// Where the sample came from: "train/ants/0013035.jpg", "t10k-images-idx3-ubyte.gz row 7".
    virtual DataProblem place(std::int64_t sample) const = 0;

    /// Every file that the dataset consists of, relative to its folder, in an order of its own.
    virtual std::vector<std::string> files() const = 0;

    /// What a copy of it holds, and the writing of it.
    virtual CopyKind copy_kind() const { return CopyKind::none; }
    virtual void write_copy(CopyWriter&) const {}

protected:
    Dataset() = default;
    DatasetIndex index_;
};

/// Opens a dataset: every header, name and label is checked now, pixels when they are read.
///   idx           a folder with pairs NAMEimages-idx3-ubyte[.gz] and NAMElabels-idx1-ubyte[.gz];
///                 NAME is the part
///   csv           a file or a folder of *.csv; the file's name without .csv is the part
///   image_folder  CLASS/*.jpg, or PART/CLASS/*.jpg with parts among train, val, valid, test
///   image_csv     a table of files below the folder, and the files
///   cifar10       *.bin[.gz]: records of a label and 32 x 32 pixels; class names beside them in
///                 batches.meta.txt
///   tfrecord      TFRecord files of tf.train.Example, one a sample: an encoded image or lists of
///                 numbers, and a label
///   webdataset    *.tar, *.tar.gz, *.tgz: a sample is KEY.jpg (or .jpeg, .png) beside KEY.cls
///   npz           *.npz: pairs of arrays, features and labels; see docs/formats.md for their names
///   text          is refused (invalid_argument): executor/text opens it with a tokenizer
/// Images of another size than the first need `image_size`; of other channels are converted.
/// errors  DataError for what is in the files; not_found without folder; invalid_argument for an
///         unknown format or options that do not fit; exhausted over a memory limit
std::unique_ptr<Dataset> open_dataset(std::string_view format, const std::filesystem::path& path,
                                      const DatasetOptions& options = {});
/// The same, with problems handed to `problems`: an inspection opens what can be opened.
std::unique_ptr<Dataset> open_dataset(std::string_view format, const std::filesystem::path& path,
                                      const DatasetOptions& options, ProblemLog& problems);

/// The formats that open_dataset knows, in the order of their documentation.
std::span<const std::string_view> dataset_formats();

/// Mean and standard deviation of features: one of each per channel (images) or column (tables).
/// A measured mean is a float's number, except where it is_far from 0.
struct Moments {
    std::vector<double> mean;
    std::vector<float> deviation;    ///< 1 where a feature never varies
};

/// Whether a column of a table lies so far from 0 that a float would round more than a 4096th of
/// its deviation away: it is normalised in double then, all others in float.
bool is_far(double mean, float deviation);

/// Reads these samples once. The sum is taken in sample order, in double: no matter how many
/// threads, the same numbers.
Moments measure(const Dataset& dataset, std::span<const std::int64_t> samples, int threads);

/// `dataset`, read as (x - mean) / deviation. `dataset` must outlive the result.
/// errors  invalid_argument when there is neither one number nor one per channel or column
std::unique_ptr<Dataset> normalized(const Dataset& dataset, Moments moments);
/// The same, which keeps `dataset`; a mean or deviation that is not given is 0 or 1.
std::unique_ptr<Dataset> normalized(std::unique_ptr<Dataset> dataset, Moments moments);

}    // namespace slipway
