// Written by test_api_spec from api/spec/event.h; SLIPWAY_UPDATE=1 renews it.
export const event_types = [
  "state",
  "progress",
  "metric",
  "log",
  "checkpoint",
  "compile",
  "warning",
  "gap",
  "end",
] as const;

export type EventType = (typeof event_types)[number];
