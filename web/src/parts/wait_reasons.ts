// What the codes of docs/queue.md say, for a count of jobs: "3 waiting for cores".
const words: Record<string, string> = {
  waiting_for_cores: "waiting for cores",
  core_busy: "waiting for the core asked for",
  waiting_for_memory: "waiting for memory",
  behind: "behind a job that keeps the cores",
  preempting: "waiting for a job that gives way",
  group_limit: "in a group that is full",
  quota: "in a project at its quota",
  core_drained: "waiting for a drained core",
  host_drained: "waiting for a drained host",
  host_lost: "waiting for a lost host",
  no_such_core: "asking for a core that no host has",
  no_such_pool: "asking for a pool that no host is of",
  waiting_for_dataset: "waiting for the check of a dataset",
  start_after: "held until a set time",
  in_line: "further back in line",
  starting: "about to start",
};

export const wait_words = (code: string) => words[code] ?? code.replaceAll("_", " ");
