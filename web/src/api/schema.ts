// Written by generate_types.mjs from the OpenAPI document of the service: npm run types renews it.
/** An attempt to run a job. */
export interface Attempt {
  attempt: number;
  cores: number[];
  created_at: string;
  ended_at: string | null;
  exit_kind: string | null;
  exit_status: number | null;
  host: string;
  members: AttemptMember[];
  message: string | null;
  pid: number | null;
  resumed_from: string | null;
  started_at: string | null;
}
/** The part of an attempt on one host. */
export interface AttemptMember {
  cores: number[];
  ended_at: string | null;
  exit_kind: string | null;
  exit_status: number | null;
  host: string;
  message: string | null;
  pid: number | null;
  rank: number;
}
/** An action in the audit log. */
export interface AuditEntry {
  action: string;
  at: string;
  detail: Record<string, any>;
  id: number;
  object: string | null;
  request_id: string | null;
  token_id: string | null;
}
/** Best checkpoint so far. */
export interface Best { checkpoint: string | null; metric: string; step: number; value: number | null; }
/** Capabilities of this version. */
export interface Capabilities {
  "$defs": Record<string, any>;
  accelerators: Record<string, any>;
  architectures: (Record<string, any>)[];
  augmentations: (Record<string, any>)[];
  commit: string;
  confinement: (Record<string, any>)[];
  formats: (Record<string, any>)[];
  layers: (Record<string, any>)[];
  limits: Record<string, any>;
  losses: string[];
  lr_scalings: string[];
  metrics: string[];
  optimizers: (Record<string, any>)[];
  precisions: string[];
  queue_classes: string[];
  schedules: (Record<string, any>)[];
  tasks: string[];
  version: string;
}
/** A checkpoint of a job. */
export interface Checkpoint {
  attempt: number;
  bytes: number;
  created_at: string;
  deleted_at: string | null;
  epoch: number;
  files: CheckpointFile[];
  id: string;
  job_id: string;
  kinds: string[];
  metric: CheckpointMetric | null;
  name: string;
  pinned: boolean;
  step: number;
  written_by: CheckpointWriter | null;
}
/** A file of a checkpoint. */
export interface CheckpointFile { bytes: number; name: string; sha256: string; }
/** Metric that checkpoints are compared by. */
export interface CheckpointMetric { name: string; nonfinite?: string; value: number | null; }
/** The build that saved a checkpoint, and the version of its format. */
export interface CheckpointWriter { build: string; format: number; instruction_set?: string; program: string; spec_version: number; }
/** How often samples of one class are predicted as another. */
export interface ConfusionMatrix { classes: string[]; counts: number[][]; }
/** A virtual core. */
export interface Core {
  alive: boolean;
  attempt: number | null;
  core: number;
  drain_reason: string | null;
  drained: boolean;
  host: string;
  job_id: string | null;
  lease_expires_at: string | null;
  leased_at: string | null;
  pool: string;
  state: "free" | "busy" | "drained" | "lost";
}
/** How much of the machine is in use. */
export interface CoreUse { drained: number; free: number; held: number; lost: number; total: number; utilisation: number | null; }
/** A cross-validation. */
export interface CrossValidation {
  created_at: string;
  created_by: string | null;
  dataset_id: string;
  finished_at: string | null;
  folds: FoldCounts;
  id: string;
  labels: Record<string, any>;
  name: string;
  oof: OofPredictions | null;
  project: string;
  reason: CrossValidationReason | null;
  refit_job_id: string | null;
  spec: CrossValidationSpec;
  split_hash: string | null;
  split_id: string;
  started_at: string | null;
  state: "preparing" | "running" | "cancelling" | "succeeded" | "failed" | "cancelled";
  warnings?: SpecWarning[];
}
/** A fold of a cross-validation. */
export interface CrossValidationFold {
  counts: Record<string, any> | null;
  epoch: number | null;
  finished_at: string | null;
  fold: number;
  job_id: string | null;
  job_state: string | null;
  metrics: Record<string, any> | null;
  prediction_id: string | null;
  reason: string | null;
  repeat: number;
  state: "waiting" | "training" | "predicting" | "succeeded" | "failed" | "cancelled";
  train_samples: number;
  val_samples: number;
}
/** Why a cross-validation is in its state. */
export interface CrossValidationReason { code: string; message: string; }
/** A cross-validation: one training job for each fold of a split. */
export type CrossValidationSpec = Record<string, any>;
/** A dataset. */
export interface Dataset {
  bytes: number;
  checked_at: string | null;
  content_hash: string | null;
  created_at: string;
  created_by: string | null;
  format: "idx" | "csv" | "image_folder" | "image_csv" | "cifar10" | "tfrecord" | "webdataset" | "npz" | "text";
  id: string;
  name: string;
  options: DatasetOptions;
  problems: (Record<string, any>)[] | null;
  project: string;
  report: Record<string, any> | null;
  source: DatasetSource;
  state: "checking" | "ready" | "failed";
}
/** Options for reading the files. They depend on the format. */
export interface DatasetOptions {
  channels?: 1 | 3;
  class_names?: string[];
  feature_columns?: string[];
  file_column?: string;
  group_column?: string;
  image_column?: string;
  image_size?: number;
  label_column?: string;
  label_columns?: string[];
  labels_file?: string;
  mean?: number | number[];
  raw_pixels?: "interleaved" | "planar";
  raw_shape?: number[];
  shape_columns?: string[];
  std?: number | number[];
  truncated_images?: "fail" | "skip" | "accept";
}
/** A few samples of a dataset. */
export interface DatasetPreview { columns: string[]; items: PreviewSample[]; samples: number; }
/** Source of the files: a path or an upload. */
export type DatasetSource = { path: string; } | { filename?: string; upload: string; };
/** What the scheduler decided on a job. */
export interface Decision {
  at: string;
  code: string;
  cores: number[] | null;
  host: string | null;
  id: number;
  job_id: string;
  kind: "start" | "wait" | "preempt";
  message: string;
  project: string;
  related_job: string | null;
}
/** Values derived from the spec. */
export interface Effective { global_batch: number; lr: number | null; precision: string; world_size: number; }
/** Metrics of a numeric label. */
export interface EvaluatedLabel { auc?: number | null; mse?: number | null; name: string; nonfinite?: Record<string, any>; r2?: number | null; }
/** Last evaluation of a job. */
export interface Evaluation {
  confusion_matrix?: ConfusionMatrix;
  epoch: number;
  labels?: EvaluatedLabel[];
  left_out: string[];
  nonfinite?: Record<string, any>;
  samples: number;
  step: number;
  values: Record<string, any>;
}
/** An evaluation: measures a trained model on labelled samples. */
export type EvaluationSpec = Record<string, any>;
/** An event of a job. */
export interface Event {
  body: Record<string, any> | null;
  seq: number;
  time: string;
  type: "state" | "progress" | "metric" | "log" | "checkpoint" | "compile" | "warning" | "gap" | "end";
}
/** Explanation of the state of a job. */
export interface Explanation {
  blocking_job: string | null;
  code: string | null;
  cores: number[] | null;
  estimate_from: "known" | "progress" | "typical" | "limit" | "assumed" | null;
  estimated_start_at: string | null;
  job_id: string;
  max_wall_s: number | null;
  message: string | null;
  position: number | null;
  state: "queued" | "starting" | "compiling" | "running" | "finishing" | "succeeded" | "preempting" | "pausing" | "paused" | "cancelling" | "cancelled" | "failed" | "stopped" | "timed_out" | "expired";
}
/** How many folds are in each state. */
export interface FoldCounts {
  cancelled: number;
  failed: number;
  predicting: number;
  succeeded: number;
  total: number | null;
  training: number;
  waiting: number;
}
/** A compiled program of a job. */
export interface GraphSummary {
  after_warm_up: boolean;
  cause: string | null;
  compile_s: number;
  hash: string;
  inputs: number;
  kernels: number;
  memory: MemoryPlan;
  nodes: number;
  outputs: number;
  program: string;
}
/** Jobs of a project that share a limit. */
export interface Group { limit: number | null; name: string; project: string; ready: number; running: number; }
/** A host. */
export interface Host {
  cores: number;
  drain: HostDrained | null;
  drained: number[];
  heartbeat_at: string;
  memory_bytes: number;
  name: string;
  physical_cpus: number;
  pool: string;
  silent_s: number;
}
/** Why a host accepts no new jobs. */
export interface HostDrained { at: string; by: string | null; reason: string | null; }
/** A new token. */
export interface IssuedToken {
  created_at: string;
  created_by: string | null;
  expires_at: string | null;
  id: string;
  last_used_at: string | null;
  member: string | null;
  name: string;
  prefix: string;
  projects: string[];
  revoked_at: string | null;
  role: "viewer" | "editor" | "admin";
  token: string;
}
/** A job. */
export interface Job {
  attempts: number;
  best: Best | null;
  created_at: string;
  created_by: string | null;
  dataset_id: string | null;
  effective: Effective | null;
  evaluation: EvaluationSpec | null;
  finished_at: string | null;
  id: string;
  kind: "train" | "predict" | "evaluate";
  labels: Record<string, string>;
  name: string;
  order_value?: number;
  origin: JobOrigin | null;
  parent: JobParent | null;
  prediction: PredictionSpec | null;
  progress: Progress | null;
  project: string;
  pruned?: string[];
  queue?: QueuePlace | null;
  reason: Reason | null;
  restarts: number;
  result: Record<string, any> | null;
  spec: JobSpec;
  started_at: string | null;
  state: "queued" | "starting" | "compiling" | "running" | "finishing" | "succeeded" | "preempting" | "pausing" | "paused" | "cancelling" | "cancelled" | "failed" | "stopped" | "timed_out" | "expired";
  traceparent: string | null;
}
/** An action on many jobs. */
export interface JobBulk { action: "cancel" | "kill" | "pause" | "resume" | "delete"; filter: JobBulkFilter; }
/** Jobs to act on: those that match every field given. */
export interface JobBulkFilter {
  dataset?: string;
  ids?: string[];
  kind?: "train" | "predict" | "evaluate";
  labels?: Record<string, string>;
  name?: string;
  parent?: string;
  project?: string;
  state?: ("queued" | "starting" | "compiling" | "running" | "finishing" | "succeeded" | "preempting" | "pausing" | "paused" | "cancelling" | "cancelled" | "failed" | "stopped" | "timed_out" | "expired")[];
}
/** What happened to a job. */
export interface JobBulkItem {
  job_id: string;
  message: string | null;
  name: string | null;
  outcome: string;
  state: "queued" | "starting" | "compiling" | "running" | "finishing" | "succeeded" | "preempting" | "pausing" | "paused" | "cancelling" | "cancelled" | "failed" | "stopped" | "timed_out" | "expired" | null;
}
/** Result of an action on many jobs. */
export interface JobBulkResult {
  action: string;
  changed: number;
  dry_run: boolean;
  items: JobBulkItem[];
  more: boolean;
  refused: number;
  unchanged: number;
}
/** The metric curves of a job. */
export interface JobMetrics {
  job_id: string;
  name: string;
  series: MetricSeries[];
  state: "queued" | "starting" | "compiling" | "running" | "finishing" | "succeeded" | "preempting" | "pausing" | "paused" | "cancelling" | "cancelled" | "failed" | "stopped" | "timed_out" | "expired";
}
/** Job that another job was made from. */
export interface JobOrigin { action: string; continues_from: string | null; job_id: string; }
/** Sweep or cross-validation that a job is a part of. */
export interface JobParent { id: string; key: string; }
/** Result of a dry run. */
export interface JobPreview { dataset_id: string; effective: Effective; queue: QueuePlace; schedule?: SchedulePreview | null; spec: JobSpec; }
/** A training job. */
export type JobSpec = Record<string, any>;
/** Identity of the caller. */
export interface Me {
  by_cookie: boolean;
  member: string | null;
  name: string;
  projects: string[];
  role: "viewer" | "editor" | "admin" | null;
  roles: ProjectRole[];
  token_id: string;
}
/** A member of a project. */
export interface Member {
  changed_at: string;
  changed_by: string | null;
  created_at: string;
  member: string;
  project: string;
  role: "viewer" | "editor" | "admin";
}
/** Memory of a program in bytes, known before it runs. */
export interface MemoryPlan {
  aliased_bytes: number;
  code_bytes: number;
  constant_bytes: number;
  input_bytes: number;
  output_bytes: number;
  peak_bytes: number;
  temporary_bytes: number;
}
/** A metric over the folds that have succeeded. */
export interface MetricOverFolds {
  corrected_error: number | null;
  folds: number;
  max: number | null;
  mean: number | null;
  min: number | null;
  mode: "min" | "max";
  name: string;
  nonfinite: number;
  standard_error: number | null;
  std: number | null;
  weighted_mean: number | null;
  weighted_standard_error: number | null;
}
/** A value of a curve, or a summary of several consecutive values. */
export interface MetricPoint {
  count?: number;
  epoch: number;
  max?: number | null;
  mean?: number | null;
  min?: number | null;
  nonfinite?: string;
  nonfinite_count?: number;
  step: number;
  time: string;
  value: number | null;
}
/** A metric curve. */
export interface MetricSeries { name: string; points: MetricPoint[]; thinned?: boolean; }
/** The file of the out-of-fold predictions. */
export interface OofPredictions { bytes: number; rows: number; sha256: string; }
/** A pool of hosts and the jobs that wait for it. */
export interface PoolUse { cores: CoreUse; hosts: number; pool: string; ready: number; }
/** A prediction: runs a trained model over a dataset. */
export type PredictionSpec = Record<string, any>;
/** A sample of a dataset; for text, a file. */
export interface PreviewSample {
  class: string | null;
  file: string;
  group: string | null;
  image: string | null;
  labels: Record<string, any> | null;
  part: string | null;
  problem: string | null;
  row: number | null;
  sample: number;
  shape: number[] | null;
  text: string | null;
  values: number[] | null;
}
/** Why a request was rejected (RFC 9457). */
export interface Problem { code: string; detail: string; errors?: ProblemItem[]; request_id: string; status: number; title: string; type: string; }
/** A problem with one field. */
export interface ProblemItem { allowed?: string[]; code: string; message: string; pointer: string; }
/** Training progress over all cores. */
export interface Progress {
  epoch: number;
  epochs: number;
  eta_s: number | null;
  phase: string;
  samples: number;
  samples_per_s: number;
  step: number;
  steps_total: number;
}
/** A project. */
export interface Project {
  cores_held: number;
  created_at: string;
  created_by: string | null;
  name: string;
  queued_jobs: number;
  quota: ProjectQuota;
  usage_core_s: number;
  weight: number;
}
/** Quota of a project. */
export interface ProjectQuota { class_max?: "urgent" | "high" | "normal" | "low" | "idle" | null; cores?: number | null; }
/** What the caller may do in a project. */
export interface ProjectRole { project: string | null; role: "viewer" | "editor" | "admin"; }
/** The queued jobs of a class. */
export interface QueueOfClass { class: "urgent" | "high" | "normal" | "low" | "idle"; jobs: number; oldest_ready_s: number | null; ready: number; }
/** The queued jobs of a project. */
export interface QueueOfProject { jobs: number; oldest_ready_s: number | null; project: string; ready: number; }
/** Position of a queued job. */
export interface QueuePlace { eta_s: number | null; position: number; }
/** What happened in the last seconds, exact to 10 seconds. */
export interface QueueRate {
  ended: number;
  ended_per_s: number;
  started: number;
  started_per_s: number;
  submitted: number;
  submitted_per_s: number;
  wait_max_s: number | null;
  wait_mean_s: number | null;
  window_s: number;
}
/** How many queued jobs wait for one reason. */
export interface QueueReason { code: string; jobs: number; }
/** A change of the queue or of the machine. */
export interface QueueSimulate {
  class?: "urgent" | "high" | "normal" | "low" | "idle";
  cores_per_host?: number;
  job?: JobSpec;
  job_id?: string;
  more_hosts?: number;
  pool?: string;
}
/** What the change would do. */
export interface QueueSimulation {
  at: string;
  complete: boolean;
  delayed: StartChange[];
  delayed_jobs: number;
  job: SimulatedJob | null;
  jobs: number;
  sooner: StartChange[];
  sooner_jobs: number;
  until: string;
}
/** What the queue holds and how fast it moves. */
export interface QueueStats {
  at: string;
  by_class: QueueOfClass[];
  by_project: QueueOfProject[];
  by_reason: QueueReason[];
  cores: CoreUse;
  default_pool: string | null;
  jobs: number;
  other_projects: number;
  pools: PoolUse[];
  rates: QueueRate[];
  ready: number;
}
/** A queued job. */
export interface QueuedJob {
  class: "urgent" | "high" | "normal" | "low" | "idle";
  core_id: number | null;
  cores: number;
  estimate_from: "known" | "progress" | "typical" | "limit" | "assumed" | null;
  estimated_start_at: string | null;
  job_id: string;
  name: string;
  not_before: string | null;
  pool: string | null;
  position: number | null;
  project: string;
  queued_at: string;
}
/** Reason for the state of a job. */
export interface Reason { code: string; message: string; }
/** Performance report of a job. */
export interface Report {
  attempt: number;
  compile_cache: Record<string, any> | null;
  cores: ReportCore[];
  counters: Record<string, any>;
  cpu_s: number;
  epochs: ReportEpoch[];
  finished: boolean;
  graphs: GraphSummary[];
  input: ReportInput;
  instruction_set?: string;
  kernels: ReportKernel[];
  metrics: ReportMetric[];
  notes: string[];
  phases: Record<string, any>;
  step: number;
  threads?: ReportThreads;
  timelines: number;
  verdict: Verdict;
  wall_s: number;
  workers: ReportWorker[];
}
/** Activity of a core during training steps. */
export interface ReportCore { busy_s: number; busy_share: number; core: number; }
/** An epoch, or the part of it that this attempt trained. */
export interface ReportEpoch {
  epoch: number;
  evaluate_s: number;
  nonfinite?: Record<string, any>;
  samples: number;
  samples_per_s: number;
  step: number;
  train_s: number;
  values: Record<string, any>;
}
/** Statistics of reading training samples. */
export interface ReportInput { augmented: number; decoded: number; read_s: number; samples: number; threads: number; }
/** Measured time of a kernel of the training step. */
export interface ReportKernel {
  arithmetic: boolean;
  bytes: number;
  bytes_per_s: number;
  calls: number;
  name: string;
  per_core: boolean;
  seconds: number;
  share: number;
}
/** A metric that is measured repeatedly. */
export interface ReportMetric {
  name: string;
  percentiles: Record<string, any>;
  rate: number;
  samples: number;
  total: number;
  unit: string;
  value_rate: number;
}
/** Worker threads that run the training steps. */
export interface ReportThreads { granted: number; reason: string; used: number; }
/** Activity of a thread during training steps. */
export interface ReportWorker { cpu: number | null; reducing_s: number; running_s: number; waiting_s: number; worker: number; }
/** Learning rate of a step. */
export interface SchedulePoint { lr: number; step: number; }
/** Learning rate over the whole run. */
export interface SchedulePreview { points: SchedulePoint[]; steps_per_epoch: number | null; steps_total: number; }
/** When and where the job would start. */
export interface SimulatedJob {
  blocking_job: string | null;
  code: string | null;
  cores: number[] | null;
  estimate_from: "known" | "progress" | "typical" | "limit" | "assumed" | null;
  host: string | null;
  job_id: string | null;
  message: string | null;
  starts_at: string | null;
  starts_in_s: number | null;
  unchanged_starts_at: string | null;
}
/** A job that runs on several hosts. */
export interface Slice {
  attempt: number;
  cores: number;
  created_at: string;
  job_id: string;
  members: AttemptMember[];
  name: string;
  project: string;
  state: "queued" | "starting" | "compiling" | "running" | "finishing" | "succeeded" | "preempting" | "pausing" | "paused" | "cancelling" | "cancelled" | "failed" | "stopped" | "timed_out" | "expired";
}
/** What a request probably does not mean. */
export interface SpecWarning { message: string; pointer: string; }
/** A stored split of a dataset, which never changes. */
export interface Split {
  bytes: number;
  created_at: string;
  created_by: string | null;
  dataset_id: string;
  folds: number | null;
  hash: string | null;
  id: string;
  made_at: string | null;
  problems: (Record<string, any>)[] | null;
  report: Record<string, any> | null;
  request: SplitCreate;
  state: "making" | "ready" | "failed";
}
/** A stored split of a dataset, with one fold or several. */
export type SplitCreate = { group_by?: string; method: "fraction"; seed?: number; stratify_by?: string; val_fraction?: number; } | { folds?: number; method: "kfold"; seed?: number; } | { folds?: number; method: "stratified_kfold"; seed?: number; stratify_by?: string; } | { folds?: number; group_by?: string; method: "group_kfold"; seed?: number; stratify_by?: string; } | { folds?: number; group_by?: string; method: "stratified_group_kfold"; seed?: number; stratify_by?: string; } | { group_by?: string; method: "leave_one_group_out"; } | { folds?: number; group_by?: string; method: "repeated_kfold"; repeats?: number; seed?: number; stratify_by?: string; } | { folds?: number; method: "time_series"; };
/** A job that would start at another time. */
export interface StartChange { after_at: string | null; before_at: string | null; by_s: number | null; job_id: string; project: string; }
/** A hyperparameter search. */
export interface Sweep {
  best: SweepBestSummary | null;
  core_s?: number;
  created_at: string;
  created_by: string | null;
  finished_at: string | null;
  id: string;
  labels: Record<string, string>;
  max_concurrent: number;
  max_trials: number;
  name: string;
  project: string;
  reason: SweepReason | null;
  spec: SweepSpec;
  split_id: string | null;
  state: "running" | "paused" | "stopping" | "finished" | "stopped" | "failed";
  trials: SweepTrialCounts;
  warnings?: SpecWarning[];
}
/** Best trial of a sweep. */
export interface SweepBest {
  checkpoint_id: string | null;
  checkpoint_reason: string | null;
  folds: SweepBestFold[];
  job_id: string | null;
  spec: Record<string, any> | null;
  trial: SweepTrial;
}
/** A fold of the best trial of a sweep. */
export interface SweepBestFold { checkpoint_id: string | null; checkpoint_reason: string | null; fold: number; job_id: string | null; value: number; }
/** Best trial so far. */
export interface SweepBestSummary { trial: number; value: number; }
/** A decision of a sweep. */
export interface SweepDecision { action: string; at: string; detail: Record<string, any>; reason: string; seq: number; trial: number | null; }
/** Importance of a parameter. */
export interface SweepParameterImportance { explained: number; parameter: string; total: number; }
/** A training job made from a trial of a sweep. */
export interface SweepPromote { changes?: Record<string, any>; pin?: boolean; start?: "continue" | "weights" | "scratch"; trial?: number; }
/** Reason for the state of a sweep. */
export interface SweepReason { code: string; message: string; }
/** A hyperparameter search: many jobs that differ in values. */
export type SweepSpec = Record<string, any>;
/** One configuration that a sweep tries. */
export interface SweepTrial {
  ended_at: string | null;
  fold_values: number[];
  job_id: string | null;
  jobs: number;
  last_time: number | null;
  last_value: number | null;
  lineage: (Record<string, any>)[];
  number: number;
  point: Record<string, any>;
  reason: string | null;
  reports: number;
  started_at: string;
  state: "running" | "paused" | "completed" | "stopped" | "failed";
  until: number | null;
  value: number | null;
  value_time: number | null;
}
/** How many trials are in each state. */
export interface SweepTrialCounts { completed: number; failed: number; paused: number; running: number; stopped: number; total: number; }
/** A token, without its secret. */
export interface Token {
  created_at: string;
  created_by: string | null;
  expires_at: string | null;
  id: string;
  last_used_at: string | null;
  member: string | null;
  name: string;
  prefix: string;
  projects: string[];
  revoked_at: string | null;
  role: "viewer" | "editor" | "admin";
}
/** An upload in progress or completed. */
export interface Upload {
  complete: boolean;
  created_at: string;
  expires_at: string;
  filename: string;
  id: string;
  received: number;
  sha256: string | null;
  size: number;
}
/** Bottleneck of a job, and how to remove it. */
export interface Verdict {
  field: string;
  kind: "input_bound" | "compile_bound" | "sync_bound" | "memory_bound" | "compute_bound" | "diverged";
  message: string;
  shares: Record<string, any>;
}
/** Version of the service. */
export interface Version { api: string; commit: string; host: string; version: string; }
