"""Client of Slipway, a self-hosted service for training neural networks.

    import slipway
    client = slipway.Client()                    # as `slipway login` left it, or SLIPWAY_URL and SLIPWAY_TOKEN
    job = client.submit("job.json", set={"train.optimizer.lr": 0.01})
    client.wait(job, progress=True)
    curve = client.curves(job, ["val_loss"])[job["id"]]["val_loss"]
"""
from .client import Client
from .comparison import Comparison
from .curves import Curve
from .errors import (BadRequest, ConfigurationError, Conflict, DatasetFailed, DiskError, IntegrityError, InvalidRequest, JobFailed,
                     NotFound, PermissionDenied, ServiceError, ServiceUnavailable, SlipwayError, TooLarge, TooManyRequests, Unauthenticated,
                     Unreachable)
from .events import Event
from .modules import ExportFailed, export, train
from .outside_trials import OutsideTrial
from .safetensors import Tensor

__version__ = "0.1.0"
__all__ = [
    "BadRequest", "Client", "Comparison", "ConfigurationError", "Conflict", "Curve", "DatasetFailed", "DiskError", "Event",
    "ExportFailed", "IntegrityError", "InvalidRequest", "JobFailed", "NotFound", "OutsideTrial", "PermissionDenied", "ServiceError", "ServiceUnavailable",
    "SlipwayError", "Tensor", "TooLarge", "TooManyRequests", "Unauthenticated", "Unreachable", "export", "train",
]
