#include "api/spec/answers/answer_kinds.h"
#include "api/spec/tables.h"

namespace slipway {

namespace {

constexpr auto verdicts = std::to_array<std::string_view>(
    {"input_bound", "compile_bound", "sync_bound", "memory_bound", "compute_bound", "diverged"});
constexpr Number seconds{.min = 0};
constexpr Number share{.min = 0};
constexpr std::string_view nonfinite_summary =
    "nan, inf or -inf by name, for each value that is null because it is not finite.";

const Object<Answer>& verdict_table() {
    static const auto table =
        Object<Answer>("Verdict", "Bottleneck of a job, and how to remove it.")
            .open()
            .field("kind", "Type of the bottleneck; diverged: the training loss has grown instead.",
                   Word{.allowed = verdicts}, known)
            .field("field", "Field of the spec that helps.", any_text, known)
            .field("message", "Measured value and advice.", any_text, known)
            .field("shares",
                   "Fractions of the time of tracing, compiling and training: compile, input, "
                   "transfer, sync, memory, compute; their sum is 1.",
                   AnyObject{}, known);
    return table;
}

const Object<Answer>& memory_plan_table() {
    static const auto table =
        Object<Answer>("MemoryPlan", "Memory of a program in bytes, known before it runs.")
            .open()
            .field("input_bytes", "Parameters, optimizer state and batch.", count, known)
            .field("output_bytes", "Outputs with memory of their own.", count, known)
            .field("aliased_bytes", "Inputs whose memory an output reuses.", count, known)
            .field("temporary_bytes", "Buffers used only within a step.", count, known)
            .field("constant_bytes", "Part of the temporaries: constants of the program.", count,
                   known)
            .field("code_bytes", "Machine code of its loop kernels, each counted once.", count,
                   known)
            .field("peak_bytes", "Peak: inputs, outputs and temporaries.", count, known);
    return table;
}

Object<Answer> graph_like(std::string_view name, std::string_view summary) {
    return Object<Answer>(name, summary)
        .open()
        .field("hash", "Hash of the program, 32 hexadecimal digits.", any_text, known)
        .field("program", "train_step or evaluation_step.", any_text, known)
        .field("nodes", "Number of nodes of the traced graph.", count, known)
        .field("inputs", "Number of inputs.", count, known)
        .field("outputs", "Number of outputs.", count, known)
        .field("kernels", "Number of kernels.", count, known)
        .field("compile_s", "Compile time in seconds.", seconds, known)
        .field("after_warm_up", "True: compiled while the training was running.", Flag{}, known)
        .field("cause", "If after_warm_up: how it differs from the most similar program.", any_text,
               or_null)
        .field("memory", "Memory of the program.", Nested<Answer>{&memory_plan_table()}, known);
}

const Object<Answer>& graph_summary_table() {
    static const auto table = graph_like("GraphSummary", "A compiled program of a job.");
    return table;
}

const Object<Answer>& graph_table() {
    static const auto slot =
        Object<Answer>("GraphSlot", "An input or output of a program.")
            .open()
            .field("name", "Name of the parameter, or a description.", any_text, known)
            .field("shape", "Type and shape, such as f32[10,4].", any_text, known)
            .field("per_core", "True: each core has its own.", Flag{}, known)
            .field("bytes", "Size of one in bytes.", count, known)
            .field("aliased", "Output or input that shares its memory.", count, or_null);
    static const auto step =
        Object<Answer>("GraphStep", "A kernel of a program.")
            .open()
            .field("name", "Operation and shape.", any_text, known)
            .field("per_core", "True: it runs once per core.", Flag{}, known)
            .field("arithmetic", "True: a matmul or convolution.", Flag{}, known)
            .field("bytes", "Bytes read and written per call.", count, known);
    static const auto table =
        graph_like("Graph", "A compiled program in full.")
            .field("input_slots", "Inputs, in order.", List<Nested<Answer>>{{&slot}, 0, 1000000},
                   known)
            .field("output_slots", "Outputs, in order.", List<Nested<Answer>>{{&slot}, 0, 1000000},
                   known)
            .field("steps", "Kernels, in order.", List<Nested<Answer>>{{&step}, 0, 1000000}, known)
            .field("ir", "The graph as text.", Text{.min = 0, .max = 1 << 28}, known)
            .field("text", "The program as text.", Text{.min = 0, .max = 1 << 28}, known);
    return table;
}

const Object<Answer>& report_metric_table() {
    static const auto table =
        Object<Answer>("ReportMetric", "A metric that is measured repeatedly.")
            .open()
            .field("name", "CompileTime, ExecuteTime, …", any_text, known)
            .field("unit", "s, or empty for numbers.", any_text, known)
            .field("samples", "Number of samples.", count, known)
            .field("total", "Sum of all samples.", Number{}, known)
            .field("value_rate", "Sum of the most recent samples per second.", Number{}, known)
            .field("rate", "Number of the most recent samples per second.", Number{}, known)
            .field("percentiles",
                   "Percentiles 1, 5, 10, 20, 50, 80, 90, 95 and 99 of the most recent samples.",
                   AnyObject{}, known);
    return table;
}

const Object<Answer>& report_kernel_table() {
    static const auto table =
        Object<Answer>("ReportKernel", "Measured time of a kernel of the training step.")
            .open()
            .field("name", "Operation and shape.", any_text, known)
            .field("per_core", "True: it runs once per core.", Flag{}, known)
            .field("arithmetic", "True: a matmul or convolution.", Flag{}, known)
            .field("calls", "Calls per step.", count, known)
            .field("seconds", "Per step, over all cores.", seconds, known)
            .field("share", "Fraction of the time of all kernels.", share, known)
            .field("bytes", "Bytes read and written per step.", count, known)
            .field("bytes_per_s", "Bytes per second.", Number{.min = 0}, known);
    return table;
}

const Object<Answer>& report_worker_table() {
    static const auto table =
        Object<Answer>("ReportWorker", "Activity of a thread during training steps.")
            .open()
            .field("worker", "Number of the thread, from 0.", count, known)
            .field("cpu", "CPU that the thread is pinned to; null: any.", count, or_null)
            .field("running_s", "Seconds in steps.", seconds, known)
            .field("waiting_s", "Of these, seconds in barriers, waiting for other threads.",
                   seconds, known)
            .field("reducing_s", "Of these, seconds in all-reduce.", seconds, known);
    return table;
}

const Object<Answer>& report_threads_table() {
    static const auto table =
        Object<Answer>("ReportThreads", "Worker threads that run the training steps.")
            .open()
            .field("granted", "Most that the job may use.", count, known)
            .field("used", "Number in use: fewer where steps are as fast.", count, known)
            .field("reason", "What was measured; empty: nothing was compared.", any_text, known);
    return table;
}

const Object<Answer>& report_table() {
    static const auto core =
        Object<Answer>("ReportCore", "Activity of a core during training steps.")
            .open()
            .field("core", "Number of the core.", count, known)
            .field("busy_s", "Seconds of computation.", seconds, known)
            .field("busy_share", "Fraction of the time of the steps.", share, known);
    static const auto input =
        Object<Answer>("ReportInput", "Statistics of reading training samples.")
            .open()
            .field("threads", "Number of prefetching threads.", count, known)
            .field("samples", "Samples read, counted again in each epoch.", count, known)
            .field("augmented", "Of these, samples changed by data.augment.", count, known)
            .field("decoded", "Image files decoded, including those for validation.", count, known)
            .field("read_s", "Seconds of reading, over all threads.", seconds, known);
    static const auto epoch =
        Object<Answer>("ReportEpoch", "An epoch, or the part of it that this attempt trained.")
            .open()
            .field("epoch", "Number of the epoch, from 1.", count, known)
            .field("step", "Steps completed at its end.", count, known)
            .field("train_s", "Seconds of training.", seconds, known)
            .field("evaluate_s", "Seconds of evaluation.", seconds, known)
            .field("samples", "Number of training samples.", count, known)
            .field("samples_per_s", "Training samples per second.", Number{.min = 0}, known)
            .field("values", "Mean training loss and evaluation metrics.", AnyObject{}, known)
            .field("nonfinite", nonfinite_summary, AnyObject{}, maybe);
    static const auto table =
        Object<Answer>("Report", "Performance report of a job.")
            .open()
            .field("attempt", "Attempt that the report describes.", count, known)
            .field("step", "Number of completed steps.", count, known)
            .field("finished", "True: the attempt has ended.", Flag{}, known)
            .field("wall_s", "Seconds since the attempt started.", seconds, known)
            .field("cpu_s", "CPU seconds of all threads.", seconds, known)
            .field("verdict", "Bottleneck of the job.", Nested<Answer>{&verdict_table()}, known)
            .field("phases", "Seconds per phase of the training thread.", AnyObject{}, known)
            .field("input", "Statistics of reading training samples.", Nested<Answer>{&input},
                   known)
            .field("cores", "Activity of each core.", List<Nested<Answer>>{{&core}}, known)
            .field("instruction_set",
                   "Instruction set that kernels are chosen by: avx2, avx512_core, "
                   "avx512_core_bf16, avx512_core_amx or baseline.",
                   any_text, maybe)
            .field("threads", "Number of worker threads, and why.",
                   Nested<Answer>{&report_threads_table()}, maybe)
            .field("workers", "Activity of each thread.",
                   List<Nested<Answer>>{{&report_worker_table()}}, known)
            .field("metrics", "Metrics that are measured repeatedly.",
                   List<Nested<Answer>>{{&report_metric_table()}}, known)
            .field("counters", "Counters by name.", AnyObject{}, known)
            .field("kernels", "Kernels of the training step, slowest first.",
                   List<Nested<Answer>>{{&report_kernel_table()}}, known)
            .field("timelines", "Number of steps that the kernel times are based on.", count, known)
            .field("compile_cache", "Hits and misses of the compile cache on disk.", AnyObject{},
                   or_null)
            .field("graphs", "Compiled programs.", List<Nested<Answer>>{{&graph_summary_table()}},
                   known)
            .field("epochs", "The most recent epochs of the attempt, in order.",
                   List<Nested<Answer>>{{&epoch}}, known)
            .field("notes", "Remarks on anything unusual.", List<Text>{any_text}, known);
    return table;
}

const Object<Answer>& evaluation_table() {
    static const auto label =
        Object<Answer>("EvaluatedLabel", "Metrics of a numeric label.")
            .open()
            .field("name", "Column of the label.", any_text, known)
            .field("auc", "multilabel: area under the ROC curve; null: only one kind of sample.",
                   Number{}, {.nullable = true})
            .field("mse", "regression: mean squared error.", Number{}, {.nullable = true})
            .field("r2", "regression: coefficient of determination; null: the label does not vary.",
                   Number{}, {.nullable = true})
            .field("nonfinite", nonfinite_summary, AnyObject{}, maybe);
    static const auto matrix =
        Object<Answer>("ConfusionMatrix",
                       "How often samples of one class are predicted as another.")
            .open()
            .field("classes", "Class names of rows and columns.", List<Text>{any_text}, known)
            .field("counts", "One row per true class, one column per predicted class.",
                   List<List<Integer>>{.item = {.item = {}}}, known);
    static const auto table =
        Object<Answer>("Evaluation", "Last evaluation of a job.")
            .open()
            .field("step", "Number of completed steps.", count, known)
            .field("epoch", "Epoch.", count, known)
            .field("samples", "Number of validation samples, each counted once.", count, known)
            .field("values", "The metrics by name, as in the curves.", AnyObject{}, known)
            .field("nonfinite", nonfinite_summary, AnyObject{}, maybe)
            .field("left_out", "One sentence per value that cannot be computed.",
                   List<Text>{any_text}, known)
            .field("labels", "Metrics per label, for multilabel and regression.",
                   List<Nested<Answer>>{{&label}}, maybe)
            .field("confusion_matrix",
                   "Confusion matrix of a classification, if task.metrics includes it.",
                   Nested<Answer>{&matrix}, maybe);
    return table;
}

}    // namespace

std::span<const ObjectTable* const> report_answer_tables() {
    static const auto graphs = page_of("GraphList", graph_summary_table());
    static const std::vector<const ObjectTable*> all{&report_table(), &evaluation_table(), &graphs,
                                                     &graph_table()};
    return all;
}

}    // namespace slipway
