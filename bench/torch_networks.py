"""The networks of executor/nn/models in PyTorch, for the benchmarks and for reference numbers.

Parameters are named as in the networks' usual homes: torchvision (ResNet), timm (MLP-Mixer, ViT), Hugging Face (BERT,
GPT-2). Only torch is needed, 1.13 or newer.
"""
import math

import torch
import torch.nn.functional as functional
from torch import nn


class LayerNorm(nn.LayerNorm):
    """Under autocast the input may be bfloat16, and torch 1.13 wants weights of the same type."""

    def forward(self, x):
        return functional.layer_norm(x, self.normalized_shape, self.weight.to(x.dtype), self.bias.to(x.dtype), self.eps)


class Mlp(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(widths, widths[1:]))

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = functional.relu(layer(x))
        return self.layers[-1](x)


class Cnn(nn.Module):
    def __init__(self, channels=1, size=28, classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, 32, 3, padding=1)
        self.conv2 = nn.Conv2d(32, 64, 3, padding=1)
        self.fc1 = nn.Linear(64 * (size // 4) ** 2, 128)
        self.fc2 = nn.Linear(128, classes)

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.conv1(x)), 2)
        x = functional.max_pool2d(functional.relu(self.conv2(x)), 2)
        return self.fc2(functional.relu(self.fc1(torch.flatten(x, 1))))


class BasicBlock(nn.Module):
    def __init__(self, into, out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(into, out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        self.downsample = None
        if stride != 1 or into != out:
            self.downsample = nn.Sequential(nn.Conv2d(into, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        y += x if self.downsample is None else self.downsample(x)
        return self.relu(y)


class Bottleneck(nn.Module):
    def __init__(self, into, width, stride):
        super().__init__()
        out = 4 * width
        self.conv1 = nn.Conv2d(into, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, out, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(out)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or into != out:
            self.downsample = nn.Sequential(nn.Conv2d(into, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        y = self.relu(self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x))))))
        y = self.bn3(self.conv3(y))
        y += x if self.downsample is None else self.downsample(x)
        return self.relu(y)


class ResNet(nn.Module):
    def __init__(self, blocks, classes=10, width=64, block=BasicBlock):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        into = width
        for stage, count in enumerate(blocks):
            parts = []
            for i in range(count):
                parts.append(block(into, width << stage, 2 if stage > 0 and i == 0 else 1))
                into = (width << stage) * (4 if block is Bottleneck else 1)
            setattr(self, f"layer{stage + 1}", nn.Sequential(*parts))
        self.fc = nn.Linear(into, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(functional.adaptive_avg_pool2d(x, 1), 1))


class MixerMlp(nn.Module):
    def __init__(self, features, width):
        super().__init__()
        self.fc1 = nn.Linear(features, width)
        self.fc2 = nn.Linear(width, features)

    def forward(self, x):
        return self.fc2(functional.gelu(self.fc1(x)))


class MixerBlock(nn.Module):
    def __init__(self, tokens, hidden, token_width, channel_width):
        super().__init__()
        self.norm1 = LayerNorm(hidden, eps=1e-6)
        self.mlp_tokens = MixerMlp(tokens, token_width)
        self.norm2 = LayerNorm(hidden, eps=1e-6)
        self.mlp_channels = MixerMlp(hidden, channel_width)

    def forward(self, x):
        x = x + self.mlp_tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.mlp_channels(self.norm2(x))


class PatchEmbed(nn.Module):
    def __init__(self, patch, hidden):
        super().__init__()
        self.proj = nn.Conv2d(3, hidden, patch, patch)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose(1, 2)


class Mixer(nn.Module):
    def __init__(self, image, patch, layers, hidden, token_width, channel_width, classes=10):
        super().__init__()
        self.stem = PatchEmbed(patch, hidden)
        tokens = (image // patch) ** 2
        self.blocks = nn.Sequential(*(MixerBlock(tokens, hidden, token_width, channel_width) for _ in range(layers)))
        self.norm = LayerNorm(hidden, eps=1e-6)
        self.head = nn.Linear(hidden, classes)

    def forward(self, x):
        return self.head(self.norm(self.blocks(self.stem(x))).mean(1))


class VitBlock(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = LayerNorm(hidden, eps=1e-6)
        self.attn = Named(qkv=nn.Linear(hidden, 3 * hidden), proj=nn.Linear(hidden, hidden))
        self.norm2 = LayerNorm(hidden, eps=1e-6)
        self.mlp = Named(fc1=nn.Linear(hidden, 4 * hidden), fc2=nn.Linear(4 * hidden, hidden))

    def forward(self, x):
        query, key, value = (heads_of(part, self.heads) for part in self.attn.qkv(self.norm1(x)).chunk(3, dim=2))
        x = x + self.attn.proj(attend(query, key, value, None))
        return x + self.mlp.fc2(functional.gelu(self.mlp.fc1(self.norm2(x))))


class Vit(nn.Module):
    def __init__(self, image, patch, layers, hidden, heads, classes=10):
        super().__init__()
        self.cls_token = nn.Parameter(torch.randn(1, 1, hidden) * 1e-6)
        self.pos_embed = nn.Parameter(torch.randn(1, (image // patch) ** 2 + 1, hidden) * 0.02)
        self.patch_embed = PatchEmbed(patch, hidden)
        self.blocks = nn.Sequential(*(VitBlock(hidden, heads) for _ in range(layers)))
        self.norm = LayerNorm(hidden, eps=1e-6)
        self.head = nn.Linear(hidden, classes)
        initialise_normal(self)

    def forward(self, x):
        x = self.patch_embed(x)
        x = torch.cat((self.cls_token.expand(x.shape[0], -1, -1), x), dim=1) + self.pos_embed
        return self.head(self.norm(self.blocks(x))[:, 0])


def heads_of(x, heads):
    return x.view(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)


def attend(query, key, value, dropout, is_seen=None):
    scores = torch.matmul(query, key.transpose(-1, -2)) / math.sqrt(query.shape[-1])
    if is_seen is not None:
        scores = torch.where(is_seen, scores, torch.full([], torch.finfo(scores.dtype).min, dtype=scores.dtype))
    chances = functional.softmax(scores, dim=-1)
    if dropout is not None:
        chances = dropout(chances)
    context = torch.matmul(chances, value)
    return context.transpose(1, 2).reshape(context.shape[0], context.shape[2], -1)


class Named(nn.Module):
    """A module made of named parts only."""

    def __init__(self, /, **parts):
        super().__init__()
        for name, part in parts.items():
            self.add_module(name, part)


class BertLayer(nn.Module):
    def __init__(self, hidden, heads, intermediate, rate):
        super().__init__()
        self.heads = heads
        self.attention = Named(
            self=Named(query=nn.Linear(hidden, hidden), key=nn.Linear(hidden, hidden), value=nn.Linear(hidden, hidden)),
            output=Named(dense=nn.Linear(hidden, hidden), LayerNorm=LayerNorm(hidden, eps=1e-12)))
        self.intermediate = Named(dense=nn.Linear(hidden, intermediate))
        self.output = Named(dense=nn.Linear(intermediate, hidden), LayerNorm=LayerNorm(hidden, eps=1e-12))
        self.dropout = nn.Dropout(rate)

    def forward(self, x, is_seen=None):
        projections = self.attention.get_submodule("self")
        query, key, value = (heads_of(p(x), self.heads) for p in
                             (projections.query, projections.key, projections.value))
        attended = self.attention.output.dense(attend(query, key, value, self.dropout, is_seen))
        x = self.attention.output.LayerNorm(self.dropout(attended) + x)
        y = self.output.dense(functional.gelu(self.intermediate.dense(x)))
        return self.output.LayerNorm(self.dropout(y) + x)


class Bert(nn.Module):
    def __init__(self, layers, hidden, heads, vocabulary, intermediate, positions=512, rate=0.1, padding=None):
        super().__init__()
        self.bert = Named(
            embeddings=Named(word_embeddings=nn.Embedding(vocabulary, hidden, padding_idx=0),
                             position_embeddings=nn.Embedding(positions, hidden),
                             token_type_embeddings=nn.Embedding(2, hidden),
                             LayerNorm=LayerNorm(hidden, eps=1e-12)),
            encoder=Named(layer=nn.ModuleList(BertLayer(hidden, heads, intermediate, rate) for _ in range(layers))))
        self.cls = Named(predictions=Named(
            transform=Named(dense=nn.Linear(hidden, hidden), LayerNorm=LayerNorm(hidden, eps=1e-12))))
        self.cls.predictions.bias = nn.Parameter(torch.zeros(vocabulary))
        self.dropout = nn.Dropout(rate)
        self.padding = padding
        initialise_normal(self)

    def forward(self, tokens):
        is_seen = None if self.padding is None else (tokens != self.padding)[:, None, None, :]
        parts = self.bert.embeddings
        x = (parts.word_embeddings(tokens) + parts.token_type_embeddings(torch.zeros_like(tokens))
             + parts.position_embeddings(torch.arange(tokens.shape[1]))[None])
        x = self.dropout(parts.LayerNorm(x))
        for layer in self.bert.encoder.layer:
            x = layer(x, is_seen)
        head = self.cls.predictions
        x = head.transform.LayerNorm(functional.gelu(head.transform.dense(x)))
        return functional.linear(x, parts.word_embeddings.weight, head.bias)


class Conv1D(nn.Module):
    """Hugging Face's: a linear layer with its weight as [in, out]."""

    def __init__(self, into, out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(into, out) * 0.02)
        self.bias = nn.Parameter(torch.zeros(out))

    def forward(self, x):
        return torch.addmm(self.bias, x.reshape(-1, x.shape[-1]), self.weight).view(*x.shape[:-1], -1)


class Gpt2Block(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.ln_1 = LayerNorm(hidden)
        self.attn = Named(c_attn=Conv1D(hidden, 3 * hidden), c_proj=Conv1D(hidden, hidden))
        self.ln_2 = LayerNorm(hidden)
        self.mlp = Named(c_fc=Conv1D(hidden, 4 * hidden), c_proj=Conv1D(4 * hidden, hidden))

    def forward(self, x, is_seen):
        query, key, value = (heads_of(part, self.heads) for part in self.attn.c_attn(self.ln_1(x)).chunk(3, dim=2))
        x = x + self.attn.c_proj(attend(query, key, value, None, is_seen))
        return x + self.mlp.c_proj(functional.gelu(self.mlp.c_fc(self.ln_2(x)), approximate="tanh"))


class Gpt2(nn.Module):
    def __init__(self, layers, hidden, heads, vocabulary, positions=1024):
        super().__init__()
        self.transformer = Named(wte=nn.Embedding(vocabulary, hidden), wpe=nn.Embedding(positions, hidden),
                                 h=nn.ModuleList(Gpt2Block(hidden, heads) for _ in range(layers)),
                                 ln_f=LayerNorm(hidden))
        initialise_normal(self)

    def forward(self, tokens):
        length = tokens.shape[1]
        is_seen = torch.ones(length, length, dtype=torch.bool).tril()
        parts = self.transformer
        x = parts.wte(tokens) + parts.wpe(torch.arange(length))
        for block in parts.h:
            x = block(x, is_seen)
        return functional.linear(parts.ln_f(x), parts.wte.weight)


def initialise_normal(network):
    for module in network.modules():
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear):
            nn.init.zeros_(module.bias)
