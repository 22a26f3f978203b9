// How sure an estimated start is: what the least certain run time behind it was taken from, by the words of the API.
export const certainty: Record<string, string> = {
  known: "", progress: "by what running jobs say is left", typical: "by how long jobs of the project ran lately", limit: "by limits of time", assumed: "if jobs take ten minutes each",
};
