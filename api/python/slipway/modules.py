"""Training of a torch module by the service: exported here, trained there, the weights loaded back.

torch is imported only by these functions. Nothing of the module's Python runs on the server: it gets the graph that torch.export has
traced, and the weights.
"""
from __future__ import annotations

import contextlib
import os
import pathlib
import tempfile
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .client import Client
from .errors import SlipwayError
from .specs import Changes

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module

OLDEST_TORCH = (2, 9)


class ExportFailed(SlipwayError):
    """The module cannot be exported, with what torch says and what to do."""


def export(module: Module, example: Tensor | tuple[Tensor, ...], path: str | os.PathLike) -> pathlib.Path:
    """Writes the module as a network that `model.from` takes (.pt2): in training mode, its batch free.

    example   what the module is called with; at least two samples, so that the batch is not taken for a constant

    Raises ExportFailed. The module itself stays as it was, its mode too.
    """
    import torch
    if tuple(int(part) for part in torch.__version__.split(".")[:2]) < OLDEST_TORCH:
        raise ExportFailed(f"torch {torch.__version__} is too old to export with a free batch; install torch 2.9 or newer")
    inputs = example if isinstance(example, tuple) else (example,)
    if any(not isinstance(one, torch.Tensor) or one.dim() == 0 or len(one) < 2 for one in inputs):
        raise ExportFailed("the example must be tensors of at least two samples; the first dimension is the batch")
    target = pathlib.Path(path)
    with _in_training_mode(module), torch.no_grad():
        try:
            program = torch.export.export(module, inputs, dynamic_shapes=tuple({0: torch.export.Dim.DYNAMIC} for _ in inputs))
        except Exception as error:
            raise ExportFailed(f"torch.export cannot trace {type(module).__name__}: {error}\n"
                               "Write the module without what depends on the data, or without sizes of the example") from error
        torch.export.save(program, target)
    return target


@contextlib.contextmanager
def _in_training_mode(module: Module) -> Iterator[None]:
    """As its author left it where parts of it are frozen in evaluation mode on purpose."""
    modes = [(part, part.training) for part in module.modules()]
    try:
        if not module.training:
            module.train()
        yield
    finally:
        for part, training in modes:
            part.training = training


def _trained(service: Client, job: Mapping[str, Any]) -> dict[str, Any]:
    """The best checkpoint; the last one of a job without validation."""
    try:
        return service.checkpoint_of(job)
    except LookupError:
        return service.checkpoint_of(job, "last")


def _with_defaults(train: Mapping[str, Any]) -> dict[str, Any]:
    """What a job must say: an optimizer and a length."""
    length = {} if "steps" in train or "epochs" in train else {"epochs": 10}
    return {"optimizer": {"name": "adamw", "lr": 1e-3}, **length, **train}


def train(module: Module, example: Tensor | tuple[Tensor, ...], *, data: str | Mapping[str, Any],
          task: str | Mapping[str, Any] = "classification", train: Mapping[str, Any] | None = None, cores: int = 1,
          set: Changes | None = None, client: Client | None = None, load: bool = True, progress: bool = True) -> Any:
    """Trains the module and loads the weights of the best checkpoint into it, of the last one without validation; returns the job.

    example   what the module is called with: a tensor of at least two samples
    data      a dataset by name or id, or the `data` of a job
    task      its type, or the `task` of a job
    train     the `train` of a job; without an optimizer AdamW with a rate of 0.001, without a length 10 epochs
    set       changes by dotted path, as of Client.submit
    load      False: the module keeps its weights

    Raises ExportFailed; InvalidRequest where the service refuses the job; JobFailed, whose message names the node and what it needs.
    """
    service = client or Client()
    with tempfile.TemporaryDirectory(prefix="slipway-") as folder:
        path = export(module, example, pathlib.Path(folder) / f"{type(module).__name__}.pt2")
        upload = service.upload(path, progress=progress)
    spec = {
        "name": type(module).__name__.lower(),
        "model": {"arch": "imported", "from": upload},
        "task": {"type": task} if isinstance(task, str) else dict(task),
        "data": {"dataset": data} if isinstance(data, str) else dict(data),
        "train": _with_defaults(train or {}),
        "accelerator": {"cores": cores},
    }
    job = service.wait(service.submit(spec, set=set), progress=progress)
    if load:
        module.load_state_dict(service.load_weights(_trained(service, job), "torch"), strict=True)
    return job
