#include "api/client/command_examples.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace slipway::client {
namespace {

struct Example {
    std::string_view command;    // the words behind `slipway`
    std::string_view text;       // a line for each example, without `slipway`
};

constexpr std::array examples{
    Example{"submit",
            "submit job.json --follow\n"
            "submit job.toml --set train.optimizer.lr=0.01 --label study=lr\n"
            "submit - --dry-run < job.json"},
    Example{"jobs",
            "jobs --state running,queued\n"
            "jobs --best val_loss --limit 5 -o json\n"
            "jobs --parent none --label study=lr\n"
            "jobs --watch"},
    Example{"top", "top"},
    Example{"compare",
            "compare first second\n"
            "compare job_01jd… job_01je… job_01jf… -o csv"},
    Example{"job", "job job_01jd…\njob \"my first\""},
    Example{"follow", "follow \"my first\""},
    Example{"watch", "watch \"my first\""},
    Example{"events", "events --project default --types state,end"},
    Example{"explain", "explain job_01jd…"},
    Example{"logs",
            "logs job_01jd… --search loss\n"
            "logs \"my first\" --follow\n"
            "logs job_01jd… --level warn --since 2h"},
    Example{"metrics",
            "metrics job_01jd… --names train_loss,val_loss\n"
            "metrics job_01jd… --csv > curves.csv"},
    Example{"tensorboard", "tensorboard job_01jd… --out runs/first"},
    Example{"checkpoints", "checkpoints job_01jd… -o csv"},
    Example{"download", "download ckp_01jd… model.safetensors --out best.safetensors"},
    Example{"export", "export ckp_01jd… --dtype bf16 --out weights.safetensors"},
    Example{"cancel", "cancel job_01jd…\ncancel first second"},
    Example{"kill", "kill job_01jd…"},
    Example{"pause", "pause first second"},
    Example{"resume", "resume first second"},
    Example{"checkpoint", "checkpoint job_01jd…"},
    Example{"delete", "delete job_01jd… job_01je…\ndelete \"my first\" --yes"},
    Example{"label", "label job_01jd… study=lr team-"},
    Example{"priority", "priority job_01jd… high"},
    Example{"pool", "pool job_01jd… slurm"},
    Example{"retry", "retry job_01jd… --follow"},
    Example{"fork", "fork job_01jd… --set train.epochs=20 --follow"},
    Example{"bulk",
            "bulk cancel --label study=lr --dry-run\n"
            "bulk delete --state failed,cancelled --yes"},
    Example{"pin", "pin ckp_01jd…"},
    Example{"unpin", "unpin ckp_01jd…"},
    Example{"predict", "predict job_01jd… test-images --out predictions.csv"},
    Example{"result", "result job_01jd… --out predictions.csv"},
    Example{"evaluate", "evaluate job_01jd… test-images --follow"},
    Example{"cv create",
            "cv create cv.json --watch\n"
            "cv create cv.toml --set split.folds=10 --dry-run"},
    Example{"cv watch", "cv watch cv_01jd…"},
    Example{"cv list", "cv list --state running"},
    Example{"cv show", "cv show cv_01jd…"},
    Example{"cv folds", "cv folds cv_01jd… -o csv"},
    Example{"cv summary", "cv summary cv_01jd… --json"},
    Example{"cv compare", "cv compare cv_01jd… cv_01je…"},
    Example{"cv oof", "cv oof cv_01jd… --out oof.csv"},
    Example{"cv predict", "cv predict cv_01jd… test-images --out predictions.csv"},
    Example{"cv retry", "cv retry cv_01jd…\ncv retry cv_01jd… --code data_error --dry-run"},
    Example{"cv cancel", "cv cancel cv_01jd…"},
    Example{"cv delete", "cv delete cv_01jd…"},
    Example{"report", "report job_01jd…\nreport job_01jd… --json"},
    Example{"graphs", "graphs job_01jd…\ngraphs job_01jd… 9fc4235b… --format stablehlo"},
    Example{"trace", "trace job_01jd… > trace.json"},
    Example{"datasets", "datasets -o json"},
    Example{"dataset create",
            "dataset create digits --format idx --path mnist10k\n"
            "dataset create flowers --format csv --upload flowers.csv --option label_column=kind\n"
            "dataset create request.json"},
    Example{"data push",
            "data push photos\n"
            "data push houses.csv --option label_columns='[\"price\"]' --name houses"},
    Example{"upload", "upload network.pt2"},
    Example{"dataset show", "dataset show digits"},
    Example{"dataset delete", "dataset delete digits"},
    Example{"projects", "projects"},
    Example{"project set", "project set vision --weight 2 --cores-max 4"},
    Example{"members", "members --project vision"},
    Example{"member set", "member set ada --project vision --role editor"},
    Example{"member remove", "member remove ada --project vision"},
    Example{"groups", "groups --project vision"},
    Example{"group set", "group set sweep-7 --limit 2"},
    Example{"queue stats", "queue stats"},
    Example{"queue decisions", "queue decisions --job job_01jd…"},
    Example{"queue simulate", "queue simulate --file job.json --more-hosts 2"},
    Example{"webhooks", "webhooks"},
    Example{"webhook create", "webhook create https://example.org/hook --event job.failed"},
    Example{"webhook set", "webhook set whk_01jd… --rotate-secret"},
    Example{"webhook test", "webhook test whk_01jd…"},
    Example{"webhook deliveries", "webhook deliveries whk_01jd…"},
    Example{"webhook redeliver", "webhook redeliver whk_01jd… dlv_01jd…"},
    Example{"webhook delete", "webhook delete whk_01jd…"},
    Example{"sweep create",
            "sweep create sweep.json --watch\n"
            "sweep create sweep.toml --set limits.max_trials=20 --dry-run"},
    Example{"sweep list", "sweep list -o jsonl"},
    Example{"sweep show", "sweep show swp_01jd…"},
    Example{"sweep watch", "sweep watch swp_01jd…"},
    Example{"sweep trials", "sweep trials swp_01jd… --order best -o csv"},
    Example{"sweep best", "sweep best swp_01jd… --spec > job.json"},
    Example{"sweep decisions", "sweep decisions swp_01jd…"},
    Example{"sweep pause", "sweep pause swp_01jd…"},
    Example{"sweep resume", "sweep resume swp_01jd…"},
    Example{"sweep stop", "sweep stop swp_01jd…"},
    Example{"sweep extend", "sweep extend swp_01jd… 100"},
    Example{"sweep set", "sweep set swp_01jd… --max-concurrent 16 --label team=vision"},
    Example{"sweep retry", "sweep retry swp_01jd…\nsweep retry swp_01jd… 7"},
    Example{"sweep promote", "sweep promote swp_01jd… --set train.epochs=50 --follow"},
    Example{"sweep delete", "sweep delete swp_01jd… --yes"},
    Example{"sweep import", "sweep import sweep.yaml --job job.json --map hidden=model.width"},
    Example{"sweep suggest", "sweep suggest swp_01jd… --count 4 --lease 600"},
    Example{"sweep observe", "sweep observe swp_01jd… 3 --time 3 --value 0.25"},
    Example{"sweep importance", "sweep importance swp_01jd…"},
    Example{"sweep simulate", "sweep simulate swp_01jd… median_stop"},
    Example{"hosts", "hosts -o json"},
    Example{"slices", "slices -o json"},
    Example{"host drain", "host drain gpu-7 --reason \"new disk\""},
    Example{"host undrain", "host undrain gpu-7"},
    Example{"host remove", "host remove gpu-7"},
    Example{"host join-token", "host join-token --host gpu-8 --expires-s 600"},
    Example{"retention", "retention --logs-days 30"},
    Example{"cores", "cores"},
    Example{"drain", "drain 5 --reason \"fan\""},
    Example{"undrain", "undrain 5"},
    Example{"token create", "token create ci --role editor\ntoken create ada-laptop --member ada"},
    Example{"token list", "token list"},
    Example{"token revoke", "token revoke tok_01jd…"},
    Example{"login",
            "login --url https://slipway.example\n"
            "login --name work --token-file token.txt --url https://slipway.example"},
    Example{"logout", "logout work"},
    Example{"context list", "context list"},
    Example{"context use", "context use work"},
    Example{"completion",
            "completion bash > /etc/bash_completion.d/slipway\n"
            "completion zsh > \"${fpath[1]}/_slipway\"\n"
            "completion fish > ~/.config/fish/completions/slipway.fish"},
    Example{"help", "help\nhelp sweep create"},
    Example{"man", "man | man -l -\nman sweep create | man -l -\nman --out ~/.local/share/man"},
    Example{"status", "status"},
    Example{"version", "version"},
};

std::string footer_of(std::string_view text) {
    std::string footer = "Examples:";
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        footer += fmt::format("\n  slipway {}", text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return footer;
}

void add_below(CLI::App& app, const std::string& path) {
    for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
        const std::string words =
            path.empty() ? command->get_name() : path + " " + command->get_name();
        const auto found = std::ranges::find(examples, words, &Example::command);
        if (found != examples.end()) command->footer(footer_of(found->text));
        add_below(*command, words);
    }
}

}    // namespace

void add_examples(CLI::App& app) {
    add_below(app, "");
}

}    // namespace slipway::client
