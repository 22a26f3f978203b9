// The parts of a cross-validation that its pages use. Field names are the contract's (see /openapi.json).

export interface FoldCounts {
  total: number | null;
  waiting: number;
  training: number;
  predicting: number;
  succeeded: number;
  failed: number;
  cancelled: number;
}

export interface CrossValidation {
  id: string;
  name: string;
  state: string;
  reason: { code: string; message: string } | null;
  spec: Record<string, any>;
  split_id: string;
  split_hash: string | null;
  folds: FoldCounts;
  refit_job_id: string | null;
  oof: { rows: number; bytes: number; sha256: string } | null;
  created_at: string;
  finished_at: string | null;
}

export interface Fold {
  fold: number;
  repeat: number;
  state: string;
  reason: string | null;
  job_id: string | null;
  train_samples: number;
  val_samples: number;
  counts: Record<string, any> | null;
  metrics: Record<string, number | null> | null;
}

export interface MetricOverFolds {
  name: string;
  folds: number;
  nonfinite: number;
  mean: number | null;
  std: number | null;
  standard_error: number | null;
  corrected_error: number | null;
  weighted_mean: number | null;
  min: number | null;
  max: number | null;
}

export const ended = (state: string) => ["succeeded", "failed", "cancelled"].includes(state);
