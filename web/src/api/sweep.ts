// A sweep and its trials, as the service answers them.
export interface TrialCounts {
  total: number; running: number; paused: number; completed: number; stopped: number; failed: number;
}

export interface Sweep {
  id: string;
  name: string;
  state: string;
  reason: { code: string; message: string } | null;
  spec: Record<string, any>;
  max_trials: number;
  max_concurrent: number;
  trials: TrialCounts;
  best: { trial: number; value: number } | null;
  core_s?: number;
  created_at: string;
  finished_at: string | null;
}

export interface Trial {
  number: number;
  state: string;
  point: Record<string, unknown>;
  value: number | null;
  last_time: number | null;
  job_id: string | null;
  reason: string | null;
}

export const sweep_ends = ["finished", "stopped", "failed"];
