#include "executor/graph/dot.h"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <vector>

#include "executor/graph/op_table.h"
#include "executor/graph/print.h"

namespace slipway {

namespace {

/// The inside of a quoted text; names of inputs may hold anything.
std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result;
}

std::string label_of(const Node& node) {
    const bool per_core = node.placement == Placement::per_core;
    std::string label = fmt::format("{}\\n{} {}", escaped(name_of(node)), to_string(node.shape),
                                    per_core ? "per_core" : "replicated");
    const std::string attributes = escaped(print_attributes(node.attributes));
    if (!attributes.empty()) label += "\\n" + attributes;
    return label;
}

class Drawing {
public:
    Drawing(const Graph& graph, const DotFrames& frames)
        : graph_(graph), frames_(frames), nodes_(topological_order(graph)) {}

    std::string take() {
        line("digraph step {{");
        line("node [shape=box, fontname=monospace]");
        draw_nodes();
        draw_edges();
        draw_outputs();
        line("}}");
        return std::move(text_);
    }

private:
    template <class... Arguments>
    void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
        text_ += '\n';
    }

    void draw_nodes() {
        std::map<std::size_t, std::vector<const Node*>> framed;
        for (const Tensor& tensor : nodes_) {
            numbers_.emplace(tensor.get(), numbers_.size());
            const auto frame = frames_.find(tensor.get());
            if (frame != frames_.end())
                framed[frame->second].push_back(tensor.get());
            else
                draw(tensor.node());
        }
        for (const auto& [frame, members] : framed) {
            line("subgraph cluster_{0} {{\nlabel=\"kernel {0}\"", frame);
            for (const Node* const member : members)
                draw(*member);
            line("}}");
        }
    }

    void draw(const Node& node) {
        line("n{} [label=\"{}\"{}]", numbers_.at(&node), label_of(node),
             node.placement == Placement::per_core ? ", style=filled" : "");
    }

    void draw_edges() {
        for (const Tensor& tensor : nodes_)
            for (const Tensor& operand : tensor.node().operands)
                line("n{} -> n{}", numbers_.at(operand.get()), numbers_.at(tensor.get()));
    }

    void draw_outputs() {
        for (std::size_t i = 0; i < graph_.outputs.size(); ++i)
            line("output{0} [label=\"output {0}\", shape=oval]\nn{1} -> output{0}", i,
                 numbers_.at(graph_.outputs[i].get()));
        for (const Graph::Donation& donation : graph_.donations)
            line("output{} -> n{} [style=dashed, constraint=false]", donation.output,
                 numbers_.at(graph_.inputs.at(donation.input).get()));
    }

    // Both outlive the drawing.
    const Graph& graph_;
    const DotFrames& frames_;
    const std::vector<Tensor> nodes_;
    std::unordered_map<const Node*, std::size_t> numbers_;
    std::string text_;
};

}    // namespace

std::string print_dot(const Graph& graph, const DotFrames& frames) {
    return Drawing(graph, frames).take();
}

}    // namespace slipway
