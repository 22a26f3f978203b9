// What the codes of docs/queue.md say, for a count of jobs: "3 wait for cores".
const words: Record<string, string> = {
  waiting_for_cores: "wait for cores",
  core_busy: "wait for their core",
  waiting_for_memory: "wait for memory",
  behind: "are behind a job that keeps the cores",
  preempting: "wait for a job that gives way",
  group_limit: "are of a group that is full",
  quota: "are of a project at its quota",
  core_drained: "wait for a drained core",
  host_drained: "wait for a drained host",
  host_lost: "wait for a lost host",
  no_such_core: "want a core that no host has",
  waiting_for_dataset: "wait for the check of a dataset",
  start_after: "are held until their time",
  in_line: "are further back in line",
  starting: "are about to start",
};

export const wait_words = (code: string) => words[code] ?? code.replaceAll("_", " ");
