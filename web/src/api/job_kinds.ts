// Written by test_api_spec from api/spec/job_kinds.def; SLIPWAY_UPDATE=1 renews it.
export const job_kinds = [
  "train",
  "predict",
  "evaluate",
] as const;

export type JobKind = (typeof job_kinds)[number];
