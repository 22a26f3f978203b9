#include "api/sweep_import/parameter_names.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "api/spec/task_spec.h"

namespace slipway {

namespace {

struct UsualName {
    std::string_view name;
    std::string_view place;
};

// Names are compared in small letters, with underscores for dashes and spaces.
constexpr auto parameter_names = std::to_array<UsualName>({
    {"lr", "train.optimizer.lr"},
    {"learning_rate", "train.optimizer.lr"},
    {"base_lr", "train.optimizer.lr"},
    {"weight_decay", "train.optimizer.weight_decay"},
    {"wd", "train.optimizer.weight_decay"},
    {"momentum", "train.optimizer.momentum"},
    {"nesterov", "train.optimizer.nesterov"},
    {"beta1", "train.optimizer.betas.0"},
    {"beta_1", "train.optimizer.betas.0"},
    {"adam_beta1", "train.optimizer.betas.0"},
    {"beta2", "train.optimizer.betas.1"},
    {"beta_2", "train.optimizer.betas.1"},
    {"adam_beta2", "train.optimizer.betas.1"},
    {"eps", "train.optimizer.eps"},
    {"epsilon", "train.optimizer.eps"},
    {"adam_epsilon", "train.optimizer.eps"},
    {"optimizer", "train.optimizer.name"},
    {"optimizer_name", "train.optimizer.name"},
    {"optim", "train.optimizer.name"},
    {"optimizer.name", "train.optimizer.name"},
    {"optimizer.type", "train.optimizer.name"},
    {"max_grad_norm", "train.optimizer.clip_norm"},
    {"clip_norm", "train.optimizer.clip_norm"},
    {"grad_clip", "train.optimizer.clip_norm"},
    {"gradient_clip_val", "train.optimizer.clip_norm"},
    {"batch_size", "train.batch_size_per_core"},
    {"train_batch_size", "train.batch_size_per_core"},
    {"per_device_train_batch_size", "train.batch_size_per_core"},
    {"epochs", "train.epochs"},
    {"num_epochs", "train.epochs"},
    {"n_epochs", "train.epochs"},
    {"max_epochs", "train.epochs"},
    {"num_train_epochs", "train.epochs"},
    {"steps", "train.steps"},
    {"num_steps", "train.steps"},
    {"max_steps", "train.steps"},
    {"gradient_accumulation_steps", "train.grad_accumulation"},
    {"accumulate_grad_batches", "train.grad_accumulation"},
    {"seed", "train.seed"},
    {"random_seed", "train.seed"},
    {"precision", "train.precision"},
    {"scheduler", "train.schedule.name"},
    {"lr_scheduler", "train.schedule.name"},
    {"lr_scheduler_type", "train.schedule.name"},
    {"warmup_steps", "train.schedule.warmup_steps"},
    {"num_warmup_steps", "train.schedule.warmup_steps"},
    {"dropout", "model.dropout"},
    {"dropout_rate", "model.dropout"},
    {"dropout_prob", "model.dropout"},
    {"arch", "model.arch"},
    {"architecture", "model.arch"},
    {"model", "model.arch"},
    {"model_name", "model.arch"},
    {"width", "model.width"},
    {"hidden_size", "model.width"},
    {"hidden_dim", "model.width"},
    {"depth", "model.depth"},
    {"num_layers", "model.depth"},
    {"n_layers", "model.depth"},
});

constexpr auto metric_names = std::to_array<UsualName>({
    {"val_loss", "val_loss"},
    {"valid_loss", "val_loss"},
    {"validation_loss", "val_loss"},
    {"eval_loss", "val_loss"},
    {"loss_val", "val_loss"},
    {"val_acc", "val_accuracy"},
    {"val_accuracy", "val_accuracy"},
    {"valid_acc", "val_accuracy"},
    {"valid_accuracy", "val_accuracy"},
    {"validation_accuracy", "val_accuracy"},
    {"eval_accuracy", "val_accuracy"},
    {"acc_val", "val_accuracy"},
    {"accuracy_val", "val_accuracy"},
});

constexpr auto parts_of_a_job = std::to_array<std::string_view>(
    {"model.", "task.", "data.", "train.", "checkpoint.", "monitor.", "limits.", "accelerator."});

/// In small letters, with underscores in place of `separators`.
std::string plain(std::string_view name, std::string_view separators) {
    std::string made;
    for (const char c : name)
        made += separators.find(c) != std::string_view::npos
                    ? '_'
                    : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return made;
}

std::optional<std::string> found_in(std::string_view name, const auto& table) {
    const auto found = std::ranges::find(table, name, &UsualName::name);
    if (found == table.end()) return std::nullopt;
    return std::string(found->place);
}

}    // namespace

std::optional<std::string> usual_place(std::string_view name) {
    if (std::ranges::any_of(parts_of_a_job, [&](auto part) { return name.starts_with(part); }))
        return std::string(name);
    if (auto whole = found_in(plain(name, "- "), parameter_names)) return whole;
    // Groups say little: "optimizer.lr" and "training.lr" are "lr".
    const std::size_t dot = name.rfind('.');
    if (dot != std::string_view::npos) name.remove_prefix(dot + 1);
    return found_in(plain(name, "- "), parameter_names);
}

std::optional<std::string> usual_metric(std::string_view name) {
    if (validation_metric(name)) return std::string(name);
    return found_in(plain(name, "-/. "), metric_names);
}

}    // namespace slipway
