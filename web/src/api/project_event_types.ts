// Written by test_api_spec from api/spec/event.h; SLIPWAY_UPDATE=1 renews it.
export const project_event_types = [
  "state",
  "progress",
  "metric",
  "log",
  "checkpoint",
  "compile",
  "warning",
  "end",
  "dataset",
  "split",
  "deleted",
  "gap",
] as const;

export type ProjectEventType = (typeof project_event_types)[number];
