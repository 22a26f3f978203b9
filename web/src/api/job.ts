// The parts of the API's objects that the pages use. Field names are the contract's (see /openapi.json).
import type { JobKind } from "./job_kinds";

export interface Progress {
  epoch?: number;
  epochs?: number;
  step?: number;
  steps_total?: number;
  samples?: number;
  samples_per_s?: number;
  eta_s?: number;
  phase?: string;
}

export interface Job {
  id: string;
  name: string;
  project: string;
  state: string;
  reason?: { code: string; message: string } | null;
  kind: JobKind;
  spec: Record<string, any>;
  prediction?: Record<string, any> | null;
  evaluation?: Record<string, any> | null;
  effective?: Record<string, any>;
  progress?: Progress | null;
  best?: { metric: string; value: number; step: number; checkpoint?: string } | null;
  result?: Record<string, any> | null;
  attempts?: number;
  parent?: { id: string; key: string } | null;
  origin?: { action: string; job_id: string; continues_from: string | null } | null;
  created_at: string;
  started_at?: string | null;
  finished_at?: string | null;
  queue?: { position: number; eta_s?: number | null } | null;
}

export interface Checkpoint {
  id: string;
  name: string;
  step: number;
  epoch: number;
  kinds: string[];
  files: { name: string; bytes: number; sha256: string }[];
  metric?: { name: string; value: number | null; nonfinite?: string } | null;
  created_at: string;
}

export interface Report {
  step: number;
  verdict: {
    kind: string;
    field: string;
    message: string;
    shares: { compile: number; input: number; transfer: number; sync: number; memory: number; compute: number };
  };
  phases: Record<string, number>;
  cores: { core: number; busy_s: number; busy_share: number }[];
}

export interface List<T> {
  items: T[];
  next_cursor?: string | null;
}
