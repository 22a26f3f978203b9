#include "api/spec/answers/answer_kinds.h"
#include "api/spec/tables.h"

namespace slipway {

namespace {

constexpr auto verdicts = std::to_array<std::string_view>(
    {"input_bound", "compile_bound", "sync_bound", "memory_bound", "compute_bound"});
constexpr Number seconds{.min = 0};
constexpr Number share{.min = 0};

const Object<Answer>& verdict_table() {
    static const auto table =
        Object<Answer>("Verdict", "What limits a job, and what to do about it.")
            .open()
            .field("kind", "What limits it.", Word{.allowed = verdicts}, known)
            .field("field", "The field of the spec that helps.", any_text, known)
            .field("message", "The number and the advice.", any_text, known)
            .field("shares",
                   "Of tracing, compiling and training: compile, input, transfer, sync, memory, "
                   "compute; 1 together.",
                   AnyObject{}, known);
    return table;
}

const Object<Answer>& memory_plan_table() {
    static const auto table =
        Object<Answer>("MemoryPlan", "Bytes that a program takes, known before it runs.")
            .open()
            .field("input_bytes", "Parameters, optimizer state and batch.", count, known)
            .field("output_bytes", "Results with memory of their own.", count, known)
            .field("aliased_bytes", "Inputs whose memory an output takes over.", count, known)
            .field("temporary_bytes", "What lives only inside a step.", count, known)
            .field("constant_bytes", "Of the temporaries: numbers of the program.", count, known)
            .field("code_bytes", "Machine code of its loop kernels, each counted once.", count,
                   known)
            .field("peak_bytes", "Inputs, outputs and temporaries.", count, known);
    return table;
}

Object<Answer> graph_like(std::string_view name, std::string_view summary) {
    return Object<Answer>(name, summary)
        .open()
        .field("hash", "32 hexadecimal digits.", any_text, known)
        .field("program", "train_step or evaluation_step.", any_text, known)
        .field("nodes", "Of the graph as traced.", count, known)
        .field("inputs", "How many values it takes.", count, known)
        .field("outputs", "How many it gives.", count, known)
        .field("kernels", "Steps of the program.", count, known)
        .field("compile_s", "Seconds that making it took.", seconds, known)
        .field("after_warm_up", "Made while training ran.", Flag{}, known)
        .field("cause", "Then: in what it differs from the nearest program.", any_text, or_null)
        .field("memory", "What it takes.", Nested<Answer>{&memory_plan_table()}, known);
}

const Object<Answer>& graph_summary_table() {
    static const auto table = graph_like("GraphSummary", "A program that a job made.");
    return table;
}

const Object<Answer>& graph_table() {
    static const auto slot =
        Object<Answer>("GraphSlot", "A value that a program takes or gives.")
            .open()
            .field("name", "Of the parameter, or what it is.", any_text, known)
            .field("shape", "f32[10,4].", any_text, known)
            .field("per_core", "Each core has its own.", Flag{}, known)
            .field("bytes", "Of one.", count, known)
            .field("aliased", "The output or input that shares its memory.", count, or_null);
    static const auto step = Object<Answer>("GraphStep", "A kernel of a program.")
                                 .open()
                                 .field("name", "The operation and its shape.", any_text, known)
                                 .field("per_core", "Run for each core.", Flag{}, known)
                                 .field("arithmetic", "A product or convolution.", Flag{}, known)
                                 .field("bytes", "Read and written by one call.", count, known);
    static const auto table =
        graph_like("Graph", "A program in full.")
            .field("input_slots", "In order.", List<Nested<Answer>>{{&slot}, 0, 1000000}, known)
            .field("output_slots", "In order.", List<Nested<Answer>>{{&slot}, 0, 1000000}, known)
            .field("steps", "In order.", List<Nested<Answer>>{{&step}, 0, 1000000}, known)
            .field("ir", "The graph as text.", Text{.min = 0, .max = 1 << 28}, known)
            .field("text", "The program as text.", Text{.min = 0, .max = 1 << 28}, known);
    return table;
}

const Object<Answer>& report_metric_table() {
    static const auto table =
        Object<Answer>("ReportMetric", "What was measured again and again.")
            .open()
            .field("name", "CompileTime, ExecuteTime, …", any_text, known)
            .field("unit", "s, or nothing for numbers.", any_text, known)
            .field("samples", "How often.", count, known)
            .field("total", "The sum.", Number{}, known)
            .field("value_rate", "The newest samples' sum per second.", Number{}, known)
            .field("rate", "The newest samples per second.", Number{}, known)
            .field("percentiles", "1, 5, 10, 20, 50, 80, 90, 95 and 99, of the newest samples.",
                   AnyObject{}, known);
    return table;
}

const Object<Answer>& report_kernel_table() {
    static const auto table =
        Object<Answer>("ReportKernel", "A kernel of the training step, measured.")
            .open()
            .field("name", "The operation and its shape.", any_text, known)
            .field("per_core", "Run for each core.", Flag{}, known)
            .field("arithmetic", "A product or convolution.", Flag{}, known)
            .field("calls", "Per step.", count, known)
            .field("seconds", "Per step, over all cores.", seconds, known)
            .field("share", "Of all kernels' time.", share, known)
            .field("bytes", "Read and written per step.", count, known)
            .field("bytes_per_s", "How fast.", Number{.min = 0}, known);
    return table;
}

const Object<Answer>& report_table() {
    static const auto core = Object<Answer>("ReportCore", "What a core did in training steps.")
                                 .open()
                                 .field("core", "Its number.", count, known)
                                 .field("busy_s", "Seconds it computed.", seconds, known)
                                 .field("busy_share", "Of the steps' time.", share, known);
    static const auto worker =
        Object<Answer>("ReportWorker", "What a thread did in training steps.")
            .open()
            .field("worker", "Its number, from 0.", count, known)
            .field("cpu", "The CPU that it is kept on; null: any.", count, or_null)
            .field("running_s", "Seconds in steps.", seconds, known)
            .field("waiting_s", "Of them, waiting for the others.", seconds, known)
            .field("reducing_s", "Of them, adding up over cores.", seconds, known);
    static const auto input =
        Object<Answer>("ReportInput", "How training samples were read.")
            .open()
            .field("threads", "Threads that read ahead.", count, known)
            .field("samples", "Read, a sample again in each epoch.", count, known)
            .field("augmented", "Of them, changed by data.augment.", count, known)
            .field("decoded", "Image files, those for validation too.", count, known)
            .field("read_s", "Seconds of all threads together.", seconds, known);
    static const auto epoch =
        Object<Answer>("ReportEpoch", "An epoch, as far as this attempt trained it.")
            .open()
            .field("epoch", "Its number, from 1.", count, known)
            .field("step", "Steps done when it ended.", count, known)
            .field("train_s", "Seconds of training.", seconds, known)
            .field("evaluate_s", "Seconds of evaluating.", seconds, known)
            .field("samples", "Trained on.", count, known)
            .field("samples_per_s", "Of training.", Number{.min = 0}, known)
            .field("values", "The mean training loss, and the evaluation's metrics.", AnyObject{},
                   known);
    static const auto table =
        Object<Answer>("Report", "Where a job's time goes.")
            .open()
            .field("attempt", "The attempt it is of.", count, known)
            .field("step", "After so many steps.", count, known)
            .field("finished", "The attempt has ended.", Flag{}, known)
            .field("wall_s", "Seconds since the attempt began.", seconds, known)
            .field("cpu_s", "CPU time of all its threads.", seconds, known)
            .field("verdict", "What limits it.", Nested<Answer>{&verdict_table()}, known)
            .field("phases", "Seconds by what the training thread did.", AnyObject{}, known)
            .field("input", "How training samples were read.", Nested<Answer>{&input}, known)
            .field("cores", "What each core did.", List<Nested<Answer>>{{&core}}, known)
            .field("workers", "What each thread did.", List<Nested<Answer>>{{&worker}}, known)
            .field("metrics", "Measured again and again.",
                   List<Nested<Answer>>{{&report_metric_table()}}, known)
            .field("counters", "Counted.", AnyObject{}, known)
            .field("kernels", "Slowest first.", List<Nested<Answer>>{{&report_kernel_table()}},
                   known)
            .field("timelines", "Steps that the kernels' times come from.", count, known)
            .field("compile_cache", "Hits and misses of compiled code on disk.", AnyObject{},
                   or_null)
            .field("graphs", "Programs made.", List<Nested<Answer>>{{&graph_summary_table()}},
                   known)
            .field("epochs", "The newest epochs of the attempt, in order.",
                   List<Nested<Answer>>{{&epoch}}, known)
            .field("notes", "What is unusual.", List<Text>{any_text}, known);
    return table;
}

const Object<Answer>& evaluation_table() {
    static const auto label =
        Object<Answer>("EvaluatedLabel", "A label that is a number.")
            .open()
            .field("name", "Its column.", any_text, known)
            .field("auc", "multilabel: area under the ROC curve; null: not both kinds of samples.",
                   Number{}, {.nullable = true})
            .field("mse", "regression: mean squared error.", Number{}, maybe)
            .field("r2", "regression: share of its variance that is explained; null: it has none.",
                   Number{}, {.nullable = true});
    static const auto matrix =
        Object<Answer>("ConfusionMatrix", "How often samples of a class are taken for another.")
            .open()
            .field("classes", "Names of rows and columns.", List<Text>{any_text}, known)
            .field("counts",
                   "A row for each class that samples have, a column for each that they "
                   "are taken for.",
                   List<List<Integer>>{.item = {.item = {}}}, known);
    static const auto table =
        Object<Answer>("Evaluation", "What a job's last evaluation found.")
            .open()
            .field("step", "After so many steps.", count, known)
            .field("epoch", "In this epoch.", count, known)
            .field("samples", "Of the validation part, each counted once.", count, known)
            .field("values", "The metrics by name, as in the curves.", AnyObject{}, known)
            .field("left_out", "A sentence for each value that cannot be calculated.",
                   List<Text>{any_text}, known)
            .field("labels", "Of multilabel and regression.", List<Nested<Answer>>{{&label}}, maybe)
            .field("confusion_matrix", "Of classification, where task.metrics has it.",
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
