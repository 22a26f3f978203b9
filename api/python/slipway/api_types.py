"""The documents of the API as types: what is sent and what is answered.

Written by api/python/generate.py from the OpenAPI document; not edited by hand.
"""
from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict, Union


class AcceleratorSpecCores(TypedDict):
    # Number of virtual cores of one host; gradients are summed over them.
    cores: NotRequired[Literal[1, 8]]
    # Memory limit; for a slice, on each host. A program that needs more is rejected before it runs.
    memory_bytes: NotRequired[int]


class AcceleratorSpecCoreIds(TypedDict):
    # Run on exactly this core; the job waits for it.
    core_ids: list[int]
    # Memory limit; for a slice, on each host. A program that needs more is rejected before it runs.
    memory_bytes: NotRequired[int]


class AcceleratorSpecSlice(TypedDict):
    # Memory limit; for a slice, on each host. A program that needs more is rejected before it runs.
    memory_bytes: NotRequired[int]
    # Run on whole hosts; gradients are summed over the cores of all of them.
    slice: SliceSpec


# Cores to run on: a number of cores, one core by number, or a slice of whole hosts.
AcceleratorSpec = Union[
    "AcceleratorSpecCores",
    "AcceleratorSpecCoreIds",
    "AcceleratorSpecSlice",
]


class AlgorithmSpecGrid(TypedDict):
    # Algorithm.
    name: Literal['grid']


class AlgorithmSpecRandom(TypedDict):
    # Algorithm.
    name: Literal['random']


class AlgorithmSpecSobol(TypedDict):
    # Algorithm.
    name: Literal['sobol']
    # Scramble the sequence by the sweep's seed. Points stay evenly spread.
    scramble: NotRequired[bool]


class AlgorithmSpecTpe(TypedDict):
    # Candidates sampled from the model for each trial.
    candidates: NotRequired[int]
    # Count running trials as bad results, so that concurrent trials differ.
    constant_liar: NotRequired[bool]
    # Algorithm.
    name: Literal['tpe']
    # Number of results before the model is used; earlier trials are spread evenly.
    startup_trials: NotRequired[int]


class AlgorithmSpecAsha(TypedDict):
    # Number of brackets; each starts one rung later than the one before.
    brackets: NotRequired[int]
    # Time after which a trial is complete.
    max_time: int
    # Time at which trials are first compared.
    min_time: NotRequired[int]
    # stop: trials run until they are stopped. promote: trials pause at each rung; the best continue
    # from their checkpoints.
    mode: NotRequired[Literal['stop', 'promote']]
    # Algorithm.
    name: Literal['asha']
    # One of this many trials goes from each rung to the next.
    reduction_factor: NotRequired[int]
    # How points are chosen. Default: random.
    sampler: NotRequired[SamplerSpec]
    # Unit of all times of the algorithm.
    time_attr: NotRequired[Literal['epoch', 'step']]


class AlgorithmSpecHyperband(TypedDict):
    # Time after which a trial is complete.
    max_time: int
    # Time at which trials are first compared.
    min_time: NotRequired[int]
    # Algorithm.
    name: Literal['hyperband']
    # One of this many trials goes from each rung to the next.
    reduction_factor: NotRequired[int]
    # How points are chosen. Default: random.
    sampler: NotRequired[SamplerSpec]
    # Unit of all times of the algorithm.
    time_attr: NotRequired[Literal['epoch', 'step']]


class AlgorithmSpecMedianStop(TypedDict):
    # No trial is stopped before this time.
    grace_time: NotRequired[int]
    # No trial is stopped until this many others have reached its time.
    min_samples: NotRequired[int]
    # Algorithm.
    name: Literal['median_stop']
    # How points are chosen. Default: random.
    sampler: NotRequired[SamplerSpec]
    # Unit of all times of the algorithm.
    time_attr: NotRequired[Literal['epoch', 'step']]


class AlgorithmSpecPbt(TypedDict):
    # Length of a generation.
    interval: NotRequired[int]
    # Time after which a trial is complete.
    max_time: int
    # Algorithm.
    name: Literal['pbt']
    # Factor by which copied numbers are multiplied or divided.
    perturbation: NotRequired[float]
    # Number of trials.
    population: NotRequired[int]
    # Fraction of the trials that copies one of the best after each generation.
    quantile: NotRequired[float]
    # Probability that a copied parameter is sampled again instead of perturbed.
    resample_probability: NotRequired[float]
    # How points are chosen. Default: random.
    sampler: NotRequired[SamplerSpec]
    # Unit of all times of the algorithm.
    time_attr: NotRequired[Literal['epoch', 'step']]


# Which trials a sweep runs, and which of them it continues.
AlgorithmSpec = Union[
    "AlgorithmSpecGrid",
    "AlgorithmSpecRandom",
    "AlgorithmSpecSobol",
    "AlgorithmSpecTpe",
    "AlgorithmSpecAsha",
    "AlgorithmSpecHyperband",
    "AlgorithmSpecMedianStop",
    "AlgorithmSpecPbt",
]


class Attempt(TypedDict):
    """An attempt to run a job."""
    # Number of the attempt within the job: 1, 2, 3 …
    attempt: int
    # Cores that it holds or held there.
    cores: list[int]
    # Time at which it got its cores.
    created_at: str
    # Time at which it ended.
    ended_at: str | None
    # How the attempt ended: succeeded, failed, crashed, lost, …
    exit_kind: str | None
    # Exit code of the executor, or 128 + signal.
    exit_status: int | None
    # Host that it runs on; for a slice, the host of rank 0.
    host: str
    # All of its processes by rank: one for each host.
    members: list[AttemptMember]
    # Why the attempt ended.
    message: str | None
    # Process id of the executor there.
    pid: int | None
    # ckp_…
    resumed_from: str | None
    # Time at which its process was recorded.
    started_at: str | None


class AttemptList(TypedDict):
    """A page of a list."""
    # Items, in the order of the list.
    items: list[Attempt]
    # Cursor of the next page; null: this is the last page.
    next_cursor: str | None


class AttemptMember(TypedDict):
    """The part of an attempt on one host."""
    # Cores that it holds or held.
    cores: list[int]
    # Time at which it ended, on a slice.
    ended_at: str | None
    # How it ended, on a slice: succeeded, crashed, member_lost, …
    exit_kind: str | None
    # Exit code of its executor, or 128 + signal.
    exit_status: int | None
    # Host that it runs on.
    host: str
    # Why it ended.
    message: str | None
    # Process id of its executor.
    pid: int | None
    # Number of the member: 0, 1, 2 …; rank 0 reports and saves for all.
    rank: int


class AuditEntry(TypedDict):
    """An action in the audit log."""
    # The action: the operationId of a request, or login_failed.
    action: str
    # Time of the action.
    at: str
    # Details of the action.
    detail: dict[str, Any]
    # Number of the entry.
    id: int
    # Object of the action: an id or a name.
    object: str | None
    # Request, as in the log.
    request_id: str | None
    # Token that acted; null: unknown.
    token_id: str | None


class AuditList(TypedDict):
    """A page of a list."""
    # Items, in the order of the list.
    items: list[AuditEntry]
    # Cursor of the next page; null: this is the last page.
    next_cursor: str | None


class AugmentSpecResize(TypedDict):
    # Type of the step.
    name: Literal['resize']
    # Height and width in pixels. One number: both; for resize, the shorter side.
    size: int | list[int]


class AugmentSpecCenterCrop(TypedDict):
    # Type of the step.
    name: Literal['center_crop']
    # Height and width in pixels. One number: both; for resize, the shorter side.
    size: int | list[int]


class AugmentSpecRandomCrop(TypedDict):
    # Value of the pixels outside the image: 0 black, 1 white.
    fill: NotRequired[float]
    # Type of the step.
    name: Literal['random_crop']
    # Padding on each side before cropping, in pixels.
    padding: NotRequired[int]
    # Height and width in pixels. One number: both; for resize, the shorter side.
    size: int | list[int]


class AugmentSpecRandomResizedCrop(TypedDict):
    # Type of the step.
    name: Literal['random_resized_crop']
    # Minimum and maximum aspect ratio, width by height; for random_erasing, height by width.
    # Default: 3/4 and 4/3; random_erasing: 0.3 and 3.3.
    ratio: NotRequired[list[float]]
    # Minimum and maximum fraction of the area; for affine, minimum and maximum scale factor.
    # Default: 0.08 and 1; random_erasing: 0.02 and 0.33; affine: 1 and 1.
    scale: NotRequired[list[float]]
    # Height and width in pixels. One number: both; for resize, the shorter side.
    size: int | list[int]


class AugmentSpecHorizontalFlip(TypedDict):
    # Type of the step.
    name: Literal['horizontal_flip']
    # Probability.
    p: NotRequired[float]


class AugmentSpecVerticalFlip(TypedDict):
    # Type of the step.
    name: Literal['vertical_flip']
    # Probability.
    p: NotRequired[float]


class AugmentSpecRotate(TypedDict):
    # Maximum rotation in degrees, in either direction.
    degrees: float
    # Value of the pixels outside the image: 0 black, 1 white.
    fill: NotRequired[float]
    # Type of the step.
    name: Literal['rotate']


class AugmentSpecAffine(TypedDict):
    # Maximum rotation in degrees, in either direction.
    degrees: float
    # Value of the pixels outside the image: 0 black, 1 white.
    fill: NotRequired[float]
    # Type of the step.
    name: Literal['affine']
    # Minimum and maximum fraction of the area; for affine, minimum and maximum scale factor.
    # Default: 0.08 and 1; random_erasing: 0.02 and 0.33; affine: 1 and 1.
    scale: NotRequired[list[float]]
    # Maximum horizontal shear in degrees, in either direction.
    shear: NotRequired[float]
    # Maximum shift as fractions of the width and of the height, in either direction.
    translate: NotRequired[list[float]]


class AugmentSpecColorJitter(TypedDict):
    # Range of the random factor on the brightness: from 1 - this, at least 0, to 1 + this.
    brightness: NotRequired[float]
    # Range of the random factor on the distance from the mean brightness; as for brightness.
    contrast: NotRequired[float]
    # Maximum hue shift as a fraction of the colour circle, in either direction.
    hue: NotRequired[float]
    # Type of the step.
    name: Literal['color_jitter']
    # Range of the random factor on the distance from gray; as for brightness.
    saturation: NotRequired[float]


class AugmentSpecRandomErasing(TypedDict):
    # Type of the step.
    name: Literal['random_erasing']
    # Probability.
    p: NotRequired[float]
    # Minimum and maximum aspect ratio, width by height; for random_erasing, height by width.
    # Default: 3/4 and 4/3; random_erasing: 0.3 and 3.3.
    ratio: NotRequired[list[float]]
    # Minimum and maximum fraction of the area; for affine, minimum and maximum scale factor.
    # Default: 0.08 and 1; random_erasing: 0.02 and 0.33; affine: 1 and 1.
    scale: NotRequired[list[float]]
    # Value of erased pixels: 0 black, 1 white.
    value: NotRequired[float]


class AugmentSpecMixup(TypedDict):
    # Mixing weights are sampled from Beta(alpha, alpha). Below 1 they are mostly close to 0 or 1,
    # above 1 mostly close to one half.
    alpha: NotRequired[float]
    # Type of the step.
    name: Literal['mixup']


class AugmentSpecCutmix(TypedDict):
    # Mixing weights are sampled from Beta(alpha, alpha). Below 1 they are mostly close to 0 or 1,
    # above 1 mostly close to one half.
    alpha: NotRequired[float]
    # Type of the step.
    name: Literal['cutmix']


# One augmentation step for training images.
AugmentSpec = Union[
    "AugmentSpecResize",
    "AugmentSpecCenterCrop",
    "AugmentSpecRandomCrop",
    "AugmentSpecRandomResizedCrop",
    "AugmentSpecHorizontalFlip",
    "AugmentSpecVerticalFlip",
    "AugmentSpecRotate",
    "AugmentSpecAffine",
    "AugmentSpecColorJitter",
    "AugmentSpecRandomErasing",
    "AugmentSpecMixup",
    "AugmentSpecCutmix",
]


class Best(TypedDict):
    """Best checkpoint so far."""
    # Id of the checkpoint.
    checkpoint: str | None
    # Metric that checkpoints are compared by.
    metric: str
    # Step at which the checkpoint was saved.
    step: int
    # Value of the metric.
    value: float | None


class BestSpec(TypedDict):
    """Selection of the best checkpoints."""
    # Number of best checkpoints to keep.
    keep: NotRequired[int]
    # Metric to compare checkpoints by.
    metric: NotRequired[Literal['val_loss', 'val_accuracy', 'val_perplexity', 'val_top5_accuracy', 'val_auc', 'val_mae', 'val_r2']]
    # Whether a smaller or a larger value is better. Default: as suits the metric.
    mode: NotRequired[Literal['min', 'max']]


# Capabilities of this version.
Capabilities = TypedDict("Capabilities", {
    # Schemas that the parameters refer to.
    "$defs": "dict[str, Any]",
    # Accelerators that a job can run on.
    "accelerators": "dict[str, Any]",
    # Architectures and their parameters.
    "architectures": "list[dict[str, Any]]",
    # Augmentation steps and their parameters.
    "augmentations": "list[dict[str, Any]]",
    # Commit that the service was built from.
    "commit": "str",
    # Isolation of executors from the host: name, enforced, detail.
    "confinement": "list[dict[str, Any]]",
    # Dataset formats and their options.
    "formats": "list[dict[str, Any]]",
    # Layer types of layer-list models and their parameters.
    "layers": "list[dict[str, Any]]",
    # Limits per token, and for queued_jobs, checking_datasets and making_splits per project as
    # well; above them the answer is 429; 0: no limit. upload_bytes is the maximum size of an
    # upload. pool_max_wall_s has the limits.max_wall_s of jobs that state no limit of time, by
    # pool.
    "limits": "dict[str, Any]",
    # Loss functions.
    "losses": "list[str]",
    # Ways to scale the learning rate with the number of cores.
    "lr_scalings": "list[str]",
    # Metrics.
    "metrics": "list[str]",
    # Optimizers and their parameters.
    "optimizers": "list[dict[str, Any]]",
    # Precisions.
    "precisions": "list[str]",
    # Scheduling classes, most urgent first.
    "queue_classes": "list[str]",
    # Learning-rate schedules and their parameters.
    "schedules": "list[dict[str, Any]]",
    # Task types.
    "tasks": "list[str]",
    # Version of the service.
    "version": "str",
})


class ChangedWebhook(TypedDict):
    """A webhook that was changed."""
    # Time of creation.
    created_at: str
    # tok_…
    created_by: str
    # Description of its purpose.
    description: str
    # false: nothing is sent.
    enabled: bool
    # Events that are sent.
    events: list[Literal['job.created', 'job.started', 'job.paused', 'job.resumed', 'job.requeued', 'job.ended']]
    # whk_…
    id: str
    # Until this time, messages are also signed with the previous secret.
    previous_secret_until: str | None
    # Project whose jobs it reports.
    project: str
    # New secret, if there is one; it is not shown again.
    secret: NotRequired[str]
    # URL that messages are posted to.
    url: str
    # tok_…; nothing is sent once this token is no longer valid.
    url_set_by: str


class Checkpoint(TypedDict):
    """A checkpoint of a job."""
    # Attempt that saved it.
    attempt: int
    # Total size in bytes.
    bytes: int
    # Time at which it was saved.
    created_at: str
    # Time at which its files were deleted.
    deleted_at: str | None
    # Epoch.
    epoch: int
    # Files of the checkpoint.
    files: list[CheckpointFile]
    # ckp_…
    id: str
    # job_…
    job_id: str
    # Why it is kept: last, best.
    kinds: list[str]
    # Metric that checkpoints are compared by.
    metric: CheckpointMetric | None
    # Name, such as step_000500_attempt_2.
    name: str
    # True: it is never deleted automatically.
    pinned: bool
    # Number of completed steps.
    step: int
    # Build that saved it; null: unknown.
    written_by: CheckpointWriter | None


class CheckpointFile(TypedDict):
    """A file of a checkpoint."""
    # Size in bytes.
    bytes: int
    # Name to download it by.
    name: str
    # SHA-256 of the file.
    sha256: str


class CheckpointList(TypedDict):
    """A page of a list."""
    # Items, in the order of the list.
    items: list[Checkpoint]
    # Cursor of the next page; null: this is the last page.
    next_cursor: str | None


class CheckpointMetric(TypedDict):
    """Metric that checkpoints are compared by."""
    # val_loss, …
    name: str
    # nan, inf or -inf if value is null.
    nonfinite: NotRequired[str]
    # Value of the metric.
    value: float | None


class CheckpointSpec(TypedDict):
    """When to save checkpoints, and which to keep."""
    # Selection of the best checkpoints.
    best: NotRequired[BestSpec]
    # Save a checkpoint every N epochs; 0: not by epochs.
    every_epochs: NotRequired[int]
    # Save a checkpoint every N steps; 0: not by steps.
    every_steps: NotRequired[int]
    # Number of most recent checkpoints to keep.
    keep_last: NotRequired[int]
    # Save a checkpoint at the end of training, also if the job is cancelled or exceeds its time
    # limit. false: only the checkpoints of every_steps and every_epochs are saved; with both 0 the
    # job has metrics but no weights. A job that is paused or preempted always saves one.
    save_final: NotRequired[bool]


class CheckpointWriter(TypedDict):
    """The build that saved a checkpoint, and the version of its format."""
    # Hash of the program file.
    build: str
    # Version of the format of the files.
    format: int
    # Instruction set of the processor that it was computed with; empty: not known.
    instruction_set: NotRequired[str]
    # Program and version.
    program: str
    # Version of the job spec.
    spec_version: int


class ColumnsSpec(TypedDict):
    """Columns of a table, to override those of the dataset."""
    # Feature columns. Default: all except the label and group columns, including those of the
    # dataset.
    features: NotRequired[list[str]]
    # Label column: the classes; for multilabel and regression, the numeric labels.
    label: NotRequired[str]
    # Numeric label columns, for multilabel and regression.
    labels: NotRequired[list[str]]


class ComparedMetric(TypedDict):
    """A metric of two cross-validations, fold by fold."""
    # Folds on which the first is better.
    first_better: int
    # Number of folds that both have.
    folds: int
    # Upper end of the 95 % interval of mean_difference.
    high: float | None
    # Lower end of the 95 % interval of mean_difference.
    low: float | None
    # Mean of second - first.
    mean_difference: float | None
    # Whether a smaller or a larger value is better.
    mode: Literal['min', 'max']
    # val_loss, …
    name: str
    # Folds in which a value is not finite.
    nonfinite: int
    # Two-sided p-value of t with n - 1 degrees of freedom.
    p_value: float | None
    # Folds on which the second is better.
    second_better: int
    # Standard error of mean_difference, corrected for training samples shared by the folds (Nadeau
    # and Bengio).
    standard_error: float | None
    # Standard deviation of the differences.
    std: float | None
    # mean_difference / standard_error.
    t: float | None
    # Both values of each fold.
    values: list[PairedFold]


class ConfusionMatrix(TypedDict):
    """How often samples of one class are predicted as another."""
    # Class names of rows and columns.
    classes: list[str]
    # One row per true class, one column per predicted class.
    counts: list[list[int]]


class Core(TypedDict):
    """A virtual core."""
    # True: its host sends heartbeats.
    alive: bool
    # Attempt of that job.
    attempt: int | None
    # Number of the core.
    core: int
    # Why the service drained the core, or would have if it were not the last one.
    drain_reason: str | None
    # True: it, or its whole host, accepts no new jobs.
    drained: bool
    # Host of the core.
    host: str
    # Job that holds the core.
    job_id: str | None
    # Time at which the lease expires unless renewed.
    lease_expires_at: str | None
    # Start of the lease.
    leased_at: str | None
    # Pool of the host.
    pool: str
    # free, busy, drained, or lost with its host.
    state: Literal['free', 'busy', 'drained', 'lost']


class CoreList(TypedDict):
    """A page of a list."""
    # Items, in the order of the list.
    items: list[Core]
    # Cursor of the next page; null: this is the last page.
    next_cursor: str | None


class CoreUse(TypedDict):
    """How much of the machine is in use."""
    # Drained cores without a job.
    drained: int
    # Cores that a job may take now.
    free: int
    # Cores that jobs hold.
    held: int
    # Cores without a job whose host sends no heartbeat.
    lost: int
    # Cores of all hosts.
    total: int
    # held / (held + free); null: no core is usable.
    utilisation: float | None


class CrossValidation(TypedDict):
    """A cross-validation."""
    # Time of the request.
    created_at: str
    # tok_…
    created_by: str | None
    # Id of the dataset.
    dataset_id: str
    # Time at which it ended.
    finished_at: str | None
    # How many folds are in each state.
    folds: FoldCounts
    # cv_…
    id: str
    # Key-value labels.
    labels: dict[str, Any]
    # Human-readable name.
    name: str
    # Out-of-fold predictions; null: there are none yet.
    oof: OofPredictions | None
    # Project.
    project: str
    # Why it is in its state.
    reason: CrossValidationReason | None
    # Job that trains on all samples; null: none yet.
    refit_job_id: str | None
    # The request, normalised.
    spec: CrossValidationSpec
    # Hash of the split's manifest; null until it is ready.
    split_hash: str | None
    # Id of the split.
    split_id: str
    # Time at which its split was ready.
    started_at: str | None
    # preparing: the split is being created; running; cancelling; succeeded, failed or cancelled.
    state: Literal['preparing', 'running', 'cancelling', 'succeeded', 'failed', 'cancelled']
    # What the request probably does not mean. Only in the answer to the request.
    warnings: NotRequired[list[SpecWarning]]


class CrossValidationComparison(TypedDict):
    """Two cross-validations on the same split."""
    # cv_…
    first: str
    # Folds that have succeeded in both.
    folds: list[int]
    # Each metric that both have.
    metrics: list[ComparedMetric]
    # cv_…
    second: str
    # Hash of the split's manifest, which both have.
    split_hash: str


class CrossValidationFold(TypedDict):
    """A fold of a cross-validation."""
    # Groups and classes in training and validation, as in the report of the split; null if the
    # split was deleted.
    counts: dict[str, Any] | None
    # Epoch of that evaluation; null until the fold has trained.
    epoch: int | None
    # Time at which it ended.
    finished_at: str | None
    # Number of the fold, from 0.
    fold: int
    # Job that trains it.
    job_id: str | None
    # State of that job; null: it has none, or was deleted.
    job_state: str | None
    # Metrics of the last evaluation, with early stopping of the best one; null for one that is not
    # finite, and `metrics` is null until the fold has trained.
    metrics: dict[str, Any] | None
    # Job that predicts its validation samples.
    prediction_id: str | None
    # Why it failed or was cancelled.
    reason: str | None
    # Repeat that the fold belongs to, from 0.
    repeat: int
    # waiting, training, predicting, succeeded, failed or cancelled.
    state: Literal['waiting', 'training', 'predicting', 'succeeded', 'failed', 'cancelled']
    # Number of training samples.
    train_samples: int
    # Number of validation samples.
    val_samples: int


class CrossValidationFolds(TypedDict):
    """All folds of a cross-validation."""
    # Folds, in their order.
    items: list[CrossValidationFold]


class CrossValidationList(TypedDict):
    """A page of a list."""
    # Items, in the order of the list.
    items: list[CrossValidation]
    # Cursor of the next page; null: this is the last page.
    next_cursor: str | None


class CrossValidationOutputs(TypedDict):
    """Outputs of a cross-validation besides the folds' jobs."""
    # Predict the validation samples of each fold with the weights that the fold is judged by, and
    # collect them in one file.
    oof_predictions: NotRequired[bool]
    # Train once more on all samples, without validation, when every fold has succeeded.
    refit_on_all: NotRequired[bool]


class CrossValidationPreview(TypedDict):
    """What a request would create."""
    # Id of the dataset.
    dataset_id: str
    # Effective values of each fold's job.
    effective: dict[str, Any]
    # Number of folds; null: it depends on the data.
    folds: int | None
    # The request, normalised.
    spec: CrossValidationSpec
    # Existing split that would be used; null: a split would be created.
    split_id: str | None
    # What the request probably does not mean. Only in the answer to the request.
    warnings: list[SpecWarning]


class CrossValidationReason(TypedDict):
    """Why a cross-validation is in its state."""
    # split_failed, folds_failed, cancelled, owner_lost, …
    code: str
    # Human-readable message.
    message: str


class CrossValidationRetry(TypedDict):
    """Folds that are retried."""
    # Failed folds by code, before the call.
    codes: dict[str, Any]
    # true: nothing was changed.
    dry_run: bool
    # The folds that are retried.
    items: list[RetriedFold]
    # Number of failed folds that are not retried.
    left: int
    # Number of folds that are retried, or would be.
    retried: int
    # State of the cross-validation after it.
    state: Literal['preparing', 'running', 'cancelling', 'succeeded', 'failed', 'cancelled']


class CrossValidationSpec(TypedDict):
    """A cross-validation: one training job for each fold of a split."""
    # The job of each fold, without name, project and data.split.
    job: JobSpec
    # Key-value labels for filtering.
    labels: NotRequired[dict[str, str]]
    # Human-readable name. Default: generated.
    name: NotRequired[str]
    # Outputs besides the folds' jobs.
    outputs: NotRequired[CrossValidationOutputs]
    # Folds that run at the same time.
    parallel: NotRequired[FoldParallelism]
    # Project that the cross-validation and its jobs belong to.
    project: NotRequired[str]
    # How to divide the dataset. If the dataset already has an equal split, that one is used.
    split: NotRequired[SplitCreate]
    # Id of a stored split of the dataset (spl_…), instead of split.
    split_id: NotRequired[str]


class CrossValidationSummary(TypedDict):
    """Metrics of a cross-validation over its folds."""
    # True: every fold has succeeded and is part of the summary.
    complete: bool
    # Metric of early stopping that has chosen the epoch of each fold, on the samples that the fold
    # is measured on: the values are optimistic. null: values are those of the last epoch.
    epochs_chosen_by: str | None
    # Numbers of the folds that failed or were cancelled.
    failed_folds: list[int]
    # How many folds are in each state.
    folds: FoldCounts
    # cv_…
    id: str
    # Each metric over the folds.
    metrics: list[MetricOverFolds]
    # Hash of the split's manifest; null until it is ready.
    split_hash: str | None
    # State of the cross-validation.
    state: Literal['preparing', 'running', 'cancelling', 'succeeded', 'failed', 'cancelled']


class DataSpec(TypedDict):
    """Data to train and validate on."""
    # Augmentation of training images, applied in this order. mixup and cutmix come last and mix
    # samples with one another.
    augment: NotRequired[list[AugmentSpec]]
    # Columns of a table, to override those of the dataset.
    columns: NotRequired[ColumnsSpec]
    # Id or name of a dataset.
    dataset: str
    # Resize images to squares of this side, in pixels. Default: the dataset's image_size.
    image_size: NotRequired[int]
    # Length of the sequences that text is cut into, in tokens. Default: 128.
    max_length: NotRequired[int]
    # Normalisation: each feature becomes (x - mean) / std.
    normalize: NotRequired[NormalizeSpec]
    # Cache decoded images in a file that later jobs read instead of decoding them again.
    packed: NotRequired[bool]
    # Validation split.
    split: NotRequired[SplitSpec]
    # Tokenizer. Default: one token per byte.
    tokenizer: NotRequired[TokenizerSpec]
    # Handling of damaged images. fail: the job fails and names the image; skip: the image is
    # skipped; accept: the part that can be decoded is used, the rest is gray. Default: the
    # dataset's truncated_images.
    truncated_images: NotRequired[Literal['fail', 'skip', 'accept']]
    # Required content_hash of the dataset, or a prefix of it. Default: any.
    version: NotRequired[str]


class Dataset(TypedDict):
    """A dataset."""
    # Total size in bytes.
    bytes: int
    # Time of the check.
    checked_at: str | None
    # Hash of all file names and contents.
    content_hash: str | None
    # Time of creation.
    created_at: str
    # tok_…
    created_by: str | None
    # File format.
    format: Literal['idx', 'csv', 'image_folder', 'image_csv', 'cifar10', 'tfrecord', 'webdataset', 'npz', 'text']
    # ds_…
    id: str
    # Name to use in jobs.
    name: str
    # Options for reading the files.
    options: DatasetOptions
    # File, row, field and message of each problem; set when it has failed. Lists of datasets show
    # only the first one.
    problems: list[dict[str, Any]] | None
    # Project that the dataset belongs to.
    project: str
    # Samples, classes, shapes; set when it is ready. Lists of datasets omit nested lists and
    # objects.
    report: dict[str, Any] | None
    # Source of the files.
    source: DatasetSource
    # checking, ready or failed.
    state: Literal['checking', 'ready', 'failed']


class DatasetCreate(TypedDict):
    """A dataset to create."""
    # File format.
    format: Literal['idx', 'csv', 'image_folder', 'image_csv', 'cifar10', 'tfrecord', 'webdataset', 'npz', 'text']
    # Name to use in jobs; unique within the project.
    name: str
    # Options for reading the files.
    options: NotRequired[DatasetOptions]
    # Project that the dataset belongs to.
    project: NotRequired[str]
    # Source of the files.
    source: DatasetSource


class DatasetList(TypedDict):
    """A page of a list."""
    # Items, in the order of the list.
    items: list[Dataset]
    # Cursor of the next page; null: this is the last page.
    next_cursor: str | None


class DatasetOptions(TypedDict):
    """Options for reading the files. They depend on the format."""
    # 1: gray; 3: colour. Default: 3 if any image is in colour.
    channels: NotRequired[Literal[1, 3]]
    # Class names in the order of their numbers. Default: the names found, sorted.
    class_names: NotRequired[list[str]]
    # Feature columns. Default: all except the label and group columns.
    feature_columns: NotRequired[list[str]]
    # Column of the file paths, relative to the folder.
    file_column: NotRequired[str]
    # Column of the group that a sample belongs to, for splits by group.
    group_column: NotRequired[str]
    # Feature that holds a JPEG or PNG. Default: `image`, if records have one.
    image_column: NotRequired[str]
    # Resize images to squares of this side, in pixels. Required if the images differ in size.
    image_size: NotRequired[int]
    # Column of the class labels.
    label_column: NotRequired[str]
    # Numeric label columns, instead of a class column: for multilabel and regression.
    label_columns: NotRequired[list[str]]
    # Path of the table, relative to the folder.
    labels_file: NotRequired[str]
    # Mean to subtract: one number, or one per channel or column.
    mean: NotRequired[float | list[float]]
    # Images are raw pixels, one byte per channel, instead of JPEG or PNG: interleaved (height,
    # width, depth) or planar (depth, height, width).
    raw_pixels: NotRequired[Literal['interleaved', 'planar']]
    # Height, width and depth of all raw_pixels images; the depth is 1 or 3. Default: taken from
    # each record.
    raw_shape: NotRequired[list[int]]
    # Features of a record that hold the height, width and depth of raw_pixels. Default: `height`,
    # `width` and `depth`.
    shape_columns: NotRequired[list[str]]
    # Standard deviation to divide by: one number, or one per channel or column.
    std: NotRequired[float | list[float]]
    # Handling of damaged images. fail (default): the dataset is rejected; skip, accept: the dataset
    # is usable and the images are listed; jobs skip them, or use the part that can be decoded.
    truncated_images: NotRequired[Literal['fail', 'skip', 'accept']]


class DatasetPreview(TypedDict):
    """A few samples of a dataset."""
    # Feature names, for a table.
    columns: list[str]
    # Samples spread evenly over the dataset, from the first one on.
    items: list[PreviewSample]
    # Number of samples in the dataset; for text, number of lines.
    samples: int


class DatasetSourcePath(TypedDict):
    # Folder or file inside a folder that the operator has allowed.
    path: str


class DatasetSourceUpload(TypedDict):
    # Name of a single file, where the name matters: the part of a csv or a text. Default: the
    # upload's filename.
    filename: NotRequired[str]
    # Id of a complete upload: an archive (zip, tar) or a single file. An archive that is a file of
    # the format itself is kept whole.
    upload: str


# Source of the files: a path or an upload.
DatasetSource = Union[
    "DatasetSourcePath",
    "DatasetSourceUpload",
]


class Decision(TypedDict):
    """What the scheduler decided on a job."""
    # Time of the decision.
    at: str
    # For a start: free_cores or backfill; for a wait: as in /explain; otherwise preempted.
    code: str
    # Cores of a start.
    cores: list[int] | None
    # Host of a start.
    host: str | None
    # Number of the decision.
    id: int
    # job_…
    job_id: str
    # start: it got cores; wait: it has waited for this reason for a second; preempt: it has to save
    # and free its cores.
    kind: Literal['start', 'wait', 'preempt']
    # Human-readable reason.
    message: str
    # Project that the job belongs to.
    project: str
    # Job that it waits for, is preempted by, or starts before.
    related_job: str | None


class DecisionList(TypedDict):
    """A page of a list."""
    # Items, in the order of the list.
    items: list[Decision]
    # Cursor of the next page; null: this is the last page.
    next_cursor: str | None


class EarlyStoppingSpec(TypedDict):
    """Stop the training when evaluations no longer improve."""
    # Metric to compare evaluations by.
    metric: NotRequired[Literal['val_loss', 'val_accuracy', 'val_perplexity', 'val_top5_accuracy', 'val_auc', 'val_mae', 'val_r2']]
    # Minimum change that counts as an improvement.
    min_delta: NotRequired[float]
    # Whether a smaller or a larger value is better. Default: as suits the metric.
    mode: NotRequired[Literal['min', 'max']]
    # Stop after this many evaluations without improvement.
    patience: int


class Effective(TypedDict):
    """Values derived from the spec."""
    # Batch size of a step over all cores.
    global_batch: int
    # Learning rate after lr_scaling; null: nothing is trained.
    lr: float | None
    # Precision of the computation.
    precision: str
    # Number of cores.
    world_size: int


class EmaSpec(TypedDict):
    """Exponential moving average of the weights; evaluations and checkpoints use it instead of
    the weights."""
    # Decay of the moving average.
    decay: float


class EvaluatedLabel(TypedDict):
    """Metrics of a numeric label."""
    # multilabel: area under the ROC curve; null: only one kind of sample.
    auc: NotRequired[float | None]
    # regression: mean squared error.
    mse: NotRequired[float | None]
    # Column of the label.
    name: str
    # nan, inf or -inf by name, for each value that is null because it is not finite.
    nonfinite: NotRequired[dict[str, Any]]
    # regression: coefficient of determination; null: the label does not vary.
    r2: NotRequired[float | None]


class Evaluation(TypedDict):
    """Last evaluation of a job."""
    # Confusion matrix of a classification, if task.metrics includes it.
    confusion_matrix: NotRequired[ConfusionMatrix]
    # Epoch.
    epoch: int
    # Metrics per label, for multilabel and regression.
    labels: NotRequired[list[EvaluatedLabel]]
    # One sentence per value that cannot be computed.
    left_out: list[str]
    # nan, inf or -inf by name, for each value that is null because it is not finite.
    nonfinite: NotRequired[dict[str, Any]]
    # Number of validation samples, each counted once.
    samples: int
    # Number of completed steps.
    step: int
    # The metrics by name, as in the curves.
    values: dict[str, Any]


class EvaluationData(TypedDict):
    """Data to evaluate on."""
    # Id or name of a dataset of the project. Default: the dataset of the training.
    dataset: NotRequired[str]
    # Evaluate only the samples of this named part. Default: all parts.
    part: NotRequired[str]
    # all: every sample; train, val: the training or validation samples of the job, if the dataset
    # is the job's own. Default: val for the job's own dataset if no part is named, all otherwise.
    split: NotRequired[Literal['all', 'train', 'val']]


class EvaluationPreview(TypedDict):
    """Result of a dry run of an evaluation."""
    # ds_…
    dataset_id: str
    # Values derived from the evaluation.
    effective: Effective
    # Evaluation spec with every default filled in and the checkpoint by id.
    evaluation: EvaluationSpec
    # Position that the job would get.
    queue: QueuePlace
    # Spec of the training job, adapted for evaluation.
    spec: JobSpec


# An evaluation: measures a trained model on labelled samples.
EvaluationSpec = TypedDict("EvaluationSpec", {
    # Cores to run on.
    "accelerator": "NotRequired[OneHostAcceleratorSpec]",
    # Data to evaluate on.
    "data": "NotRequired[EvaluationData]",
    # Checkpoint, or those of an ensemble.
    "from": "PredictionSource",
    # Key-value labels for filtering.
    "labels": "NotRequired[dict[str, str]]",
    # Start time and limits.
    "limits": "NotRequired[LimitsSpec]",
    # Human-readable name. Default: generated.
    "name": "NotRequired[str]",
    # Precision of the computation. Default: that of the training.
    "precision": "NotRequired[Literal['f32', 'bf16', 'bf16_true']]",
    # Project that the evaluation belongs to.
    "project": "NotRequired[str]",
    # Scheduling class and preemption.
    "queue": "NotRequired[QueueSpec]",
})


class Event(TypedDict):
    """An event of a job."""
    # Content of the event; see docs/formats.md.
    body: dict[str, Any] | None
    # Sequence number of the job: 1, 2, 3 …, without gaps.
    seq: int
    # Time of the event.
    time: str
    # Event type.
    type: Literal['state', 'progress', 'metric', 'log', 'checkpoint', 'compile', 'warning', 'gap', 'end']


class EventList(TypedDict):
    """A page of a list."""
    # Items, in the order of the list.
    items: list[Event]
    # Cursor of the next page; null: this is the last page.
    next_cursor: str | None


class Explanation(TypedDict):
    """Explanation of the state of a job."""
    # Job that holds the cores or starts first.
    blocking_job: str | None
    # Machine-readable code: waiting_for_cores, start_after, …
    code: str | None
    # Cores that the job waits for.
    cores: list[int] | None
    # The least certain time that the estimate is based on. known: no estimate; progress: the
    # remaining time that running jobs report; typical: the recent run times of jobs of the project;
    # limit: time limits; assumed: 10 minutes each.
    estimate_from: Literal['known', 'progress', 'typical', 'limit', 'assumed'] | None
    # Estimated start time; null: the job is held, or too far back in the queue.
    estimated_start_at: str | None
    # job_…
    job_id: str
    # limits.max_wall_s of the job, or the default of its pool; null: no limit.
    max_wall_s: float | None
    # Human-readable message.
    message: str | None
    # Position, as in `queue` of a job.
    position: int | None
    # State of the job.
    state: Literal['queued', 'starting', 'compiling', 'running', 'finishing', 'succeeded', 'preempting', 'pausing', 'paused', 'cancelling', 'cancelled', 'failed', 'stopped', 'timed_out', 'expired']


class FoldCounts(TypedDict):
    """How many folds are in each state."""
    # Folds that were cancelled.
    cancelled: int
    # Folds that have failed.
    failed: int
    # Folds whose predictions are being computed.
    predicting: int
    # Folds that have succeeded.
    succeeded: int
    # All folds; null until the split is ready.
    total: int | None
    # Folds whose job is waiting or running.
    training: int
    # Folds without a job.
    waiting: int


class FoldParallelism(TypedDict):
    """Folds that run at the same time."""
    # Maximum number of jobs of the cross-validation that wait or run at the same time; 1: one fold
    # after the other.
    folds: NotRequired[int]
    # continue: the other folds continue; cancel: they are cancelled. Either way the
    # cross-validation fails and names the folds that failed.
    on_fold_failure: NotRequired[Literal['continue', 'cancel']]


class FoldPruning(TypedDict):
    """When a trial that is a cross-validation trains no further folds."""
    # A trial trains no further folds if the probability that it will be the best one is below 1 -
    # confidence.
    confidence: NotRequired[float]
    # Folds that every trial trains.
    min_folds: NotRequired[int]
    # Number of trials that are compared with each other, fold after fold; the trials of the next
    # wave start when this one has ended.
    wave: NotRequired[int]


class Graph(TypedDict):
    """A compiled program in full."""
    # True: compiled while the training was running.
    after_warm_up: bool
    # If after_warm_up: how it differs from the most similar program.
    cause: str | None
    # Compile time in seconds.
    compile_s: float
    # Hash of the program, 32 hexadecimal digits.
    hash: str
    # Inputs, in order.
    input_slots: list[GraphSlot]
    # Number of inputs.
    inputs: int
    # The graph as text.
    ir: str
    # Number of kernels.
    kernels: int
    # Memory of the program.
    memory: MemoryPlan
    # Number of nodes of the traced graph.
    nodes: int
    # Outputs, in order.
    output_slots: list[GraphSlot]
    # Number of outputs.
    outputs: int
    # train_step or evaluation_step.
    program: str
    # Kernels, in order.
    steps: list[GraphStep]
    # The program as text.
    text: str


class GraphList(TypedDict):
    """A page of a list."""
    # Items, in the order of the list.
    items: list[GraphSummary]
    # Cursor of the next page; null: this is the last page.
    next_cursor: str | None


class GraphSlot(TypedDict):
    """An input or output of a program."""
    # Output or input that shares its memory.
    aliased: int | None
    # Size of one in bytes.
    bytes: int
    # Name of the parameter, or a description.
    name: str
    # True: each core has its own.
    per_core: bool
    # Type and shape, such as f32[10,4].
    shape: str


class GraphStep(TypedDict):
    """A kernel of a program."""
    # True: a matmul or convolution.
    arithmetic: bool
    # Bytes read and written per call.
    bytes: int
    # Operation and shape.
    name: str
    # True: it runs once per core.
    per_core: bool


class GraphSummary(TypedDict):
    """A compiled program of a job."""
    # True: compiled while the training was running.
    after_warm_up: bool
    # If after_warm_up: how it differs from the most similar program.
    cause: str | None
    # Compile time in seconds.
    compile_s: float
    # Hash of the program, 32 hexadecimal digits.
    hash: str
    # Number of inputs.
    inputs: int
    # Number of kernels.
    kernels: int
    # Memory of the program.
    memory: MemoryPlan
    # Number of nodes of the traced graph.
    nodes: int
    # Number of outputs.
    outputs: int
    # train_step or evaluation_step.
    program: str


class Group(TypedDict):
    """Jobs of a project that share a limit."""
    # Maximum number of its jobs that run at the same time; null: none.
    limit: int | None
    # Name of the group.
    name: str
    # Project that the group belongs to.
    project: str
    # Queued jobs of the group that wait neither for a time nor for a dataset; counted up to 1,001.
    ready: int
    # Jobs of the group that hold cores.
    running: int


class GroupList(TypedDict):
    """A page of a list."""
    # Items, in the order of the list.
    items: list[Group]
    # Cursor of the next page; null: this is the last page.
    next_cursor: str | None


class GroupPut(TypedDict):
    """Limit of a group."""
    # Maximum number of jobs of the group that run at the same time.
    limit: int


class HeadSpec(TypedDict):
    """Last layer."""
    # Initialise the last layer instead of loading it, for other classes than the weights were
    # trained on.
    replace: NotRequired[bool]


class Health(TypedDict):
    """Liveness of the service."""
    # ok.
    status: str


class Host(TypedDict):
    """A host."""
    # Number of virtual cores.
    cores: int
    # Set when the whole host accepts no new jobs.
    drain: HostDrained | None
    # Cores that accept no new jobs.
    drained: list[int]
    # Time of the last heartbeat.
    heartbeat_at: str
    # Memory in bytes.
    memory_bytes: int
    # Name of the host.
    name: str
    # Number of CPUs.
    physical_cpus: int
    # Pool of the host, which jobs may name as queue.pool.
    pool: str
    # Seconds since the last heartbeat.
    silent_s: float


class HostDrain(TypedDict):
    """A host to stop scheduling new jobs on."""
    # Reason, shown with the host and to jobs that wait for it.
    reason: NotRequired[str]


class HostDrained(TypedDict):
    """Why a host accepts no new jobs."""
    # Time at which it was drained.
    at: str
    # tok_…
    by: str | None
    # Reason given when it was drained.
    reason: str | None


class HostList(TypedDict):
    """A page of a list."""
    # Items, in the order of the list.
    items: list[Host]
    # Cursor of the next page; null: this is the last page.
    next_cursor: str | None


# Pretrained weights to start from, instead of random initialisation.
InitSpec = TypedDict("InitSpec", {
    # Id of a checkpoint, or of an uploaded safetensors file. For slipway-executor run: the path of
    # either.
    "from": "str",
    # Reject missing, unexpected or mismatched weights; false: load the weights that fit and log the
    # others.
    "strict": "NotRequired[bool]",
})


class IssuedJoinToken(TypedDict):
    """A new token that lets a host join."""
    # tok_…; it ends together with this token.
    created_by: str
    # Time of its end.
    expires_at: str
    # Host that it is for; null: any.
    host: str | None
    # hjt_…
    id: str
    # Secret of the token; it is not shown again.
    token: str
    # Number of times that a host may join with it.
    uses: int


class IssuedToken(TypedDict):
    """A new token."""
    # Time of creation.
    created_at: str
    # tok_…
    created_by: str | None
    # Expiry time.
    expires_at: str | None
    # tok_…
    id: str
    # Time of the last use, to the minute.
    last_used_at: str | None
    # Member that the token belongs to; in each project it may do no more than the role of the
    # member there permits.
    member: str | None
    # Human-readable name.
    name: str
    # Prefix of the secret, to recognise the token by.
    prefix: str
    # Projects that the token may access; empty: all, or all those of its member.
    projects: list[str]
    # Time of revocation.
    revoked_at: str | None
    # Role: viewer, editor or admin.
    role: Literal['viewer', 'editor', 'admin']
    # Secret of the token; it is not shown again.
    token: str


class IssuedWebhook(TypedDict):
    """A new webhook."""
    # Time of creation.
    created_at: str
    # tok_…
    created_by: str
    # Description of its purpose.
    description: str
    # false: nothing is sent.
    enabled: bool
    # Events that are sent.
    events: list[Literal['job.created', 'job.started', 'job.paused', 'job.resumed', 'job.requeued', 'job.ended']]
    # whk_…
    id: str
    # Until this time, messages are also signed with the previous secret.
    previous_secret_until: str | None
    # Project whose jobs it reports.
    project: str
    # Secret that its messages are signed with; it is not shown again.
    secret: str
    # URL that messages are posted to.
    url: str
    # tok_…; nothing is sent once this token is no longer valid.
    url_set_by: str


class Job(TypedDict):
    """A job."""
    # Number of attempts.
    attempts: int
    # Best checkpoint so far.
    best: Best | None
    # Time of submission.
    created_at: str
    # tok_…
    created_by: str | None
    # ds_…
    dataset_id: str | None
    # Values derived from the spec.
    effective: Effective | None
    # Evaluation spec, with the checkpoint by id; null: another kind of job.
    evaluation: EvaluationSpec | None
    # Time at which the job ended.
    finished_at: str | None
    # job_…
    id: str
    # What the job does.
    kind: Literal['train', 'predict', 'evaluate']
    # Key-value labels for filtering.
    labels: dict[str, str]
    # Human-readable name.
    name: str
    # Value of the metric that the list is ordered by.
    order_value: NotRequired[float]
    # Job that a retry or a fork was made from.
    origin: JobOrigin | None
    # Sweep or cross-validation that the job is a part of.
    parent: JobParent | None
    # Prediction spec, with the checkpoint by id; null: another kind of job.
    prediction: PredictionSpec | None
    # Training progress.
    progress: Progress | None
    # Project that the job belongs to.
    project: str
    # What retention has removed: events, logs, metrics. Absent: nothing.
    pruned: NotRequired[list[str]]
    # Position in the queue, while the job is queued.
    queue: NotRequired[QueuePlace | None]
    # Reason for the state.
    reason: Reason | None
    # Number of restarts after a lost executor.
    restarts: int
    # Last evaluation, once the job has succeeded. `failure`: the step, epoch, batch, phase,
    # program, operation and replica in which it failed, as far as they are known, with the samples
    # of that batch and their shapes.
    result: dict[str, Any] | None
    # Spec with every default filled in. For a prediction or an evaluation: the spec of the training
    # job, adapted for it.
    spec: JobSpec
    # Time of the first start.
    started_at: str | None
    # State of the job.
    state: Literal['queued', 'starting', 'compiling', 'running', 'finishing', 'succeeded', 'preempting', 'pausing', 'paused', 'cancelling', 'cancelled', 'failed', 'stopped', 'timed_out', 'expired']
    # Trace that the job belongs to, from the request that submitted it (W3C Trace Context).
    traceparent: str | None


class JobBulk(TypedDict):
    """An action on many jobs."""
    # Action on each job.
    action: Literal['cancel', 'kill', 'pause', 'resume', 'delete']
    # Jobs to act on.
    filter: JobBulkFilter


class JobBulkFilter(TypedDict):
    """Jobs to act on: those that match every field given."""
    # Jobs that use this dataset (id).
    dataset: NotRequired[str]
    # These jobs.
    ids: NotRequired[list[str]]
    # Jobs of this kind.
    kind: NotRequired[Literal['train', 'predict', 'evaluate']]
    # Jobs that have all of these labels.
    labels: NotRequired[dict[str, str]]
    # Jobs whose name contains this text; case-insensitive.
    name: NotRequired[str]
    # Jobs of this sweep or cross-validation (id): its trials or folds.
    parent: NotRequired[str]
    # Jobs of this project.
    project: NotRequired[str]
    # Jobs in these states.
    state: NotRequired[list[Literal['queued', 'starting', 'compiling', 'running', 'finishing', 'succeeded', 'preempting', 'pausing', 'paused', 'cancelling', 'cancelled', 'failed', 'stopped', 'timed_out', 'expired']]]


class JobBulkItem(TypedDict):
    """What happened to a job."""
    # job_…
    job_id: str
    # Why the action was not possible.
    message: str | None
    # Name of the job; null: the job does not exist.
    name: str | None
    # changed; unchanged: it already was in the requested state; refused: see message.
    outcome: str
    # State after the action; null: the job is gone.
    state: Literal['queued', 'starting', 'compiling', 'running', 'finishing', 'succeeded', 'preempting', 'pausing', 'paused', 'cancelling', 'cancelled', 'failed', 'stopped', 'timed_out', 'expired'] | None


class JobBulkResult(TypedDict):
    """Result of an action on many jobs."""
    # The action.
    action: str
    # Number of jobs that were changed, or would be.
    changed: int
    # true: nothing was changed.
    dry_run: bool
    # Each job, newest first.
    items: list[JobBulkItem]
    # true: more jobs match; send the request again.
    more: bool
    # Number of jobs that cannot be changed in this way.
    refused: int
    # Number of jobs that already were in the requested state.
    unchanged: int


class JobFork(TypedDict):
    """A new job, made from an existing training job."""
    # Changes to the spec, as a JSON merge patch (RFC 7396).
    changes: NotRequired[dict[str, Any]]
    # Checkpoint to start from: last, best or the id of a checkpoint of the job.
    checkpoint: NotRequired[str]
    # continue: from the full training state of the checkpoint; weights: from its weights only;
    # scratch: without a checkpoint.
    start: NotRequired[Literal['continue', 'weights', 'scratch']]


class JobList(TypedDict):
    """A page of a list."""
    # Items, in the order of the list.
    items: list[Job]
    # Cursor of the next page; null: this is the last page.
    next_cursor: str | None


class JobMetricList(TypedDict):
    """The metric curves of several jobs."""
    # Jobs, in the order asked for.
    jobs: list[JobMetrics]


class JobMetrics(TypedDict):
    """The metric curves of a job."""
    # job_…
    job_id: str
    # Name of the job.
    name: str
    # Curves, by name.
    series: list[MetricSeries]
    # State of the job.
    state: Literal['queued', 'starting', 'compiling', 'running', 'finishing', 'succeeded', 'preempting', 'pausing', 'paused', 'cancelling', 'cancelled', 'failed', 'stopped', 'timed_out', 'expired']


class JobOrigin(TypedDict):
    """Job that another job was made from."""
    # retry or fork.
    action: str
    # Checkpoint that training continues from; null: it does not continue.
    continues_from: str | None
    # job_…; it may have been deleted since.
    job_id: str


class JobParent(TypedDict):
    """Sweep or cross-validation that a job is a part of."""
    # swp_… or cv_….
    id: str
    # Its part: the number of a trial, or the name of a fold.
    key: str


class JobPatch(TypedDict):
    """Fields to change; absent fields are unchanged."""
    # New labels; they replace all existing ones.
    labels: NotRequired[dict[str, str]]
    # New name.
    name: NotRequired[str]
    # Scheduling class and pool.
    queue: NotRequired[QueuePatch]


class JobPreview(TypedDict):
    """Result of a dry run."""
    # ds_…
    dataset_id: str
    # Values derived from the spec.
    effective: Effective
    # Position that the job would get.
    queue: QueuePlace
    # Learning-rate curve; null: the number of steps is known only when the job runs.
    schedule: NotRequired[SchedulePreview | None]
    # Spec with every default filled in.
    spec: JobSpec


class JobSpec(TypedDict):
    """A training job."""
    # Cores to run on.
    accelerator: NotRequired[AcceleratorSpec]
    # When to save checkpoints, and which to keep.
    checkpoint: NotRequired[CheckpointSpec]
    # Data.
    data: DataSpec
    # Key-value labels for filtering.
    labels: NotRequired[dict[str, str]]
    # Start time and limits.
    limits: NotRequired[LimitsSpec]
    # Model.
    model: ModelSpec
    # Reporting during the run.
    monitor: NotRequired[MonitorSpec]
    # Human-readable name. Default: generated.
    name: NotRequired[str]
    # Project that the job belongs to.
    project: NotRequired[str]
    # Scheduling class and preemption.
    queue: NotRequired[QueueSpec]
    # Task.
    task: TaskSpec
    # Training.
    train: TrainSpec


class JoinTokenCreate(TypedDict):
    """A token that lets a host join."""
    # Seconds until it expires: one minute to seven days.
    expires_in_s: NotRequired[int]
    # Name of the host that it is for. Default: any host.
    host: NotRequired[str]
    # Number of times that a host may join with it.
    uses: NotRequired[int]


class LayerSpecLinear(TypedDict):
    # Add a trainable bias.
    bias: NotRequired[bool]
    # Inputs: names of earlier layers of the same list, or "input" for the input of the list.
    # Default: the previous layer. add and concat need at least two.
    inputs: NotRequired[list[str]]
    # Name of the layer, in inputs and in parameter names. Default: its position in the list.
    name: NotRequired[str]
    # Number of output features. Default: as the task requires.
    out_features: NotRequired[int]
    # Type of the layer.
    type: Literal['linear']


class LayerSpecConv2d(TypedDict):
    # Add a trainable bias.
    bias: NotRequired[bool]
    # Number of channel groups; each is convolved separately.
    groups: NotRequired[int]
    # Inputs: names of earlier layers of the same list, or "input" for the input of the list.
    # Default: the previous layer. add and concat need at least two.
    inputs: NotRequired[list[str]]
    # Side of the square kernel, in pixels.
    kernel_size: int
    # Name of the layer, in inputs and in parameter names. Default: its position in the list.
    name: NotRequired[str]
    # Number of output channels.
    out_channels: int
    # Zero padding on each side, in pixels; max_pool never selects padding.
    padding: NotRequired[int]
    # Step between kernel positions, in pixels. Default: 1 for conv2d, kernel_size for pools.
    stride: NotRequired[int]
    # Type of the layer.
    type: Literal['conv2d']


class LayerSpecBatchNorm(TypedDict):
    # Term added to the variance for numerical stability.
    eps: NotRequired[float]
    # Inputs: names of earlier layers of the same list, or "input" for the input of the list.
    # Default: the previous layer. add and concat need at least two.
    inputs: NotRequired[list[str]]
    # Weight of the batch statistics in the running statistics.
    momentum: NotRequired[float]
    # Name of the layer, in inputs and in parameter names. Default: its position in the list.
    name: NotRequired[str]
    # Type of the layer.
    type: Literal['batch_norm']


class LayerSpecLayerNorm(TypedDict):
    # Term added to the variance for numerical stability.
    eps: NotRequired[float]
    # Inputs: names of earlier layers of the same list, or "input" for the input of the list.
    # Default: the previous layer. add and concat need at least two.
    inputs: NotRequired[list[str]]
    # Name of the layer, in inputs and in parameter names. Default: its position in the list.
    name: NotRequired[str]
    # Type of the layer.
    type: Literal['layer_norm']


class LayerSpecRelu(TypedDict):
    # Inputs: names of earlier layers of the same list, or "input" for the input of the list.
    # Default: the previous layer. add and concat need at least two.
    inputs: NotRequired[list[str]]
    # Name of the layer, in inputs and in parameter names. Default: its position in the list.
    name: NotRequired[str]
    # Type of the layer.
    type: Literal['relu']


class LayerSpecGelu(TypedDict):
    # none: exact, with the error function; tanh: the usual approximation.
    approximate: NotRequired[Literal['none', 'tanh']]
    # Inputs: names of earlier layers of the same list, or "input" for the input of the list.
    # Default: the previous layer. add and concat need at least two.
    inputs: NotRequired[list[str]]
    # Name of the layer, in inputs and in parameter names. Default: its position in the list.
    name: NotRequired[str]
    # Type of the layer.
    type: Literal['gelu']


class LayerSpecTanh(TypedDict):
    # Inputs: names of earlier layers of the same list, or "input" for the input of the list.
    # Default: the previous layer. add and concat need at least two.
    inputs: NotRequired[list[str]]
    # Name of the layer, in inputs and in parameter names. Default: its position in the list.
    name: NotRequired[str]
    # Type of the layer.
    type: Literal['tanh']


class LayerSpecSigmoid(TypedDict):
    # Inputs: names of earlier layers of the same list, or "input" for the input of the list.
    # Default: the previous layer. add and concat need at least two.
    inputs: NotRequired[list[str]]
    # Name of the layer, in inputs and in parameter names. Default: its position in the list.
    name: NotRequired[str]
    # Type of the layer.
    type: Literal['sigmoid']


class LayerSpecSoftmax(TypedDict):
    # Inputs: names of earlier layers of the same list, or "input" for the input of the list.
    # Default: the previous layer. add and concat need at least two.
    inputs: NotRequired[list[str]]
    # Name of the layer, in inputs and in parameter names. Default: its position in the list.
    name: NotRequired[str]
    # Type of the layer.
    type: Literal['softmax']


class LayerSpecDropout(TypedDict):
    # Inputs: names of earlier layers of the same list, or "input" for the input of the list.
    # Default: the previous layer. add and concat need at least two.
    inputs: NotRequired[list[str]]
    # Name of the layer, in inputs and in parameter names. Default: its position in the list.
    name: NotRequired[str]
    # Dropout probability, in training only.
    rate: NotRequired[float]
    # Type of the layer.
    type: Literal['dropout']


class LayerSpecMaxPool(TypedDict):
    # Inputs: names of earlier layers of the same list, or "input" for the input of the list.
    # Default: the previous layer. add and concat need at least two.
    inputs: NotRequired[list[str]]
    # Side of the square kernel, in pixels.
    kernel_size: int
    # Name of the layer, in inputs and in parameter names. Default: its position in the list.
    name: NotRequired[str]
    # Zero padding on each side, in pixels; max_pool never selects padding.
    padding: NotRequired[int]
    # Step between kernel positions, in pixels. Default: 1 for conv2d, kernel_size for pools.
    stride: NotRequired[int]
    # Type of the layer.
    type: Literal['max_pool']


class LayerSpecAvgPool(TypedDict):
    # Inputs: names of earlier layers of the same list, or "input" for the input of the list.
    # Default: the previous layer. add and concat need at least two.
    inputs: NotRequired[list[str]]
    # Side of the square kernel, in pixels.
    kernel_size: int
    # Name of the layer, in inputs and in parameter names. Default: its position in the list.
    name: NotRequired[str]
    # Zero padding on each side, in pixels; max_pool never selects padding.
    padding: NotRequired[int]
    # Step between kernel positions, in pixels. Default: 1 for conv2d, kernel_size for pools.
    stride: NotRequired[int]
    # Type of the layer.
    type: Literal['avg_pool']


class LayerSpecGlobalAvgPool(TypedDict):
    # Inputs: names of earlier layers of the same list, or "input" for the input of the list.
    # Default: the previous layer. add and concat need at least two.
    inputs: NotRequired[list[str]]
    # Name of the layer, in inputs and in parameter names. Default: its position in the list.
    name: NotRequired[str]
    # Type of the layer.
    type: Literal['global_avg_pool']


class LayerSpecFlatten(TypedDict):
    # Inputs: names of earlier layers of the same list, or "input" for the input of the list.
    # Default: the previous layer. add and concat need at least two.
    inputs: NotRequired[list[str]]
    # Name of the layer, in inputs and in parameter names. Default: its position in the list.
    name: NotRequired[str]
    # Type of the layer.
    type: Literal['flatten']


class LayerSpecSequence(TypedDict):
    # Inputs: names of earlier layers of the same list, or "input" for the input of the list.
    # Default: the previous layer. add and concat need at least two.
    inputs: NotRequired[list[str]]
    # Layers of the block, in order.
    layers: list[LayerSpec]
    # Name of the layer, in inputs and in parameter names. Default: its position in the list.
    name: NotRequired[str]
    # Type of the layer.
    type: Literal['sequence']


class LayerSpecResidual(TypedDict):
    # Inputs: names of earlier layers of the same list, or "input" for the input of the list.
    # Default: the previous layer. add and concat need at least two.
    inputs: NotRequired[list[str]]
    # Layers of the block, in order.
    layers: list[LayerSpec]
    # Name of the layer, in inputs and in parameter names. Default: its position in the list.
    name: NotRequired[str]
    # Layers between the input and the sum, for results of another shape. Default: the input itself
    # is added.
    shortcut: NotRequired[list[LayerSpec]]
    # Type of the layer.
    type: Literal['residual']


class LayerSpecAdd(TypedDict):
    # Inputs: names of earlier layers of the same list, or "input" for the input of the list.
    # Default: the previous layer. add and concat need at least two.
    inputs: NotRequired[list[str]]
    # Name of the layer, in inputs and in parameter names. Default: its position in the list.
    name: NotRequired[str]
    # Type of the layer.
    type: Literal['add']


class LayerSpecConcat(TypedDict):
    # Inputs: names of earlier layers of the same list, or "input" for the input of the list.
    # Default: the previous layer. add and concat need at least two.
    inputs: NotRequired[list[str]]
    # Name of the layer, in inputs and in parameter names. Default: its position in the list.
    name: NotRequired[str]
    # Type of the layer.
    type: Literal['concat']


class LayerSpecColumns(TypedDict):
    # Names of table columns to read, in this order.
    columns: list[str]
    # Inputs: names of earlier layers of the same list, or "input" for the input of the list.
    # Default: the previous layer. add and concat need at least two.
    inputs: NotRequired[list[str]]
    # Name of the layer, in inputs and in parameter names. Default: its position in the list.
    name: NotRequired[str]
    # Type of the layer.
    type: Literal['columns']


class LayerSpecEmbedding(TypedDict):
    # Size of each embedding vector.
    embedding_dim: int
    # Inputs: names of earlier layers of the same list, or "input" for the input of the list.
    # Default: the previous layer. add and concat need at least two.
    inputs: NotRequired[list[str]]
    # Name of the layer, in inputs and in parameter names. Default: its position in the list.
    name: NotRequired[str]
    # Number of rows of the table; inputs are integers from 0 to num_embeddings - 1.
    num_embeddings: int
    # Row that is initialised to zeros and receives no gradient.
    padding_idx: NotRequired[int]
    # Type of the layer.
    type: Literal['embedding']


class LayerSpecSinusoidalPosition(TypedDict):
    # Inputs: names of earlier layers of the same list, or "input" for the input of the list.
    # Default: the previous layer. add and concat need at least two.
    inputs: NotRequired[list[str]]
    # Name of the layer, in inputs and in parameter names. Default: its position in the list.
    name: NotRequired[str]
    # Type of the layer.
    type: Literal['sinusoidal_position']


# One layer of a layer-list model.
LayerSpec = Union[
    "LayerSpecLinear",
    "LayerSpecConv2d",
    "LayerSpecBatchNorm",
    "LayerSpecLayerNorm",
    "LayerSpecRelu",
    "LayerSpecGelu",
    "LayerSpecTanh",
    "LayerSpecSigmoid",
    "LayerSpecSoftmax",
    "LayerSpecDropout",
    "LayerSpecMaxPool",
    "LayerSpecAvgPool",
    "LayerSpecGlobalAvgPool",
    "LayerSpecFlatten",
    "LayerSpecSequence",
    "LayerSpecResidual",
    "LayerSpecAdd",
    "LayerSpecConcat",
    "LayerSpecColumns",
    "LayerSpecEmbedding",
    "LayerSpecSinusoidalPosition",
]


class LimitsSpec(TypedDict):
    """Start time and limits."""
    # Maximum core time in seconds, over all attempts: 8 for each second on 8 cores. The job is
    # timed_out beyond it.
    max_core_s: NotRequired[float]
    # Maximum number of restarts after a lost executor.
    max_restarts: NotRequired[int]
    # Maximum run time in seconds, over all attempts; the job is timed_out beyond it. Default: that
    # of the pool, if it has one.
    max_wall_s: NotRequired[float]
    # Earliest start time.
    start_after: NotRequired[str]
    # The job is expired if it has not started by this time.
    valid_until: NotRequired[str]


class LogLine(TypedDict):
    """A log line of a job."""
    # info, warn or error.
    level: str
    # Text of the line.
    message: str
    # Sequence number among the events of the job.
    seq: int
    # Time of the line.
    time: str


class LogList(TypedDict):
    """A page of a list."""
    # Items, in the order of the list.
    items: list[LogLine]
    # Cursor of the next page; null: this is the last page.
    next_cursor: str | None


class Login(TypedDict):
    """A token to exchange for a session cookie."""
    # Secret of the token (slp_…).
    token: str


class LoginLink(TypedDict):
    """A one-time link that signs a browser in."""
    # Lifetime of the link in seconds.
    keep_s: int
    # URL to open.
    url: str


class Me(TypedDict):
    """Identity of the caller."""
    # True: authenticated by a session cookie.
    by_cookie: bool
    # Member that the token belongs to.
    member: str | None
    # Name of the token.
    name: str
    # Projects that the token may access; empty: all, unless `roles` is empty.
    projects: list[str]
    # Highest role in any project: viewer, editor or admin; null: the member has no role in any.
    role: Literal['viewer', 'editor', 'admin'] | None
    # Role in each project.
    roles: list[ProjectRole]
    # tok_…
    token_id: str


class Member(TypedDict):
    """A member of a project."""
    # Time at which the role was given.
    changed_at: str
    # Token that gave the role: tok_….
    changed_by: str | None
    # Time at which the member joined the project.
    created_at: str
    # Name of the member.
    member: str
    # Name of the project.
    project: str
    # Role in this project: viewer, editor or admin.
    role: Literal['viewer', 'editor', 'admin']


class MemberList(TypedDict):
    """A page of a list."""
    # Items, in the order of the list.
    items: list[Member]
    # Cursor of the next page; null: this is the last page.
    next_cursor: str | None


class MemberPut(TypedDict):
    """What a member may do in a project."""
    # viewer: read; editor: read and write; admin: also manage members and tokens of the project.
    role: Literal['viewer', 'editor', 'admin']


class MemoryPlan(TypedDict):
    """Memory of a program in bytes, known before it runs."""
    # Inputs whose memory an output reuses.
    aliased_bytes: int
    # Machine code of its loop kernels, each counted once.
    code_bytes: int
    # Part of the temporaries: constants of the program.
    constant_bytes: int
    # Parameters, optimizer state and batch.
    input_bytes: int
    # Outputs with memory of their own.
    output_bytes: int
    # Peak: inputs, outputs and temporaries.
    peak_bytes: int
    # Buffers used only within a step.
    temporary_bytes: int


class MetricList(TypedDict):
    """Metric curves of a job."""
    # One series per metric.
    series: list[MetricSeries]


class MetricOverFolds(TypedDict):
    """A metric over the folds that have succeeded."""
    # Standard error that allows for folds sharing training samples (Nadeau and Bengio).
    corrected_error: float | None
    # Number of folds.
    folds: int
    # Largest value.
    max: float | None
    # Mean over the folds.
    mean: float | None
    # Smallest value.
    min: float | None
    # Whether a smaller or a larger value is better.
    mode: Literal['min', 'max']
    # val_loss, …
    name: str
    # Folds whose value is not finite; the others are not summarised.
    nonfinite: int
    # std / sqrt(n).
    standard_error: float | None
    # Standard deviation over the folds, with n - 1.
    std: float | None
    # Mean over the folds, weighted by validation samples.
    weighted_mean: float | None
    # Standard error of weighted_mean.
    weighted_standard_error: float | None


class MetricPoint(TypedDict):
    """A value of a curve, or a summary of several consecutive values."""
    # Number of values; for a summary.
    count: NotRequired[int]
    # Epoch.
    epoch: int
    # Maximum; for a summary.
    max: NotRequired[float | None]
    # Mean; for a summary.
    mean: NotRequired[float | None]
    # Minimum; for a summary.
    min: NotRequired[float | None]
    # nan, inf or -inf if value is null.
    nonfinite: NotRequired[str]
    # Number of values that are nan or infinite; for a summary.
    nonfinite_count: NotRequired[int]
    # Number of completed steps.
    step: int
    # Time of the measurement.
    time: str
    # Value; for a summary, the last one.
    value: float | None


class MetricSeries(TypedDict):
    """A metric curve."""
    # train_loss, …: of the batch of that step only; val_loss, …: of all validation samples.
    name: str
    # Points in the order of steps.
    points: list[MetricPoint]
    # True if the curve was shortened to fit the 200,000 points of a response: each point summarises
    # several values. step_min and step_max select a range.
    thinned: NotRequired[bool]


class ModelSpecMlp(TypedDict):
    # Architecture.
    arch: Literal['mlp']
    # Number of hidden layers.
    depth: NotRequired[int]
    # Name patterns of parameters that are not trained, such as layer1.*; * matches any text.
    freeze: NotRequired[list[str]]
    # Last layer.
    head: NotRequired[HeadSpec]
    # Features of each hidden layer, in order; replaces width and depth.
    hidden: NotRequired[list[int]]
    # Pretrained weights to start from, instead of random initialisation.
    init: NotRequired[InitSpec]
    # Number of classes, at least 2; for multilabel and regression, number of labels. Default: as in
    # the dataset.
    num_classes: NotRequired[int]
    # Pairs of parameter names that share one tensor; it is trained and stored once.
    tie: NotRequired[list[list[str]]]
    # Features per hidden layer.
    width: NotRequired[int]


class ModelSpecLenet(TypedDict):
    # Architecture.
    arch: Literal['lenet']
    # Name patterns of parameters that are not trained, such as layer1.*; * matches any text.
    freeze: NotRequired[list[str]]
    # Last layer.
    head: NotRequired[HeadSpec]
    # Pretrained weights to start from, instead of random initialisation.
    init: NotRequired[InitSpec]
    # Number of classes, at least 2; for multilabel and regression, number of labels. Default: as in
    # the dataset.
    num_classes: NotRequired[int]
    # Pairs of parameter names that share one tensor; it is trained and stored once.
    tie: NotRequired[list[list[str]]]


class ModelSpecResnet18(TypedDict):
    # Architecture.
    arch: Literal['resnet18']
    # Name patterns of parameters that are not trained, such as layer1.*; * matches any text.
    freeze: NotRequired[list[str]]
    # Last layer.
    head: NotRequired[HeadSpec]
    # Pretrained weights to start from, instead of random initialisation.
    init: NotRequired[InitSpec]
    # Number of classes, at least 2; for multilabel and regression, number of labels. Default: as in
    # the dataset.
    num_classes: NotRequired[int]
    # Synchronised batch norm: mean and variance over all cores instead of per core. Costs two
    # all-reduces in the forward pass and one in the backward pass.
    sync_batch_norm: NotRequired[bool]
    # Pairs of parameter names that share one tensor; it is trained and stored once.
    tie: NotRequired[list[list[str]]]


class ModelSpecResnet34(TypedDict):
    # Architecture.
    arch: Literal['resnet34']
    # Name patterns of parameters that are not trained, such as layer1.*; * matches any text.
    freeze: NotRequired[list[str]]
    # Last layer.
    head: NotRequired[HeadSpec]
    # Pretrained weights to start from, instead of random initialisation.
    init: NotRequired[InitSpec]
    # Number of classes, at least 2; for multilabel and regression, number of labels. Default: as in
    # the dataset.
    num_classes: NotRequired[int]
    # Synchronised batch norm: mean and variance over all cores instead of per core. Costs two
    # all-reduces in the forward pass and one in the backward pass.
    sync_batch_norm: NotRequired[bool]
    # Pairs of parameter names that share one tensor; it is trained and stored once.
    tie: NotRequired[list[list[str]]]


class ModelSpecResnet50(TypedDict):
    # Architecture.
    arch: Literal['resnet50']
    # Name patterns of parameters that are not trained, such as layer1.*; * matches any text.
    freeze: NotRequired[list[str]]
    # Last layer.
    head: NotRequired[HeadSpec]
    # Pretrained weights to start from, instead of random initialisation.
    init: NotRequired[InitSpec]
    # Number of classes, at least 2; for multilabel and regression, number of labels. Default: as in
    # the dataset.
    num_classes: NotRequired[int]
    # Synchronised batch norm: mean and variance over all cores instead of per core. Costs two
    # all-reduces in the forward pass and one in the backward pass.
    sync_batch_norm: NotRequired[bool]
    # Pairs of parameter names that share one tensor; it is trained and stored once.
    tie: NotRequired[list[list[str]]]


class ModelSpecVitTiny(TypedDict):
    # Architecture.
    arch: Literal['vit_tiny']
    # Name patterns of parameters that are not trained, such as layer1.*; * matches any text.
    freeze: NotRequired[list[str]]
    # Last layer.
    head: NotRequired[HeadSpec]
    # Number of attention heads; must divide the number of features. Default: as published.
    heads: NotRequired[int]
    # Pretrained weights to start from, instead of random initialisation.
    init: NotRequired[InitSpec]
    # Number of classes, at least 2; for multilabel and regression, number of labels. Default: as in
    # the dataset.
    num_classes: NotRequired[int]
    # Pairs of parameter names that share one tensor; it is trained and stored once.
    tie: NotRequired[list[list[str]]]


class ModelSpecVitSmall(TypedDict):
    # Architecture.
    arch: Literal['vit_small']
    # Name patterns of parameters that are not trained, such as layer1.*; * matches any text.
    freeze: NotRequired[list[str]]
    # Last layer.
    head: NotRequired[HeadSpec]
    # Number of attention heads; must divide the number of features. Default: as published.
    heads: NotRequired[int]
    # Pretrained weights to start from, instead of random initialisation.
    init: NotRequired[InitSpec]
    # Number of classes, at least 2; for multilabel and regression, number of labels. Default: as in
    # the dataset.
    num_classes: NotRequired[int]
    # Pairs of parameter names that share one tensor; it is trained and stored once.
    tie: NotRequired[list[list[str]]]


class ModelSpecVitBase(TypedDict):
    # Architecture.
    arch: Literal['vit_base']
    # Name patterns of parameters that are not trained, such as layer1.*; * matches any text.
    freeze: NotRequired[list[str]]
    # Last layer.
    head: NotRequired[HeadSpec]
    # Number of attention heads; must divide the number of features. Default: as published.
    heads: NotRequired[int]
    # Pretrained weights to start from, instead of random initialisation.
    init: NotRequired[InitSpec]
    # Number of classes, at least 2; for multilabel and regression, number of labels. Default: as in
    # the dataset.
    num_classes: NotRequired[int]
    # Pairs of parameter names that share one tensor; it is trained and stored once.
    tie: NotRequired[list[list[str]]]


class ModelSpecMixerS16(TypedDict):
    # Architecture.
    arch: Literal['mixer_s16']
    # Name patterns of parameters that are not trained, such as layer1.*; * matches any text.
    freeze: NotRequired[list[str]]
    # Last layer.
    head: NotRequired[HeadSpec]
    # Pretrained weights to start from, instead of random initialisation.
    init: NotRequired[InitSpec]
    # Number of classes, at least 2; for multilabel and regression, number of labels. Default: as in
    # the dataset.
    num_classes: NotRequired[int]
    # Pairs of parameter names that share one tensor; it is trained and stored once.
    tie: NotRequired[list[list[str]]]


class ModelSpecMixerB16(TypedDict):
    # Architecture.
    arch: Literal['mixer_b16']
    # Name patterns of parameters that are not trained, such as layer1.*; * matches any text.
    freeze: NotRequired[list[str]]
    # Last layer.
    head: NotRequired[HeadSpec]
    # Pretrained weights to start from, instead of random initialisation.
    init: NotRequired[InitSpec]
    # Number of classes, at least 2; for multilabel and regression, number of labels. Default: as in
    # the dataset.
    num_classes: NotRequired[int]
    # Pairs of parameter names that share one tensor; it is trained and stored once.
    tie: NotRequired[list[list[str]]]


class ModelSpecBertTiny(TypedDict):
    # Architecture.
    arch: Literal['bert_tiny']
    # Dropout probability, in training only.
    dropout: NotRequired[float]
    # Name patterns of parameters that are not trained, such as layer1.*; * matches any text.
    freeze: NotRequired[list[str]]
    # Last layer.
    head: NotRequired[HeadSpec]
    # Number of attention heads; must divide the number of features. Default: as published.
    heads: NotRequired[int]
    # Pretrained weights to start from, instead of random initialisation.
    init: NotRequired[InitSpec]
    # Maximum sequence length in tokens. Default: 512 for BERT, 1024 for GPT.
    max_length: NotRequired[int]
    # Pairs of parameter names that share one tensor; it is trained and stored once.
    tie: NotRequired[list[list[str]]]
    # Vocabulary size in tokens. Default: that of the tokenizer.
    vocab_size: NotRequired[int]


class ModelSpecBertSmall(TypedDict):
    # Architecture.
    arch: Literal['bert_small']
    # Dropout probability, in training only.
    dropout: NotRequired[float]
    # Name patterns of parameters that are not trained, such as layer1.*; * matches any text.
    freeze: NotRequired[list[str]]
    # Last layer.
    head: NotRequired[HeadSpec]
    # Number of attention heads; must divide the number of features. Default: as published.
    heads: NotRequired[int]
    # Pretrained weights to start from, instead of random initialisation.
    init: NotRequired[InitSpec]
    # Maximum sequence length in tokens. Default: 512 for BERT, 1024 for GPT.
    max_length: NotRequired[int]
    # Pairs of parameter names that share one tensor; it is trained and stored once.
    tie: NotRequired[list[list[str]]]
    # Vocabulary size in tokens. Default: that of the tokenizer.
    vocab_size: NotRequired[int]


class ModelSpecBertBase(TypedDict):
    # Architecture.
    arch: Literal['bert_base']
    # Dropout probability, in training only.
    dropout: NotRequired[float]
    # Name patterns of parameters that are not trained, such as layer1.*; * matches any text.
    freeze: NotRequired[list[str]]
    # Last layer.
    head: NotRequired[HeadSpec]
    # Number of attention heads; must divide the number of features. Default: as published.
    heads: NotRequired[int]
    # Pretrained weights to start from, instead of random initialisation.
    init: NotRequired[InitSpec]
    # Maximum sequence length in tokens. Default: 512 for BERT, 1024 for GPT.
    max_length: NotRequired[int]
    # Pairs of parameter names that share one tensor; it is trained and stored once.
    tie: NotRequired[list[list[str]]]
    # Vocabulary size in tokens. Default: that of the tokenizer.
    vocab_size: NotRequired[int]


class ModelSpecBertLarge(TypedDict):
    # Architecture.
    arch: Literal['bert_large']
    # Dropout probability, in training only.
    dropout: NotRequired[float]
    # Name patterns of parameters that are not trained, such as layer1.*; * matches any text.
    freeze: NotRequired[list[str]]
    # Last layer.
    head: NotRequired[HeadSpec]
    # Number of attention heads; must divide the number of features. Default: as published.
    heads: NotRequired[int]
    # Pretrained weights to start from, instead of random initialisation.
    init: NotRequired[InitSpec]
    # Maximum sequence length in tokens. Default: 512 for BERT, 1024 for GPT.
    max_length: NotRequired[int]
    # Pairs of parameter names that share one tensor; it is trained and stored once.
    tie: NotRequired[list[list[str]]]
    # Vocabulary size in tokens. Default: that of the tokenizer.
    vocab_size: NotRequired[int]


class ModelSpecGptTiny(TypedDict):
    # Architecture.
    arch: Literal['gpt_tiny']
    # Dropout probability, in training only.
    dropout: NotRequired[float]
    # Name patterns of parameters that are not trained, such as layer1.*; * matches any text.
    freeze: NotRequired[list[str]]
    # Last layer.
    head: NotRequired[HeadSpec]
    # Number of attention heads; must divide the number of features. Default: as published.
    heads: NotRequired[int]
    # Pretrained weights to start from, instead of random initialisation.
    init: NotRequired[InitSpec]
    # Maximum sequence length in tokens. Default: 512 for BERT, 1024 for GPT.
    max_length: NotRequired[int]
    # Pairs of parameter names that share one tensor; it is trained and stored once.
    tie: NotRequired[list[list[str]]]
    # Vocabulary size in tokens. Default: that of the tokenizer.
    vocab_size: NotRequired[int]


class ModelSpecGpt2(TypedDict):
    # Architecture.
    arch: Literal['gpt2']
    # Dropout probability, in training only.
    dropout: NotRequired[float]
    # Name patterns of parameters that are not trained, such as layer1.*; * matches any text.
    freeze: NotRequired[list[str]]
    # Last layer.
    head: NotRequired[HeadSpec]
    # Number of attention heads; must divide the number of features. Default: as published.
    heads: NotRequired[int]
    # Pretrained weights to start from, instead of random initialisation.
    init: NotRequired[InitSpec]
    # Maximum sequence length in tokens. Default: 512 for BERT, 1024 for GPT.
    max_length: NotRequired[int]
    # Pairs of parameter names that share one tensor; it is trained and stored once.
    tie: NotRequired[list[list[str]]]
    # Vocabulary size in tokens. Default: that of the tokenizer.
    vocab_size: NotRequired[int]


class ModelSpecLayers(TypedDict):
    # Architecture.
    arch: Literal['layers']
    # Name patterns of parameters that are not trained, such as layer1.*; * matches any text.
    freeze: NotRequired[list[str]]
    # Last layer.
    head: NotRequired[HeadSpec]
    # Pretrained weights to start from, instead of random initialisation.
    init: NotRequired[InitSpec]
    # Layers of the model, in order.
    layers: list[LayerSpec]
    # Number of classes, at least 2; for multilabel and regression, number of labels. Default: as in
    # the dataset.
    num_classes: NotRequired[int]
    # Synchronised batch norm: mean and variance over all cores instead of per core. Costs two
    # all-reduces in the forward pass and one in the backward pass.
    sync_batch_norm: NotRequired[bool]
    # Pairs of parameter names that share one tensor; it is trained and stored once.
    tie: NotRequired[list[list[str]]]


# ModelSpecImported
ModelSpecImported = TypedDict("ModelSpecImported", {
    # Architecture.
    "arch": "Literal['imported']",
    # Name patterns of parameters that are not trained, such as layer1.*; * matches any text.
    "freeze": "NotRequired[list[str]]",
    # Id of an upload of a network that torch.export has written (.pt2). For slipway-executor run:
    # its path.
    "from": "str",
    # Last layer.
    "head": "NotRequired[HeadSpec]",
    # Pretrained weights to start from, instead of random initialisation.
    "init": "NotRequired[InitSpec]",
    # Number of classes, at least 2; for multilabel and regression, number of labels. Default: as in
    # the dataset.
    "num_classes": "NotRequired[int]",
    # Synchronised batch norm: mean and variance over all cores instead of per core. Costs two
    # all-reduces in the forward pass and one in the backward pass.
    "sync_batch_norm": "NotRequired[bool]",
    # Pairs of parameter names that share one tensor; it is trained and stored once.
    "tie": "NotRequired[list[list[str]]]",
})


# Model.
ModelSpec = Union[
    "ModelSpecMlp",
    "ModelSpecLenet",
    "ModelSpecResnet18",
    "ModelSpecResnet34",
    "ModelSpecResnet50",
    "ModelSpecVitTiny",
    "ModelSpecVitSmall",
    "ModelSpecVitBase",
    "ModelSpecMixerS16",
    "ModelSpecMixerB16",
    "ModelSpecBertTiny",
    "ModelSpecBertSmall",
    "ModelSpecBertBase",
    "ModelSpecBertLarge",
    "ModelSpecGptTiny",
    "ModelSpecGpt2",
    "ModelSpecLayers",
    "ModelSpecImported",
]


class MonitorSpec(TypedDict):
    """Reporting during the run."""
    # Interval between points of the training curves, in steps.
    log_every_steps: NotRequired[int]
    # Performance report. end: updated during the run and complete at its end; epoch: the report of
    # each epoch is kept as well; never: no report, programs or timeline are written.
    metrics_report: NotRequired[Literal['never', 'end', 'epoch']]
    # Files that receive every point of the curves. csv: a table; tensorboard: an event file.
    sinks: NotRequired[list[Literal['csv', 'tensorboard']]]


class NormalizeSpec(TypedDict):
    """Normalisation: each feature becomes (x - mean) / std."""
    # Mean: one number, or one per channel or column.
    mean: float | list[float]
    # Standard deviation: one number, or one per channel or column.
    std: float | list[float]


class OneHostAcceleratorSpecCores(TypedDict):
    # Number of virtual cores of one host; gradients are summed over them.
    cores: NotRequired[Literal[1, 8]]
    # Memory limit: a program that needs more is rejected before it runs.
    memory_bytes: NotRequired[int]


class OneHostAcceleratorSpecCoreIds(TypedDict):
    # Run on exactly this core; the job waits for it.
    core_ids: list[int]
    # Memory limit: a program that needs more is rejected before it runs.
    memory_bytes: NotRequired[int]


# Cores of one host to run on: a number of cores, or one core by number.
OneHostAcceleratorSpec = Union[
    "OneHostAcceleratorSpecCores",
    "OneHostAcceleratorSpecCoreIds",
]


class OofPredictions(TypedDict):
    """The file of the out-of-fold predictions."""
    # Size of the file.
    bytes: int
    # Number of predictions.
    rows: int
    # SHA-256 of the file.
    sha256: str


class OptimizerSpecSgd(TypedDict):
    # Maximum norm of all gradients together; larger gradients are scaled down. The norm before
    # clipping is reported as gradient_norm.
    clip_norm: NotRequired[float]
    # Parameters without weight decay: name patterns such as *.bias, or one_dimensional for biases
    # and norm scales. lamb applies no trust ratio to them either.
    decay_exempt: NotRequired[list[str]]
    # Parameters with their own learning rate, each {match, lr_scale}: a name pattern and a factor.
    # The first group that matches a parameter applies to it.
    groups: NotRequired[list[ParameterGroupSpec]]
    # Learning rate.
    lr: float
    # Scaling of the learning rate: none, by the number of cores (linear), or by its square root
    # (sqrt).
    lr_scaling: NotRequired[Literal['none', 'linear', 'sqrt']]
    # Momentum.
    momentum: NotRequired[float]
    # Optimizer.
    name: Literal['sgd']
    # Nesterov momentum.
    nesterov: NotRequired[bool]
    # Weight decay. sgd, adam: this fraction of the weights is added to the gradient; lamb: to the
    # update; adamw: the weights shrink by lr times this fraction (decoupled).
    weight_decay: NotRequired[float]


class OptimizerSpecAdam(TypedDict):
    # Decay rates of the moving averages of the gradient and of its square.
    betas: NotRequired[list[float]]
    # Maximum norm of all gradients together; larger gradients are scaled down. The norm before
    # clipping is reported as gradient_norm.
    clip_norm: NotRequired[float]
    # Parameters without weight decay: name patterns such as *.bias, or one_dimensional for biases
    # and norm scales. lamb applies no trust ratio to them either.
    decay_exempt: NotRequired[list[str]]
    # Term added to the denominator for numerical stability.
    eps: NotRequired[float]
    # Parameters with their own learning rate, each {match, lr_scale}: a name pattern and a factor.
    # The first group that matches a parameter applies to it.
    groups: NotRequired[list[ParameterGroupSpec]]
    # Learning rate.
    lr: float
    # Scaling of the learning rate: none, by the number of cores (linear), or by its square root
    # (sqrt).
    lr_scaling: NotRequired[Literal['none', 'linear', 'sqrt']]
    # Optimizer.
    name: Literal['adam']
    # Weight decay. sgd, adam: this fraction of the weights is added to the gradient; lamb: to the
    # update; adamw: the weights shrink by lr times this fraction (decoupled).
    weight_decay: NotRequired[float]


class OptimizerSpecAdamw(TypedDict):
    # Decay rates of the moving averages of the gradient and of its square.
    betas: NotRequired[list[float]]
    # Maximum norm of all gradients together; larger gradients are scaled down. The norm before
    # clipping is reported as gradient_norm.
    clip_norm: NotRequired[float]
    # Parameters without weight decay: name patterns such as *.bias, or one_dimensional for biases
    # and norm scales. lamb applies no trust ratio to them either.
    decay_exempt: NotRequired[list[str]]
    # Term added to the denominator for numerical stability.
    eps: NotRequired[float]
    # Parameters with their own learning rate, each {match, lr_scale}: a name pattern and a factor.
    # The first group that matches a parameter applies to it.
    groups: NotRequired[list[ParameterGroupSpec]]
    # Learning rate.
    lr: float
    # Scaling of the learning rate: none, by the number of cores (linear), or by its square root
    # (sqrt).
    lr_scaling: NotRequired[Literal['none', 'linear', 'sqrt']]
    # Optimizer.
    name: Literal['adamw']
    # Weight decay. sgd, adam: this fraction of the weights is added to the gradient; lamb: to the
    # update; adamw: the weights shrink by lr times this fraction (decoupled).
    weight_decay: NotRequired[float]


class OptimizerSpecLamb(TypedDict):
    # Decay rates of the moving averages of the gradient and of its square.
    betas: NotRequired[list[float]]
    # Maximum norm of all gradients together; larger gradients are scaled down. The norm before
    # clipping is reported as gradient_norm.
    clip_norm: NotRequired[float]
    # Parameters without weight decay: name patterns such as *.bias, or one_dimensional for biases
    # and norm scales. lamb applies no trust ratio to them either.
    decay_exempt: NotRequired[list[str]]
    # Term added to the denominator for numerical stability.
    eps: NotRequired[float]
    # Parameters with their own learning rate, each {match, lr_scale}: a name pattern and a factor.
    # The first group that matches a parameter applies to it.
    groups: NotRequired[list[ParameterGroupSpec]]
    # Learning rate.
    lr: float
    # Scaling of the learning rate: none, by the number of cores (linear), or by its square root
    # (sqrt).
    lr_scaling: NotRequired[Literal['none', 'linear', 'sqrt']]
    # Optimizer.
    name: Literal['lamb']
    # Weight decay. sgd, adam: this fraction of the weights is added to the gradient; lamb: to the
    # update; adamw: the weights shrink by lr times this fraction (decoupled).
    weight_decay: NotRequired[float]


# Optimizer and its hyperparameters.
OptimizerSpec = Union[
    "OptimizerSpecSgd",
    "OptimizerSpecAdam",
    "OptimizerSpecAdamw",
    "OptimizerSpecLamb",
]


class PairedFold(TypedDict):
    """A metric of two cross-validations on the same fold."""
    # second - first.
    difference: float | None
    # Value of the first.
    first: float | None
    # Number of the fold.
    fold: int
    # Value of the second.
    second: float | None


class ParameterGroupSpec(TypedDict):
    """Parameters with their own learning rate."""
    # Factor on the learning rate.
    lr_scale: float
    # Pattern of parameter names, such as fc.*; * matches any text.
    match: str


class ParameterSpecConstant(TypedDict):
    # Distribution of the parameter.
    type: Literal['constant']
    # The value.
    value: float | str | bool | list[Any] | dict[str, Any]
    # The parameter exists only if each parameter named here has one of the given values.
    when: NotRequired[dict[str, float | str | bool | list[Any] | dict[str, Any] | list[float | str | bool | list[Any] | dict[str, Any]]]]


class ParameterSpecChoice(TypedDict):
    # Neighbouring values are similar: samplers may learn from neighbours.
    ordered: NotRequired[bool]
    # Distribution of the parameter.
    type: Literal['choice']
    # Values to choose from.
    values: list[float | str | bool | list[Any] | dict[str, Any]]
    # The parameter exists only if each parameter named here has one of the given values.
    when: NotRequired[dict[str, float | str | bool | list[Any] | dict[str, Any] | list[float | str | bool | list[Any] | dict[str, Any]]]]


class ParameterSpecUniform(TypedDict):
    # Number of values in a grid, evenly spaced on the parameter's scale. Default: all values of
    # integers and quantised parameters.
    count: NotRequired[int]
    # Upper bound, included.
    max: float
    # Lower bound, included.
    min: float
    # Quantum: values are min + k * step, for normal types k * step. Default: 1 for integers,
    # otherwise continuous.
    step: NotRequired[float]
    # Distribution of the parameter.
    type: Literal['uniform']
    # The parameter exists only if each parameter named here has one of the given values.
    when: NotRequired[dict[str, float | str | bool | list[Any] | dict[str, Any] | list[float | str | bool | list[Any] | dict[str, Any]]]]


class ParameterSpecLogUniform(TypedDict):
    # Number of values in a grid, evenly spaced on the parameter's scale. Default: all values of
    # integers and quantised parameters.
    count: NotRequired[int]
    # Upper bound, included.
    max: float
    # Lower bound, included.
    min: float
    # Quantum: values are min + k * step, for normal types k * step. Default: 1 for integers,
    # otherwise continuous.
    step: NotRequired[float]
    # Distribution of the parameter.
    type: Literal['log_uniform']
    # The parameter exists only if each parameter named here has one of the given values.
    when: NotRequired[dict[str, float | str | bool | list[Any] | dict[str, Any] | list[float | str | bool | list[Any] | dict[str, Any]]]]


class ParameterSpecIntUniform(TypedDict):
    # Number of values in a grid, evenly spaced on the parameter's scale. Default: all values of
    # integers and quantised parameters.
    count: NotRequired[int]
    # Upper bound, included.
    max: float
    # Lower bound, included.
    min: float
    # Quantum: values are min + k * step, for normal types k * step. Default: 1 for integers,
    # otherwise continuous.
    step: NotRequired[float]
    # Distribution of the parameter.
    type: Literal['int_uniform']
    # The parameter exists only if each parameter named here has one of the given values.
    when: NotRequired[dict[str, float | str | bool | list[Any] | dict[str, Any] | list[float | str | bool | list[Any] | dict[str, Any]]]]


class ParameterSpecLogIntUniform(TypedDict):
    # Number of values in a grid, evenly spaced on the parameter's scale. Default: all values of
    # integers and quantised parameters.
    count: NotRequired[int]
    # Upper bound, included.
    max: float
    # Lower bound, included.
    min: float
    # Quantum: values are min + k * step, for normal types k * step. Default: 1 for integers,
    # otherwise continuous.
    step: NotRequired[float]
    # Distribution of the parameter.
    type: Literal['log_int_uniform']
    # The parameter exists only if each parameter named here has one of the given values.
    when: NotRequired[dict[str, float | str | bool | list[Any] | dict[str, Any] | list[float | str | bool | list[Any] | dict[str, Any]]]]


class ParameterSpecNormal(TypedDict):
    # Mean; of log_normal the mean of the logarithm.
    mean: float
    # Standard deviation; of log_normal that of the logarithm.
    std: float
    # Quantum: values are min + k * step, for normal types k * step. Default: 1 for integers,
    # otherwise continuous.
    step: NotRequired[float]
    # Distribution of the parameter.
    type: Literal['normal']
    # The parameter exists only if each parameter named here has one of the given values.
    when: NotRequired[dict[str, float | str | bool | list[Any] | dict[str, Any] | list[float | str | bool | list[Any] | dict[str, Any]]]]


class ParameterSpecLogNormal(TypedDict):
    # Mean; of log_normal the mean of the logarithm.
    mean: float
    # Standard deviation; of log_normal that of the logarithm.
    std: float
    # Quantum: values are min + k * step, for normal types k * step. Default: 1 for integers,
    # otherwise continuous.
    step: NotRequired[float]
    # Distribution of the parameter.
    type: Literal['log_normal']
    # The parameter exists only if each parameter named here has one of the given values.
    when: NotRequired[dict[str, float | str | bool | list[Any] | dict[str, Any] | list[float | str | bool | list[Any] | dict[str, Any]]]]


# One parameter of a search space.
ParameterSpec = Union[
    "ParameterSpecConstant",
    "ParameterSpecChoice",
    "ParameterSpecUniform",
    "ParameterSpecLogUniform",
    "ParameterSpecIntUniform",
    "ParameterSpecLogIntUniform",
    "ParameterSpecNormal",
    "ParameterSpecLogNormal",
]


class PoolUse(TypedDict):
    """A pool of hosts and the jobs that wait for it."""
    # Use of its cores now, by all projects.
    cores: CoreUse
    # Hosts of the pool.
    hosts: int
    # Name of the pool.
    pool: str
    # Queued jobs of this pool that wait neither for a time nor for a dataset; of each project at
    # most 1,000 are counted. Jobs of no pool are not among them.
    ready: int


class PredictionData(TypedDict):
    """Data to predict."""
    # Id or name of a dataset of the project.
    dataset: str
    # Predict only the samples of this named part. Default: all parts.
    part: NotRequired[str]
    # all: every sample; train, val: the training or validation samples of the job, if the dataset
    # is the job's own.
    split: NotRequired[Literal['all', 'train', 'val']]


class PredictionPreview(TypedDict):
    """Result of a dry run of a prediction."""
    # ds_…
    dataset_id: str
    # Values derived from the prediction.
    effective: Effective
    # Prediction spec with every default filled in and the checkpoint by id.
    prediction: PredictionSpec
    # Position that the job would get.
    queue: QueuePlace
    # Spec of the training job, adapted for prediction.
    spec: JobSpec


class PredictionSource(TypedDict):
    """A checkpoint of a job that has ended, or several as an ensemble, whose outputs are
    averaged."""
    # best, last, a checkpoint name of the job, or a checkpoint id (ckp_…); best or last of a
    # cross-validation.
    checkpoint: NotRequired[str]
    # Ids of the checkpoints of an ensemble, of one project.
    checkpoints: NotRequired[list[str]]
    # Id of a cross-validation: the ensemble of the checkpoints of its folds.
    cross_validation: NotRequired[str]
    # Id of the job that saved the checkpoint. Required unless checkpoint is an id.
    job: NotRequired[str]


# A prediction: runs a trained model over a dataset.
PredictionSpec = TypedDict("PredictionSpec", {
    # Cores to run on.
    "accelerator": "NotRequired[OneHostAcceleratorSpec]",
    # Batch size per core.
    "batch_size_per_core": "NotRequired[int]",
    # Data to predict.
    "data": "PredictionData",
    # Checkpoint, or those of an ensemble.
    "from": "PredictionSource",
    # Key-value labels for filtering.
    "labels": "NotRequired[dict[str, str]]",
    # Start time and limits.
    "limits": "NotRequired[LimitsSpec]",
    # Human-readable name. Default: generated.
    "name": "NotRequired[str]",
    # Precision of the computation. Default: that of the training.
    "precision": "NotRequired[Literal['f32', 'bf16', 'bf16_true']]",
    # Project that the prediction belongs to.
    "project": "NotRequired[str]",
    # Scheduling class and preemption.
    "queue": "NotRequired[QueueSpec]",
})


# A sample of a dataset; for text, a file.
PreviewSample = TypedDict("PreviewSample", {
    # Class label.
    "class": "str | None",
    # File of the sample.
    "file": "str",
    # Group that it belongs to.
    "group": "str | None",
    # JPEG of at most 96 pixels per side, as a data URL.
    "image": "str | None",
    # Numeric labels by name.
    "labels": "dict[str, Any] | None",
    # Named part that it belongs to.
    "part": "str | None",
    # Why it cannot be shown.
    "problem": "str | None",
    # Line of a table or item of a file, from 1.
    "row": "int | None",
    # Index of the sample in the dataset, from 0.
    "sample": "int",
    # Shape of the features: [channels, height, width] or [columns]; for text, [bytes].
    "shape": "list[int] | None",
    # First 500 characters, for text.
    "text": "str | None",
    # First 64 feature values, if it is not an image.
    "values": "list[float] | None",
})


class Problem(TypedDict):
    """Why a request was rejected (RFC 9457)."""
    # Machine-readable code.
    code: str
    # Human-readable explanation.
    detail: str
    # All invalid fields.
    errors: NotRequired[list[ProblemItem]]
    # Id of the request, as in the log.
    request_id: str
    # Status code.
    status: int
    # Text of the status code.
    title: str
    # Path of the description of the code.
    type: str


class ProblemItem(TypedDict):
    """A problem with one field."""
    # Allowed values.
    allowed: NotRequired[list[str]]
    # Machine-readable code: unknown_field, out_of_bounds, …
    code: str
    # Human-readable message: field, value, fix.
    message: str
    # JSON pointer of the field (RFC 6901); ?name for a query parameter.
    pointer: str


class Progress(TypedDict):
    """Training progress over all cores."""
    # Current epoch, from 1.
    epoch: int
    # Total number of epochs.
    epochs: int
    # Estimated seconds until the end.
    eta_s: float | None
    # train, evaluate or predict.
    phase: str
    # Training samples processed.
    samples: int
    # Samples per second.
    samples_per_s: float
    # Completed steps.
    step: int
    # Total number of steps.
    steps_total: int


class Project(TypedDict):
    """A project."""
    # Cores that the jobs of the project hold.
    cores_held: int
    # Time of creation.
    created_at: str
    # tok_…
    created_by: str | None
    # Name of the project.
    name: str
    # Jobs of the project in the queue.
    queued_jobs: int
    # Quota of the project.
    quota: ProjectQuota
    # Core-seconds that the jobs of the project have used; each counts half after a day.
    usage_core_s: float
    # Weight of the project's share of the cores.
    weight: float


class ProjectCreate(TypedDict):
    """A project to create."""
    # Name of the project.
    name: str
    # Weight of the project's share of the cores, relative to other projects.
    weight: NotRequired[float]


class ProjectList(TypedDict):
    """A page of a list."""
    # Items, in the order of the list.
    items: list[Project]
    # Cursor of the next page; null: this is the last page.
    next_cursor: str | None


class ProjectPatch(TypedDict):
    """Fields to change; absent fields are unchanged."""
    # Weight of the project's share of the cores, relative to other projects.
    weight: NotRequired[float]


class ProjectQuota(TypedDict):
    """Quota of a project."""
    # Most urgent class that jobs of the project may have; null: any. Queued jobs are not changed.
    class_max: NotRequired[Literal['urgent', 'high', 'normal', 'low', 'idle'] | None]
    # Maximum number of cores that the jobs of the project hold at a time; null: no limit.
    cores: NotRequired[int | None]


class ProjectRole(TypedDict):
    """What the caller may do in a project."""
    # Name of the project; null: every project.
    project: str | None
    # viewer, editor or admin.
    role: Literal['viewer', 'editor', 'admin']


class QueueList(TypedDict):
    """A page of a list."""
    # Items, in the order of the list.
    items: list[QueuedJob]
    # Cursor of the next page; null: this is the last page.
    next_cursor: str | None


# The queued jobs of a class.
QueueOfClass = TypedDict("QueueOfClass", {
    # Scheduling class.
    "class": "Literal['urgent', 'high', 'normal', 'low', 'idle']",
    # Queued jobs.
    "jobs": "int",
    # Age of the oldest ready job, since its submission.
    "oldest_ready_s": "float | None",
    # Queued jobs that wait neither for a time nor for a dataset.
    "ready": "int",
})


class QueueOfProject(TypedDict):
    """The queued jobs of a project."""
    # Queued jobs.
    jobs: int
    # Age of the oldest ready job, since its submission.
    oldest_ready_s: float | None
    # Name of the project.
    project: str
    # Queued jobs that wait neither for a time nor for a dataset.
    ready: int


# Scheduling class and pool.
QueuePatch = TypedDict("QueuePatch", {
    # New scheduling class; only while the job is queued.
    "class": "NotRequired[Literal['urgent', 'high', 'normal', 'low', 'idle']]",
    # New pool of hosts, or any: all hosts; only while the job is queued.
    "pool": "NotRequired[str]",
})


class QueuePlace(TypedDict):
    """Position of a queued job."""
    # Estimated seconds until the job starts, if known.
    eta_s: float | None
    # Position in fair order. 1: the next job to start; 1001: behind at least 1,000 ready jobs. Held
    # jobs are not counted.
    position: int


class QueueRate(TypedDict):
    """What happened in the last seconds, exact to 10 seconds."""
    # Jobs that ended.
    ended: int
    # Jobs ended per second.
    ended_per_s: float
    # Attempts started.
    started: int
    # Attempts started per second.
    started_per_s: float
    # Jobs submitted.
    submitted: int
    # Jobs submitted per second.
    submitted_per_s: float
    # The longest of these times.
    wait_max_s: float | None
    # Mean time from submission to the first start, of jobs first started in the window.
    wait_mean_s: float | None
    # Length of the window.
    window_s: int


class QueueReason(TypedDict):
    """How many queued jobs wait for one reason."""
    # Reason as in /explain; starting: the next pass starts them; in_line: ready, behind jobs of the
    # same kind that the scheduler examines first.
    code: str
    # Queued jobs.
    jobs: int


# A change of the queue or of the machine.
QueueSimulate = TypedDict("QueueSimulate", {
    # Class that this job would have.
    "class": "NotRequired[Literal['urgent', 'high', 'normal', 'low', 'idle']]",
    # Cores of each of them.
    "cores_per_host": "NotRequired[int]",
    # A training job that would be submitted now.
    "job": "NotRequired[JobSpec]",
    # A job of the queue.
    "job_id": "NotRequired[str]",
    # Free hosts that would be added.
    "more_hosts": "NotRequired[int]",
    # Pool of these hosts. Default: the default pool of the service, otherwise local.
    "pool": "NotRequired[str]",
})


class QueueSimulation(TypedDict):
    """What the change would do."""
    # Time of the queue that was simulated.
    at: str
    # True: simulated until no further job could start. False: a limit of 2,000 passes, 30 days or
    # 250 ms ended the simulation.
    complete: bool
    # The 100 most delayed of them, among those that the caller may see.
    delayed: list[StartChange]
    # Queued jobs that would start a second or more later.
    delayed_jobs: int
    # The job of the request.
    job: SimulatedJob | None
    # Queued jobs that were simulated.
    jobs: int
    # The 100 of them that would gain most, among those that the caller may see.
    sooner: list[StartChange]
    # Queued jobs that would start a second or more sooner.
    sooner_jobs: int
    # Time until which it was simulated.
    until: str


# Scheduling class and preemption.
QueueSpec = TypedDict("QueueSpec", {
    # Scheduling class: more urgent classes go first; within a class, projects take turns by weight,
    # and within a project older jobs go first.
    "class": "NotRequired[Literal['urgent', 'high', 'normal', 'low', 'idle']]",
    # Group of jobs of the project that share a limit, such as those of one sweep.
    "group": "NotRequired[str]",
    # Maximum number of jobs of the group that run at the same time. It applies to the whole group;
    # the newest job that gives a limit sets it. Default: unchanged, at first no limit.
    "group_limit": "NotRequired[int]",
    # Pool of hosts that the job runs on, such as local or slurm (GET /v1/hosts shows them), or any:
    # on all hosts. Default: the default pool of the service, at first any.
    "pool": "NotRequired[str]",
    # Whether the job may be saved and requeued in favour of a job of a more urgent class.
    "preemptible": "NotRequired[bool]",
})


class QueueStats(TypedDict):
    """What the queue holds and how fast it moves."""
    # Time of the numbers.
    at: str
    # By class, the most urgent first.
    by_class: list[QueueOfClass]
    # The 100 projects with the most queued jobs.
    by_project: list[QueueOfProject]
    # By reason, the most frequent first; their sum is jobs.
    by_reason: list[QueueReason]
    # Use of the cores now, by all projects.
    cores: CoreUse
    # Pool of jobs that name none; null: all hosts.
    default_pool: str | None
    # Queued jobs.
    jobs: int
    # Number of projects with queued jobs that by_project leaves out.
    other_projects: int
    # The pools of hosts, by name.
    pools: list[PoolUse]
    # The last 1, 5 and 15 minutes.
    rates: list[QueueRate]
    # Queued jobs that wait neither for a time nor for a dataset.
    ready: int


# A queued job.
QueuedJob = TypedDict("QueuedJob", {
    # Scheduling class.
    "class": "Literal['urgent', 'high', 'normal', 'low', 'idle']",
    # Core that it needs.
    "core_id": "int | None",
    # Number of cores that it needs.
    "cores": "int",
    # The least certain time that the estimate is based on. known: no estimate; progress: the
    # remaining time that running jobs report; typical: the recent run times of jobs of the project;
    # limit: time limits; assumed: 10 minutes each.
    "estimate_from": "Literal['known', 'progress', 'typical', 'limit', 'assumed'] | None",
    # Estimated start time; null: the job is held, or too far back in the queue.
    "estimated_start_at": "str | None",
    # job_…
    "job_id": "str",
    # Name of the job.
    "name": "str",
    # Earliest start time.
    "not_before": "str | None",
    # Pool of hosts that it runs on; null: all hosts.
    "pool": "str | None",
    # 1: the next job to start, among those that may have the same hosts; null: the job is held, or
    # behind 1,000 ready jobs.
    "position": "int | None",
    # Project that the job belongs to.
    "project": "str",
    # Time of submission.
    "queued_at": "str",
})


class Readiness(TypedDict):
    """Readiness of the service."""
    # ready.
    status: str


class Reason(TypedDict):
    """Reason for the state of a job."""
    # Machine-readable code: nan_loss, executor_lost, …
    code: str
    # Human-readable message.
    message: str


class Report(TypedDict):
    """Performance report of a job."""
    # Attempt that the report describes.
    attempt: int
    # Hits and misses of the compile cache on disk.
    compile_cache: dict[str, Any] | None
    # Activity of each core.
    cores: list[ReportCore]
    # Counters by name.
    counters: dict[str, Any]
    # CPU seconds of all threads.
    cpu_s: float
    # The most recent epochs of the attempt, in order.
    epochs: list[ReportEpoch]
    # True: the attempt has ended.
    finished: bool
    # Compiled programs.
    graphs: list[GraphSummary]
    # Statistics of reading training samples.
    input: ReportInput
    # Instruction set that kernels are chosen by: avx2, avx512_core, avx512_core_bf16,
    # avx512_core_amx or baseline.
    instruction_set: NotRequired[str]
    # Kernels of the training step, slowest first.
    kernels: list[ReportKernel]
    # Metrics that are measured repeatedly.
    metrics: list[ReportMetric]
    # Remarks on anything unusual.
    notes: list[str]
    # Seconds per phase of the training thread.
    phases: dict[str, Any]
    # Number of completed steps.
    step: int
    # Number of worker threads, and why.
    threads: NotRequired[ReportThreads]
    # Number of steps that the kernel times are based on.
    timelines: int
    # Bottleneck of the job.
    verdict: Verdict
    # Seconds since the attempt started.
    wall_s: float
    # Activity of each thread.
    workers: list[ReportWorker]


class ReportCore(TypedDict):
    """Activity of a core during training steps."""
    # Seconds of computation.
    busy_s: float
    # Fraction of the time of the steps.
    busy_share: float
    # Number of the core.
    core: int


class ReportEpoch(TypedDict):
    """An epoch, or the part of it that this attempt trained."""
    # Number of the epoch, from 1.
    epoch: int
    # Seconds of evaluation.
    evaluate_s: float
    # nan, inf or -inf by name, for each value that is null because it is not finite.
    nonfinite: NotRequired[dict[str, Any]]
    # Number of training samples.
    samples: int
    # Training samples per second.
    samples_per_s: float
    # Steps completed at its end.
    step: int
    # Seconds of training.
    train_s: float
    # Mean training loss and evaluation metrics.
    values: dict[str, Any]


class ReportInput(TypedDict):
    """Statistics of reading training samples."""
    # Of these, samples changed by data.augment.
    augmented: int
    # Image files decoded, including those for validation.
    decoded: int
    # Seconds of reading, over all threads.
    read_s: float
    # Samples read, counted again in each epoch.
    samples: int
    # Number of prefetching threads.
    threads: int


class ReportKernel(TypedDict):
    """Measured time of a kernel of the training step."""
    # True: a matmul or convolution.
    arithmetic: bool
    # Bytes read and written per step.
    bytes: int
    # Bytes per second.
    bytes_per_s: float
    # Calls per step.
    calls: int
    # Operation and shape.
    name: str
    # True: it runs once per core.
    per_core: bool
    # Per step, over all cores.
    seconds: float
    # Fraction of the time of all kernels.
    share: float


class ReportMetric(TypedDict):
    """A metric that is measured repeatedly."""
    # CompileTime, ExecuteTime, …
    name: str
    # Percentiles 1, 5, 10, 20, 50, 80, 90, 95 and 99 of the most recent samples.
    percentiles: dict[str, Any]
    # Number of the most recent samples per second.
    rate: float
    # Number of samples.
    samples: int
    # Sum of all samples.
    total: float
    # s, or empty for numbers.
    unit: str
    # Sum of the most recent samples per second.
    value_rate: float


class ReportThreads(TypedDict):
    """Worker threads that run the training steps."""
    # Most that the job may use.
    granted: int
    # What was measured; empty: nothing was compared.
    reason: str
    # Number in use: fewer where steps are as fast.
    used: int


class ReportWorker(TypedDict):
    """Activity of a thread during training steps."""
    # CPU that the thread is pinned to; null: any.
    cpu: int | None
    # Of these, seconds in all-reduce.
    reducing_s: float
    # Seconds in steps.
    running_s: float
    # Of these, seconds in barriers, waiting for other threads.
    waiting_s: float
    # Number of the thread, from 0.
    worker: int


class RetentionList(TypedDict):
    """A page of a list."""
    # Items, in the order of the list.
    items: list[RetentionRule]
    # Cursor of the next page; null: this is the last page.
    next_cursor: str | None


class RetentionRule(TypedDict):
    """How long one kind of data of ended jobs is kept."""
    # Days after the end of a job; null: forever.
    days: int | None
    # Bytes of these checkpoints.
    due_bytes: int
    # Checkpoints that would be removed with them.
    due_checkpoints: int
    # Number of jobs whose data of this kind would be removed now; at most 10,000 are counted.
    due_jobs: int
    # events, logs, metrics, checkpoints or jobs.
    kind: str


class RetriedFold(TypedDict):
    """A fold that is retried."""
    # Reason code of its job, or the state of the job if it has no reason; not_made: it has no job;
    # job_deleted: its job was deleted; no_result: its job succeeded without the required result.
    code: str
    # Number of the fold; null: the training on all samples.
    fold: int | None
    # Job that last trained it.
    job_id: str | None
    # Why it had failed or was cancelled.
    reason: str | None


class RetriedTrial(TypedDict):
    """A failed trial that is retried."""
    # Reason code of its job, or the state of the job if it has no reason; not_made: it has no job;
    # job_deleted: its job was deleted; no_result: its job succeeded without the required result.
    code: str
    # Its last job.
    job_id: str | None
    # Number of the trial.
    number: int
    # Why it had failed.
    reason: str | None


class RetryFailed(TypedDict):
    """What to retry in a sweep or a cross-validation."""
    # Only trials or folds that failed with these codes, such as data_error. Absent: all that
    # failed.
    codes: NotRequired[list[str]]


class SamplerSpecGrid(TypedDict):
    # Sampler.
    name: Literal['grid']


class SamplerSpecRandom(TypedDict):
    # Sampler.
    name: Literal['random']


class SamplerSpecSobol(TypedDict):
    # Sampler.
    name: Literal['sobol']
    # Scramble the sequence by the sweep's seed. Points stay evenly spread.
    scramble: NotRequired[bool]


class SamplerSpecTpe(TypedDict):
    # Candidates sampled from the model for each trial.
    candidates: NotRequired[int]
    # Count running trials as bad results, so that concurrent trials differ.
    constant_liar: NotRequired[bool]
    # Sampler.
    name: Literal['tpe']
    # Number of results before the model is used; earlier trials are spread evenly.
    startup_trials: NotRequired[int]


# How the points of a sweep are chosen.
SamplerSpec = Union[
    "SamplerSpecGrid",
    "SamplerSpecRandom",
    "SamplerSpecSobol",
    "SamplerSpecTpe",
]


class SchedulePoint(TypedDict):
    """Learning rate of a step."""
    # Learning rate.
    lr: float
    # Step, from 1.
    step: int


class SchedulePreview(TypedDict):
    """Learning rate over the whole run."""
    # At most 50 points, spread evenly over the steps.
    points: list[SchedulePoint]
    # Steps per epoch; null: known only when the job runs.
    steps_per_epoch: int | None
    # Total number of steps.
    steps_total: int


class ScheduleSpecConstant(TypedDict):
    # constant; step: multiplied by gamma every step_epochs; cosine: half-cosine decay to min_lr;
    # linear: linear decay to 0; one_cycle: half-cosine rise and decay, of the learning rate only.
    name: NotRequired[Literal['constant']]


class ScheduleSpecStep(TypedDict):
    # Factor of each reduction.
    gamma: NotRequired[float]
    # constant; step: multiplied by gamma every step_epochs; cosine: half-cosine decay to min_lr;
    # linear: linear decay to 0; one_cycle: half-cosine rise and decay, of the learning rate only.
    name: Literal['step']
    # Number of epochs between two reductions.
    step_epochs: int


class ScheduleSpecCosine(TypedDict):
    # Length of the schedule in epochs, or in steps if the job has train.steps; for a job that is
    # the first part of a longer training. Default: the length of the job.
    length: NotRequired[int]
    # Final learning rate.
    min_lr: NotRequired[float]
    # constant; step: multiplied by gamma every step_epochs; cosine: half-cosine decay to min_lr;
    # linear: linear decay to 0; one_cycle: half-cosine rise and decay, of the learning rate only.
    name: Literal['cosine']
    # Steps of linear warmup.
    warmup_steps: NotRequired[int]


class ScheduleSpecLinear(TypedDict):
    # Length of the schedule in epochs, or in steps if the job has train.steps; for a job that is
    # the first part of a longer training. Default: the length of the job.
    length: NotRequired[int]
    # constant; step: multiplied by gamma every step_epochs; cosine: half-cosine decay to min_lr;
    # linear: linear decay to 0; one_cycle: half-cosine rise and decay, of the learning rate only.
    name: Literal['linear']
    # Steps of linear warmup.
    warmup_steps: NotRequired[int]


class ScheduleSpecOneCycle(TypedDict):
    # The initial learning rate is optimizer.lr divided by this.
    div_factor: NotRequired[float]
    # The final learning rate is the initial one divided by this.
    final_div_factor: NotRequired[float]
    # Length of the schedule in epochs, or in steps if the job has train.steps; for a job that is
    # the first part of a longer training. Default: the length of the job.
    length: NotRequired[int]
    # constant; step: multiplied by gamma every step_epochs; cosine: half-cosine decay to min_lr;
    # linear: linear decay to 0; one_cycle: half-cosine rise and decay, of the learning rate only.
    name: Literal['one_cycle']
    # Fraction of all steps in which the learning rate rises.
    warmup_fraction: NotRequired[float]


# Learning-rate schedule.
ScheduleSpec = Union[
    "ScheduleSpecConstant",
    "ScheduleSpecStep",
    "ScheduleSpecCosine",
    "ScheduleSpecLinear",
    "ScheduleSpecOneCycle",
]


class SimulatedJob(TypedDict):
    """When and where the job would start."""
    # Job that holds the cores or starts first.
    blocking_job: str | None
    # Why it would wait at first, as in /explain; null: it would not.
    code: str | None
    # Cores that it would get.
    cores: list[int] | None
    # The least certain time that the estimate is based on. known: no estimate; progress: the
    # remaining time that running jobs report; typical: the recent run times of jobs of the project;
    # limit: time limits; assumed: 10 minutes each.
    estimate_from: Literal['known', 'progress', 'typical', 'limit', 'assumed'] | None
    # Host that it would run on.
    host: str | None
    # job_… of a queued job.
    job_id: str | None
    # Human-readable message.
    message: str | None
    # Time of its start; null: later than was simulated, or never.
    starts_at: str | None
    # Seconds until that time.
    starts_in_s: float | None
    # For a job of the queue: its start without the change.
    unchanged_starts_at: str | None


class Slice(TypedDict):
    """A job that runs on several hosts."""
    # Number of the attempt within the job.
    attempt: int
    # Number of cores of all its hosts together.
    cores: int
    # Time at which it got its hosts.
    created_at: str
    # job_…
    job_id: str
    # Its processes by rank: one for each host.
    members: list[AttemptMember]
    # Name of the job.
    name: str
    # Project of the job.
    project: str
    # State of the job.
    state: Literal['queued', 'starting', 'compiling', 'running', 'finishing', 'succeeded', 'preempting', 'pausing', 'paused', 'cancelling', 'cancelled', 'failed', 'stopped', 'timed_out', 'expired']


class SliceList(TypedDict):
    """A page of a list."""
    # Items, in the order of the list.
    items: list[Slice]
    # Cursor of the next page; null: this is the last page.
    next_cursor: str | None


class SliceSpec(TypedDict):
    """Whole hosts of 8 virtual cores each that train together."""
    # Total number of virtual cores on all hosts; at most as many as the known hosts have.
    cores: int
    # Type in which gradients are sent between hosts. bf16: half the bytes; the gradients of each
    # host, and their sum, are rounded to bf16.
    gradient_exchange: NotRequired[Literal['f32', 'bf16']]


class SpecWarning(TypedDict):
    """What a request probably does not mean."""
    # What may happen, and how to avoid it.
    message: str
    # JSON pointer to the field.
    pointer: str


class Split(TypedDict):
    """A stored split of a dataset, which never changes."""
    # Size of the manifest in bytes.
    bytes: int
    # Time of the request.
    created_at: str
    # tok_…
    created_by: str | None
    # Id of the dataset.
    dataset_id: str
    # Number of folds over all repeats.
    folds: int | None
    # Hash of the manifest.
    hash: str | None
    # spl_…
    id: str
    # Time at which it was ready.
    made_at: str | None
    # Problems; set when it has failed.
    problems: list[dict[str, Any]] | None
    # Counts per fold and the certificate; set when it is ready. Lists omit it.
    report: dict[str, Any] | None
    # Request that created it.
    request: SplitCreate
    # making, ready or failed.
    state: Literal['making', 'ready', 'failed']


class SplitCreateFraction(TypedDict):
    # Column whose groups are never split between training and validation. Default: the dataset's
    # group column for methods with group in their name, none for the others.
    group_by: NotRequired[str]
    # fraction: one fold, with a fraction held back. kfold: each sample validates in exactly one
    # fold. stratified_kfold: kfold with each class spread evenly. group_kfold: kfold with whole
    # groups. stratified_group_kfold: whole groups, with each class spread as evenly as possible.
    # leave_one_group_out: one fold per group. repeated_kfold: kfold, shuffled again in each repeat.
    # time_series: each fold validates on the next section of the dataset, in its order, and trains
    # on everything before it.
    method: Literal['fraction']
    # Random seed of the split.
    seed: NotRequired[int]
    # `label` or the label column: spread each class evenly. Default: on for methods with stratified
    # in their name, off for the others.
    stratify_by: NotRequired[str]
    # Fraction of the samples to hold back for validation.
    val_fraction: NotRequired[float]


class SplitCreateKfold(TypedDict):
    # Number of folds; for repeated_kfold, per repeat.
    folds: NotRequired[int]
    # fraction: one fold, with a fraction held back. kfold: each sample validates in exactly one
    # fold. stratified_kfold: kfold with each class spread evenly. group_kfold: kfold with whole
    # groups. stratified_group_kfold: whole groups, with each class spread as evenly as possible.
    # leave_one_group_out: one fold per group. repeated_kfold: kfold, shuffled again in each repeat.
    # time_series: each fold validates on the next section of the dataset, in its order, and trains
    # on everything before it.
    method: Literal['kfold']
    # Random seed of the split.
    seed: NotRequired[int]


class SplitCreateStratifiedKfold(TypedDict):
    # Number of folds; for repeated_kfold, per repeat.
    folds: NotRequired[int]
    # fraction: one fold, with a fraction held back. kfold: each sample validates in exactly one
    # fold. stratified_kfold: kfold with each class spread evenly. group_kfold: kfold with whole
    # groups. stratified_group_kfold: whole groups, with each class spread as evenly as possible.
    # leave_one_group_out: one fold per group. repeated_kfold: kfold, shuffled again in each repeat.
    # time_series: each fold validates on the next section of the dataset, in its order, and trains
    # on everything before it.
    method: Literal['stratified_kfold']
    # Random seed of the split.
    seed: NotRequired[int]
    # `label` or the label column: spread each class evenly. Default: on for methods with stratified
    # in their name, off for the others.
    stratify_by: NotRequired[str]


class SplitCreateGroupKfold(TypedDict):
    # Number of folds; for repeated_kfold, per repeat.
    folds: NotRequired[int]
    # Column whose groups are never split between training and validation. Default: the dataset's
    # group column for methods with group in their name, none for the others.
    group_by: NotRequired[str]
    # fraction: one fold, with a fraction held back. kfold: each sample validates in exactly one
    # fold. stratified_kfold: kfold with each class spread evenly. group_kfold: kfold with whole
    # groups. stratified_group_kfold: whole groups, with each class spread as evenly as possible.
    # leave_one_group_out: one fold per group. repeated_kfold: kfold, shuffled again in each repeat.
    # time_series: each fold validates on the next section of the dataset, in its order, and trains
    # on everything before it.
    method: Literal['group_kfold']
    # Random seed of the split.
    seed: NotRequired[int]
    # `label` or the label column: spread each class evenly. Default: on for methods with stratified
    # in their name, off for the others.
    stratify_by: NotRequired[str]


class SplitCreateStratifiedGroupKfold(TypedDict):
    # Number of folds; for repeated_kfold, per repeat.
    folds: NotRequired[int]
    # Column whose groups are never split between training and validation. Default: the dataset's
    # group column for methods with group in their name, none for the others.
    group_by: NotRequired[str]
    # fraction: one fold, with a fraction held back. kfold: each sample validates in exactly one
    # fold. stratified_kfold: kfold with each class spread evenly. group_kfold: kfold with whole
    # groups. stratified_group_kfold: whole groups, with each class spread as evenly as possible.
    # leave_one_group_out: one fold per group. repeated_kfold: kfold, shuffled again in each repeat.
    # time_series: each fold validates on the next section of the dataset, in its order, and trains
    # on everything before it.
    method: Literal['stratified_group_kfold']
    # Random seed of the split.
    seed: NotRequired[int]
    # `label` or the label column: spread each class evenly. Default: on for methods with stratified
    # in their name, off for the others.
    stratify_by: NotRequired[str]


class SplitCreateLeaveOneGroupOut(TypedDict):
    # Column whose groups are never split between training and validation. Default: the dataset's
    # group column for methods with group in their name, none for the others.
    group_by: NotRequired[str]
    # fraction: one fold, with a fraction held back. kfold: each sample validates in exactly one
    # fold. stratified_kfold: kfold with each class spread evenly. group_kfold: kfold with whole
    # groups. stratified_group_kfold: whole groups, with each class spread as evenly as possible.
    # leave_one_group_out: one fold per group. repeated_kfold: kfold, shuffled again in each repeat.
    # time_series: each fold validates on the next section of the dataset, in its order, and trains
    # on everything before it.
    method: Literal['leave_one_group_out']


class SplitCreateRepeatedKfold(TypedDict):
    # Number of folds; for repeated_kfold, per repeat.
    folds: NotRequired[int]
    # Column whose groups are never split between training and validation. Default: the dataset's
    # group column for methods with group in their name, none for the others.
    group_by: NotRequired[str]
    # fraction: one fold, with a fraction held back. kfold: each sample validates in exactly one
    # fold. stratified_kfold: kfold with each class spread evenly. group_kfold: kfold with whole
    # groups. stratified_group_kfold: whole groups, with each class spread as evenly as possible.
    # leave_one_group_out: one fold per group. repeated_kfold: kfold, shuffled again in each repeat.
    # time_series: each fold validates on the next section of the dataset, in its order, and trains
    # on everything before it.
    method: Literal['repeated_kfold']
    # Number of repeats.
    repeats: NotRequired[int]
    # Random seed of the split.
    seed: NotRequired[int]
    # `label` or the label column: spread each class evenly. Default: on for methods with stratified
    # in their name, off for the others.
    stratify_by: NotRequired[str]


class SplitCreateTimeSeries(TypedDict):
    # Number of folds; for repeated_kfold, per repeat.
    folds: NotRequired[int]
    # fraction: one fold, with a fraction held back. kfold: each sample validates in exactly one
    # fold. stratified_kfold: kfold with each class spread evenly. group_kfold: kfold with whole
    # groups. stratified_group_kfold: whole groups, with each class spread as evenly as possible.
    # leave_one_group_out: one fold per group. repeated_kfold: kfold, shuffled again in each repeat.
    # time_series: each fold validates on the next section of the dataset, in its order, and trains
    # on everything before it.
    method: Literal['time_series']


# A stored split of a dataset, with one fold or several.
SplitCreate = Union[
    "SplitCreateFraction",
    "SplitCreateKfold",
    "SplitCreateStratifiedKfold",
    "SplitCreateGroupKfold",
    "SplitCreateStratifiedGroupKfold",
    "SplitCreateLeaveOneGroupOut",
    "SplitCreateRepeatedKfold",
    "SplitCreateTimeSeries",
]


class SplitList(TypedDict):
    """A page of a list."""
    # Items, in the order of the list.
    items: list[Split]
    # Cursor of the next page; null: this is the last page.
    next_cursor: str | None


class SplitSpecGroupBy(TypedDict):
    # Group column of the dataset: groups are held back as a whole, so that none is in both training
    # and validation.
    group_by: NotRequired[str]
    # Random seed of the split.
    seed: NotRequired[int]
    # Hold back the same fraction of every class.
    stratify: NotRequired[bool]
    # Fraction of the samples to hold back for validation; 0: train on all samples, without
    # evaluations.
    val_fraction: NotRequired[float]


class SplitSpecTrain(TypedDict):
    # Part of the dataset to train on.
    train: str
    # Part of the dataset to validate on.
    val: str


class SplitSpecId(TypedDict):
    # Fold to validate on, counted from 0.
    fold: NotRequired[int]
    # Id of a stored split of the dataset (spl_…).
    id: str


# Validation split: a random fraction, named parts, or a fold of a stored split.
SplitSpec = Union[
    "SplitSpecGroupBy",
    "SplitSpecTrain",
    "SplitSpecId",
]


class StartChange(TypedDict):
    """A job that would start at another time."""
    # Start with the change; null: later than was simulated.
    after_at: str | None
    # Start without the change; null: later than was simulated.
    before_at: str | None
    # Seconds between them; null: one of them is unknown.
    by_s: float | None
    # job_…
    job_id: str
    # Project that the job belongs to.
    project: str


class Sweep(TypedDict):
    """A hyperparameter search."""
    # Best trial so far.
    best: SweepBestSummary | None
    # Core-seconds that its jobs have used. Lists leave it out.
    core_s: NotRequired[float]
    # Time of creation.
    created_at: str
    # tok_…
    created_by: str | None
    # Time at which it ended.
    finished_at: str | None
    # swp_…
    id: str
    # Key-value labels for filtering.
    labels: dict[str, str]
    # Current maximum number of concurrent trials.
    max_concurrent: int
    # Current maximum number of trials.
    max_trials: int
    # Human-readable name.
    name: str
    # Project that the sweep belongs to.
    project: str
    # Reason for the state.
    reason: SweepReason | None
    # Spec with every default filled in, as it was created.
    spec: SweepSpec
    # Split whose folds every trial trains; null: trials are jobs.
    split_id: str | None
    # State of the sweep.
    state: Literal['running', 'paused', 'stopping', 'finished', 'stopped', 'failed']
    # How many trials are in each state.
    trials: SweepTrialCounts
    # What the request probably does not mean. Only in the answer to the request.
    warnings: NotRequired[list[SpecWarning]]


class SweepBest(TypedDict):
    """Best trial of a sweep."""
    # Checkpoint whose weights have the value of the trial: saved at its value_time. null:
    # checkpoint_reason says why there is none.
    checkpoint_id: str | None
    # Why checkpoint_id is null.
    checkpoint_reason: str | None
    # For a cross-validation: the weights with the value of each fold, in order.
    folds: list[SweepBestFold]
    # Job that saved the checkpoint; without one, the newest job of the trial.
    job_id: str | None
    # Job spec with the values of the trial, ready to be submitted.
    spec: dict[str, Any] | None
    # The trial.
    trial: SweepTrial


class SweepBestFold(TypedDict):
    """A fold of the best trial of a sweep."""
    # Checkpoint whose weights have that value. null: checkpoint_reason says why there is none.
    checkpoint_id: str | None
    # Why checkpoint_id is null.
    checkpoint_reason: str | None
    # Number of the fold, from 0.
    fold: int
    # Job that saved the checkpoint.
    job_id: str | None
    # Value of the fold.
    value: float


class SweepBestSummary(TypedDict):
    """Best trial so far."""
    # Number of the trial.
    trial: int
    # Value of the objective.
    value: float


class SweepCrossValidation(TypedDict):
    """What each trial of a sweep cross-validates."""
    # Job spec of each fold that the values of a trial are put into, without name, project and
    # data.split.
    job: dict[str, Any]
    # How to divide the dataset; if it already has an equal split, that one is used.
    split: NotRequired[SplitCreate]
    # Id of a stored split of the dataset (spl_…), instead of split.
    split_id: NotRequired[str]


class SweepDecision(TypedDict):
    """A decision of a sweep."""
    # start, resume, keep, pause, stop, complete, exploit, retry, wait, finish or limit.
    action: str
    # Time of the decision.
    at: str
    # The numbers behind it: rule, rung, value, rank, cutoff, …
    detail: dict[str, Any]
    # One sentence.
    reason: str
    # Number of the log entry.
    seq: int
    # Trial that it concerns.
    trial: int | None


class SweepDecisionList(TypedDict):
    """A page of a list."""
    # Items, in the order of the list.
    items: list[SweepDecision]
    # Cursor of the next page; null: this is the last page.
    next_cursor: str | None


class SweepEvent(TypedDict):
    """An entry of the log of a sweep."""
    # Time of the entry.
    at: str
    # Outcome.
    decisions: list[dict[str, Any]]
    # What happened: ask, report, end, extend, retry or limit.
    event: dict[str, Any]
    # Number of the entry, from 1.
    seq: int


class SweepEventList(TypedDict):
    """A page of a list."""
    # Items, in the order of the list.
    items: list[SweepEvent]
    # Cursor of the next page; null: this is the last page.
    next_cursor: str | None


class SweepExtend(TypedDict):
    """More trials for a sweep, also for one that ended."""
    # New maximum number of trials.
    max_trials: int


class SweepImportance(TypedDict):
    """Importance of the parameters of a sweep."""
    # Parameters, the most important first; none with fewer than 4 trials.
    items: list[SweepParameterImportance]
    # Pairs of parameters that explain 1 % or more, the most important first.
    pairs: list[SweepPairImportance]
    # Number of trials that it was computed from.
    trials: int


class SweepLimits(TypedDict):
    """Limits of a sweep; the first that is reached ends it."""
    # Maximum number of trials that run or wait in the queue at a time.
    max_concurrent: NotRequired[int]
    # Core-seconds of all trials together.
    max_core_s: NotRequired[float]
    # Failed trials that end the sweep. Default: 10 while no trial has a finite value, otherwise no
    # limit.
    max_failures: NotRequired[int]
    # Number of trials. Default: all points of a grid, the population of pbt; required for the other
    # algorithms.
    max_trials: NotRequired[int]
    # Seconds since the sweep was created.
    max_wall_s: NotRequired[float]
    # Number of trials in a row that end without a new best value.
    stall: NotRequired[int]
    # Value of the objective that ends the sweep when it is reached.
    target: NotRequired[float]


class SweepList(TypedDict):
    """A page of a list."""
    # Items, in the order of the list.
    items: list[Sweep]
    # Cursor of the next page; null: this is the last page.
    next_cursor: str | None


class SweepObjective(TypedDict):
    """What a sweep optimises."""
    # For cross-validations: end trials early that are unlikely to be the best after their first
    # folds. Absent: every trial trains every fold.
    fold_pruning: NotRequired[FoldPruning]
    # Validation metric that trials are compared by. For a sweep without a job: any name. For
    # cross-validations: cv.METRIC.mean, such as cv.val_loss.mean, or cv.METRIC.weighted_mean, the
    # mean over validation samples.
    metric: NotRequired[str]
    # Whether a smaller or a larger value is better. Default: as suits the metric.
    mode: NotRequired[Literal['min', 'max']]
    # Whether a trial is judged by its best or by its last value.
    value: NotRequired[Literal['best', 'last']]


class SweepObserve(TypedDict):
    """What a trial that runs elsewhere has measured."""
    # completed or failed: the trial has ended.
    end: NotRequired[Literal['completed', 'failed']]
    # Lease of the trial, in seconds from now on. An observation of this field alone is a sign of
    # life. Default: the trial keeps its lease, which each report renews.
    lease_s: NotRequired[float]
    # nan, inf or -inf, in place of a value.
    nonfinite: NotRequired[Literal['nan', 'inf', '-inf']]
    # Epochs or steps after which the value was measured; grows with each report.
    time: NotRequired[int]
    # Value of the objective.
    value: NotRequired[float]


class SweepPairImportance(TypedDict):
    """What two parameters explain together."""
    # Fraction of the variance that they explain together, beyond what each of them explains by
    # itself.
    explained: float
    # Paths of the two parameters.
    parameters: list[str]


class SweepParameterImportance(TypedDict):
    """Importance of a parameter."""
    # Fraction of the variance of the objective over the whole space that it explains by itself.
    explained: float
    # Path of the parameter.
    parameter: str
    # The same with the pairs that it is part of.
    total: float


class SweepPatch(TypedDict):
    """Changes to a sweep; absent fields stay unchanged."""
    # New labels; they replace all existing ones.
    labels: NotRequired[dict[str, str]]
    # Maximum number of trials that run or wait in the queue at a time.
    max_concurrent: NotRequired[int]
    # New name.
    name: NotRequired[str]


class SweepPreview(TypedDict):
    """What a sweep would do; nothing was stored."""
    # Points of the grid before conditions and constraints.
    combinations: int | None
    # Number of trials.
    max_trials: int
    # Spec with every default filled in.
    spec: SweepSpec
    # First trials, before anything has been measured.
    trials: list[SweepPreviewTrial]
    # What the request probably does not mean. Only in the answer to the request.
    warnings: list[SpecWarning]


class SweepPreviewTrial(TypedDict):
    """A trial that a sweep would start."""
    # Number of the trial.
    number: int
    # Values of the parameters by path.
    point: dict[str, Any]
    # Where the point comes from.
    reason: str
    # Epochs or steps that it would train to first; null: as in its job spec.
    until: int | None


class SweepPromote(TypedDict):
    """A training job made from a trial of a sweep."""
    # Changes to the trial's job spec, as a JSON merge patch (RFC 7396).
    changes: NotRequired[dict[str, Any]]
    # Pin the checkpoint that the job starts from.
    pin: NotRequired[bool]
    # continue: from the full training state of the trial's checkpoint; weights: from its weights
    # only; scratch: without a checkpoint. Default: continue; for cross-validations scratch, the
    # only possible value.
    start: NotRequired[Literal['continue', 'weights', 'scratch']]
    # Number of the trial. Default: the best one.
    trial: NotRequired[int]


class SweepReason(TypedDict):
    """Reason for the state of a sweep."""
    # Machine-readable code: search_over, target, stopped, no_result, …
    code: str
    # Human-readable message.
    message: str


class SweepRetry(TypedDict):
    """Failed trials of a sweep that are retried."""
    # Failed trials by code, before the call.
    codes: dict[str, Any]
    # true: nothing was changed.
    dry_run: bool
    # The trials that are retried, at most the first 1000.
    items: list[RetriedTrial]
    # Number of failed trials that are not retried.
    left: int
    # Number of trials that are retried, or would be.
    retried: int
    # State of the sweep after it.
    state: Literal['running', 'paused', 'stopping', 'finished', 'stopped', 'failed']


class SweepSimulate(TypedDict):
    """Another algorithm to replay the recorded trials under."""
    # The algorithm to try.
    algorithm: AlgorithmSpec
    # Trials at a time. Default: that of the sweep.
    max_concurrent: NotRequired[int]


class SweepSimulation(TypedDict):
    """Result of replaying the recorded trials under another algorithm."""
    # Best trial that it would have found.
    best: SweepBestSummary | None
    # The same fraction of the core-seconds of the sweep.
    core_s_saved: float | None
    # Trials that it would have trained further than their recorded curves.
    cut_short: int
    # How much worse that value is than the recorded best one.
    regret: float | None
    # Fraction of the recorded epochs or steps that it would have saved.
    saved: float | None
    # Epochs or steps of all recorded trials.
    time_recorded: int
    # Epochs or steps of all its trials together.
    time_used: int
    # Number of trials that it would have started.
    trials: int


class SweepSpec(TypedDict):
    """A hyperparameter search: many jobs that differ in values."""
    # How points are chosen and compared.
    algorithm: AlgorithmSpec
    # Expressions that every point satisfies, such as "train.batch_size_per_core <= 64 or model.arch
    # == 'resnet18'".
    constraints: NotRequired[list[str]]
    # Instead of job: each trial is a cross-validation, and the objective is its mean over the
    # folds.
    cross_validation: NotRequired[SweepCrossValidation]
    # Job spec that the values of a trial are put into. Absent: trials run elsewhere; ask for them
    # with suggest and report their values with observe.
    job: NotRequired[dict[str, Any]]
    # best: checkpoints of unsuccessful trials are deleted while the sweep runs, except pinned ones
    # and those in use; all: as the job spec says.
    keep_checkpoints: NotRequired[Literal['best', 'all']]
    # best: programs and timelines of unsuccessful trials are deleted while the sweep runs, their
    # reports stay; all: as the job spec says.
    keep_reports: NotRequired[Literal['best', 'all']]
    # Key-value labels for filtering.
    labels: NotRequired[dict[str, str]]
    # When the sweep ends.
    limits: NotRequired[SweepLimits]
    # Human-readable name. Default: made from the metric.
    name: NotRequired[str]
    # What the sweep optimises.
    objective: NotRequired[SweepObjective]
    # Project that the sweep and its jobs belong to.
    project: NotRequired[str]
    # Seed of everything random: the same seed and the same observations give the same decisions.
    seed: NotRequired[int]
    # Parameters by dotted path into the job spec, such as train.optimizer.lr.
    space: dict[str, ParameterSpec | dict[str, Any]]
    # What the sweep knows when it starts.
    warm_start: NotRequired[SweepWarmStart]


class SweepSuggest(TypedDict):
    """Asks a sweep without a job for trials."""
    # Number of trials.
    count: NotRequired[int]
    # Seconds in which each of the trials must be observed again; otherwise its worker counts as
    # lost, and the next suggest returns the trial. Default: none, a trial waits for its worker
    # without end.
    lease_s: NotRequired[float]


class SweepSuggestions(TypedDict):
    """Trials to run elsewhere."""
    # Why there are no more trials now.
    message: str | None
    # State of the sweep.
    state: Literal['running', 'paused', 'stopping', 'finished', 'stopped', 'failed']
    # Trials to start or to continue, each up to its `until`.
    trials: list[SweepTrial]


class SweepTrial(TypedDict):
    """One configuration that a sweep tries."""
    # Time at which it ended.
    ended_at: str | None
    # For a cross-validation: values of the trained folds, in order, up to the first that is not
    # finite.
    fold_values: list[float]
    # Newest job of the trial.
    job_id: str | None
    # Number of jobs; all of them: GET /v1/jobs?parent=.
    jobs: int
    # Epochs or steps after which that was measured.
    last_time: int | None
    # Newest value; null: no finite value.
    last_value: float | None
    # Weights that it took over from other trials (pbt).
    lineage: list[dict[str, Any]]
    # Number of the trial, from 0.
    number: int
    # Values of the parameters by path.
    point: dict[str, Any]
    # Newest decision about it, or why it failed.
    reason: str | None
    # Number of values that were reported.
    reports: int
    # Time at which it was decided on.
    started_at: str
    # State of the trial.
    state: Literal['running', 'paused', 'completed', 'stopped', 'failed']
    # Epochs or steps that it trains to; null: as in its job spec.
    until: int | None
    # Value that it is judged by; null: no finite value.
    value: float | None
    # Epochs or steps after which that was measured.
    value_time: int | None


class SweepTrialCounts(TypedDict):
    """How many trials are in each state."""
    # Trials that have trained to their end.
    completed: int
    # Trials without a result, or cancelled by a user.
    failed: int
    # Trials that wait to be continued.
    paused: int
    # Trials that are running or waiting in the queue.
    running: int
    # Trials that the algorithm has ended early.
    stopped: int
    # All trials.
    total: int


class SweepTrialList(TypedDict):
    """A page of a list."""
    # Items, in the order of the list.
    items: list[SweepTrial]
    # Cursor of the next page; null: this is the last page.
    next_cursor: str | None


class SweepWarmStart(TypedDict):
    """What a sweep knows when it starts."""
    # Points to try first, by path. Parameters that a point leaves out are sampled at random.
    points: NotRequired[list[dict[str, Any]]]
    # Earlier sweeps of the same objective: tpe learns from their trials.
    sweeps: NotRequired[list[str]]


class TaskSpecClassification(TypedDict):
    # Fraction of each label that is spread evenly over all classes, in training only.
    label_smoothing: NotRequired[float]
    # Metrics to compute besides the training loss. classification: loss, accuracy, top5_accuracy,
    # confusion_matrix; default: the first two. multilabel: loss, accuracy, auc; default: all.
    # regression: loss, mae, r2; default: all. masked_lm, causal_lm: loss, perplexity, accuracy;
    # default: the first two.
    metrics: NotRequired[list[Literal['loss', 'accuracy', 'perplexity', 'top5_accuracy', 'confusion_matrix', 'auc', 'mae', 'r2']]]
    # Type of the task; determines the loss.
    type: Literal['classification']


class TaskSpecMaskedLm(TypedDict):
    # Metrics to compute besides the training loss. classification: loss, accuracy, top5_accuracy,
    # confusion_matrix; default: the first two. multilabel: loss, accuracy, auc; default: all.
    # regression: loss, mae, r2; default: all. masked_lm, causal_lm: loss, perplexity, accuracy;
    # default: the first two.
    metrics: NotRequired[list[Literal['loss', 'accuracy', 'perplexity', 'top5_accuracy', 'confusion_matrix', 'auc', 'mae', 'r2']]]
    # Type of the task; determines the loss.
    type: Literal['masked_lm']


class TaskSpecCausalLm(TypedDict):
    # Metrics to compute besides the training loss. classification: loss, accuracy, top5_accuracy,
    # confusion_matrix; default: the first two. multilabel: loss, accuracy, auc; default: all.
    # regression: loss, mae, r2; default: all. masked_lm, causal_lm: loss, perplexity, accuracy;
    # default: the first two.
    metrics: NotRequired[list[Literal['loss', 'accuracy', 'perplexity', 'top5_accuracy', 'confusion_matrix', 'auc', 'mae', 'r2']]]
    # Type of the task; determines the loss.
    type: Literal['causal_lm']


class TaskSpecMultilabel(TypedDict):
    # Metrics to compute besides the training loss. classification: loss, accuracy, top5_accuracy,
    # confusion_matrix; default: the first two. multilabel: loss, accuracy, auc; default: all.
    # regression: loss, mae, r2; default: all. masked_lm, causal_lm: loss, perplexity, accuracy;
    # default: the first two.
    metrics: NotRequired[list[Literal['loss', 'accuracy', 'perplexity', 'top5_accuracy', 'confusion_matrix', 'auc', 'mae', 'r2']]]
    # Type of the task; determines the loss.
    type: Literal['multilabel']


class TaskSpecRegression(TypedDict):
    # Metrics to compute besides the training loss. classification: loss, accuracy, top5_accuracy,
    # confusion_matrix; default: the first two. multilabel: loss, accuracy, auc; default: all.
    # regression: loss, mae, r2; default: all. masked_lm, causal_lm: loss, perplexity, accuracy;
    # default: the first two.
    metrics: NotRequired[list[Literal['loss', 'accuracy', 'perplexity', 'top5_accuracy', 'confusion_matrix', 'auc', 'mae', 'r2']]]
    # Type of the task; determines the loss.
    type: Literal['regression']


# Task to train for.
TaskSpec = Union[
    "TaskSpecClassification",
    "TaskSpecMaskedLm",
    "TaskSpecCausalLm",
    "TaskSpecMultilabel",
    "TaskSpecRegression",
]


class Token(TypedDict):
    """A token, without its secret."""
    # Time of creation.
    created_at: str
    # tok_…
    created_by: str | None
    # Expiry time.
    expires_at: str | None
    # tok_…
    id: str
    # Time of the last use, to the minute.
    last_used_at: str | None
    # Member that the token belongs to; in each project it may do no more than the role of the
    # member there permits.
    member: str | None
    # Human-readable name.
    name: str
    # Prefix of the secret, to recognise the token by.
    prefix: str
    # Projects that the token may access; empty: all, or all those of its member.
    projects: list[str]
    # Time of revocation.
    revoked_at: str | None
    # Role: viewer, editor or admin.
    role: Literal['viewer', 'editor', 'admin']


class TokenCreate(TypedDict):
    """A token to create."""
    # Expiry time.
    expires_at: NotRequired[str]
    # Member that the token belongs to: in each project it may do what both the role of the member
    # there and its own role permit. Default: the member of the token that creates it, if any.
    member: NotRequired[str]
    # Human-readable name.
    name: str
    # Projects that the token may access; empty: all, or all those of its member.
    projects: NotRequired[list[str]]
    # viewer: read; editor: read and write; admin: also manage tokens and cores.
    role: NotRequired[Literal['viewer', 'editor', 'admin']]


class TokenList(TypedDict):
    """A page of a list."""
    # Items, in the order of the list.
    items: list[Token]
    # Cursor of the next page; null: this is the last page.
    next_cursor: str | None


class TokenizerSpecByte(TypedDict):
    # byte: one token per byte; character: the characters of the training text; wordpiece: as BERT;
    # bpe: byte-level, as GPT-2; unigram: a sentencepiece model.
    type: Literal['byte']


class TokenizerSpecCharacter(TypedDict):
    # Tokenizer file in the dataset. wordpiece: vocab.txt; bpe: tokenizer.json, or vocab.json with
    # merges.txt next to it; unigram: the model; character: a list (characters.json) instead of the
    # characters of the text.
    file: NotRequired[str]
    # byte: one token per byte; character: the characters of the training text; wordpiece: as BERT;
    # bpe: byte-level, as GPT-2; unigram: a sentencepiece model.
    type: Literal['character']


class TokenizerSpecWordpiece(TypedDict):
    # Tokenizer file in the dataset. wordpiece: vocab.txt; bpe: tokenizer.json, or vocab.json with
    # merges.txt next to it; unigram: the model; character: a list (characters.json) instead of the
    # characters of the text.
    file: NotRequired[str]
    # Convert to lower case and strip accents, as for uncased vocabularies.
    lower_case: NotRequired[bool]
    # byte: one token per byte; character: the characters of the training text; wordpiece: as BERT;
    # bpe: byte-level, as GPT-2; unigram: a sentencepiece model.
    type: Literal['wordpiece']


class TokenizerSpecBpe(TypedDict):
    # Tokenizer file in the dataset. wordpiece: vocab.txt; bpe: tokenizer.json, or vocab.json with
    # merges.txt next to it; unigram: the model; character: a list (characters.json) instead of the
    # characters of the text.
    file: NotRequired[str]
    # byte: one token per byte; character: the characters of the training text; wordpiece: as BERT;
    # bpe: byte-level, as GPT-2; unigram: a sentencepiece model.
    type: Literal['bpe']
    # Train a tokenizer with this many tokens on the training text, instead of reading a file.
    vocab_size: NotRequired[int]


class TokenizerSpecUnigram(TypedDict):
    # Tokenizer file in the dataset. wordpiece: vocab.txt; bpe: tokenizer.json, or vocab.json with
    # merges.txt next to it; unigram: the model; character: a list (characters.json) instead of the
    # characters of the text.
    file: NotRequired[str]
    # byte: one token per byte; character: the characters of the training text; wordpiece: as BERT;
    # bpe: byte-level, as GPT-2; unigram: a sentencepiece model.
    type: Literal['unigram']


# Tokenizer.
TokenizerSpec = Union[
    "TokenizerSpecByte",
    "TokenizerSpecCharacter",
    "TokenizerSpecWordpiece",
    "TokenizerSpecBpe",
    "TokenizerSpecUnigram",
]


class TrainSpecEpochs(TypedDict):
    # Batch size per core.
    batch_size_per_core: NotRequired[int]
    # Maximum number of steps per epoch. Default: an epoch uses all samples.
    batches_per_epoch: NotRequired[int]
    # The same spec and data give bit-identical results.
    deterministic: NotRequired[bool]
    # Skip the last batch of an epoch if it is incomplete.
    drop_last: NotRequired[bool]
    # Stop the training when evaluations no longer improve.
    early_stopping: NotRequired[EarlyStoppingSpec]
    # Exponential moving average of the weights.
    ema: NotRequired[EmaSpec]
    # Number of epochs: passes over the training data.
    epochs: int
    # Batches per core and step; their gradients are accumulated before the weights are updated.
    grad_accumulation: NotRequired[int]
    # Optimizer and its hyperparameters.
    optimizer: OptimizerSpec
    # f32; bf16: matmuls and convolutions on bf16 values, everything else in f32; bf16_true:
    # everything in bf16, including weight updates. Metrics and checkpoints are always f32.
    precision: NotRequired[Literal['f32', 'bf16', 'bf16_true']]
    # Learning-rate schedule.
    schedule: NotRequired[ScheduleSpec]
    # Random seed of the run: weight initialisation, sample order, dropout and augmentation.
    seed: NotRequired[int]
    # Shuffle the samples in each epoch.
    shuffle: NotRequired[bool]


class TrainSpecSteps(TypedDict):
    # Batch size per core.
    batch_size_per_core: NotRequired[int]
    # Maximum number of steps per epoch. Default: an epoch uses all samples.
    batches_per_epoch: NotRequired[int]
    # The same spec and data give bit-identical results.
    deterministic: NotRequired[bool]
    # Skip the last batch of an epoch if it is incomplete.
    drop_last: NotRequired[bool]
    # Stop the training when evaluations no longer improve.
    early_stopping: NotRequired[EarlyStoppingSpec]
    # Exponential moving average of the weights.
    ema: NotRequired[EmaSpec]
    # Batches per core and step; their gradients are accumulated before the weights are updated.
    grad_accumulation: NotRequired[int]
    # Optimizer and its hyperparameters.
    optimizer: OptimizerSpec
    # f32; bf16: matmuls and convolutions on bf16 values, everything else in f32; bf16_true:
    # everything in bf16, including weight updates. Metrics and checkpoints are always f32.
    precision: NotRequired[Literal['f32', 'bf16', 'bf16_true']]
    # Learning-rate schedule.
    schedule: NotRequired[ScheduleSpec]
    # Random seed of the run: weight initialisation, sample order, dropout and augmentation.
    seed: NotRequired[int]
    # Shuffle the samples in each epoch.
    shuffle: NotRequired[bool]
    # Number of steps: updates of the weights.
    steps: int


# Training. Exactly one of epochs and steps is required.
TrainSpec = Union[
    "TrainSpecEpochs",
    "TrainSpecSteps",
]


class Upload(TypedDict):
    """An upload in progress or completed."""
    # True: all bytes were received and verified.
    complete: bool
    # Time of creation.
    created_at: str
    # Time at which the upload is deleted.
    expires_at: str
    # Human-readable file name.
    filename: str
    # upl_…
    id: str
    # Bytes received; continue from here.
    received: int
    # Expected SHA-256.
    sha256: str | None
    # Expected size in bytes.
    size: int


class UploadCreate(TypedDict):
    """A file to upload."""
    # Human-readable file name; its extension tells the format.
    filename: NotRequired[str]
    # SHA-256 of the file; verified when the upload is completed.
    sha256: NotRequired[str]
    # Size in bytes.
    size: int


class Verdict(TypedDict):
    """Bottleneck of a job, and how to remove it."""
    # Field of the spec that helps.
    field: str
    # Type of the bottleneck; diverged: the training loss has grown instead.
    kind: Literal['input_bound', 'compile_bound', 'sync_bound', 'memory_bound', 'compute_bound', 'diverged']
    # Measured value and advice.
    message: str
    # Fractions of the time of tracing, compiling and training: compile, input, transfer, sync,
    # memory, compute; their sum is 1.
    shares: dict[str, Any]


class Version(TypedDict):
    """Version of the service."""
    # Version of the API.
    api: str
    # Commit that it was built from.
    commit: str
    # Host that responds.
    host: str
    # Version of the program.
    version: str


class Webhook(TypedDict):
    """A webhook, without its secret."""
    # Time of creation.
    created_at: str
    # tok_…
    created_by: str
    # Description of its purpose.
    description: str
    # false: nothing is sent.
    enabled: bool
    # Events that are sent.
    events: list[Literal['job.created', 'job.started', 'job.paused', 'job.resumed', 'job.requeued', 'job.ended']]
    # whk_…
    id: str
    # Until this time, messages are also signed with the previous secret.
    previous_secret_until: str | None
    # Project whose jobs it reports.
    project: str
    # URL that messages are posted to.
    url: str
    # tok_…; nothing is sent once this token is no longer valid.
    url_set_by: str


class WebhookCreate(TypedDict):
    """A webhook to create."""
    # Description of its purpose.
    description: NotRequired[str]
    # Events that are sent.
    events: NotRequired[list[Literal['job.created', 'job.started', 'job.paused', 'job.resumed', 'job.requeued', 'job.ended']]]
    # Project whose jobs it reports.
    project: NotRequired[str]
    # URL that messages are posted to, http or https. It must lead to a public address, or to one
    # that the operator permits; redirects are not followed.
    url: str


class WebhookDelivery(TypedDict):
    """A message of a webhook, and whether it was accepted."""
    # Number of attempts to send it.
    attempts: int
    # Body of the message.
    body: dict[str, Any]
    # Time of creation.
    created_at: str
    # Duration of the last attempt in seconds.
    duration_s: float | None
    # Time at which it was delivered, or failed for the last time.
    ended_at: str | None
    # What went wrong with the last attempt.
    error: str | None
    # dlv_…, the Webhook-Id of the message.
    id: str
    # Time of the next attempt, while it is pending.
    next_attempt_at: str | None
    # Delivery that this one repeats.
    redelivery_of: str | None
    # pending: it is sent, or waits for its next attempt; delivered; failed.
    state: str
    # Last status that the receiver answered.
    status: int | None
    # Event of the message, such as job.ended; webhook.test for a test message.
    type: str
    # whk_…
    webhook_id: str


class WebhookDeliveryList(TypedDict):
    """A page of a list."""
    # Items, in the order of the list.
    items: list[WebhookDelivery]
    # Cursor of the next page; null: this is the last page.
    next_cursor: str | None


class WebhookList(TypedDict):
    """A page of a list."""
    # Items, in the order of the list.
    items: list[Webhook]
    # Cursor of the next page; null: this is the last page.
    next_cursor: str | None


class WebhookPatch(TypedDict):
    """Fields to change; absent fields are unchanged."""
    # New description.
    description: NotRequired[str]
    # false: events are not recorded, and waiting deliveries are sent once it is true again.
    enabled: NotRequired[bool]
    # New events; they replace all existing ones.
    events: NotRequired[list[Literal['job.created', 'job.started', 'job.paused', 'job.resumed', 'job.requeued', 'job.ended']]]
    # true: create a new secret and return it once. For 24 hours, messages are also signed with the
    # old one.
    rotate_secret: NotRequired[bool]
    # New URL, as in WebhookCreate. The webhook depends on the token that sets it: nothing is sent
    # once that token is no longer valid.
    url: NotRequired[str]
