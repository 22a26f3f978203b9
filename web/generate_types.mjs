// Writes the types of the API's objects from its OpenAPI document: node generate_types.mjs openapi.json > src/api/schema.ts
// Only the schemas that the pages use and what these refer to; test_build compares the file with the document of the
// service, so that no type here can differ from what is answered. A generator of our own, because the document
// has few forms (objects, lists, words, "or null") and a package for it would weigh more than the dashboard.
import { readFileSync } from "node:fs";

// A list is List<T> of api/client.ts.
const used = [
  "Attempt", "AuditEntry", "Capabilities", "Checkpoint", "Core", "CrossValidation", "CrossValidationFold", "Dataset", "DatasetPreview", "Event", "Evaluation",
  "Decision", "Explanation", "Group", "Host", "IssuedToken", "Job", "JobBulk", "JobBulkResult", "JobMetrics", "JobPreview", "Me", "Member", "MetricOverFolds",
  "MetricSeries", "Problem", "Project", "QueueSimulate", "QueueSimulation", "QueueStats", "QueuedJob", "Report", "Slice", "Split",
  "Sweep", "SweepBest", "SweepDecision", "SweepParameterImportance", "SweepPromote", "SweepTrial", "Token", "Upload", "Version",
];

const schemas = JSON.parse(readFileSync(process.argv[2], "utf8")).components.schemas;

const name_of = (reference) => reference.split("/").at(-1);
const key = (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name));

function references(schema, found = new Set()) {
  if (schema && typeof schema === "object") {
    if (typeof schema.$ref === "string") found.add(name_of(schema.$ref));
    for (const part of Object.values(schema)) references(part, found);
  }
  return found;
}

function members(schema) {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties).map(([name, one]) => `${key(name)}${required.has(name) ? "" : "?"}: ${type_of(one)};`);
}

function type_of(schema) {
  if (schema.$ref) return name_of(schema.$ref);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return [...new Set(choices.map(type_of))].join(" | ");
  if (schema.enum) return schema.enum.map((word) => JSON.stringify(word)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (Array.isArray(schema.type)) return schema.type.map((type) => type_of({ ...schema, type })).join(" | ");
  if (schema.type === "array") return schema.items ? `${bracketed(type_of(schema.items))}[]` : "unknown[]";
  if (schema.type === "object" && schema.properties) return `{ ${members(schema).join(" ")} }`;
  if (schema.type === "object" && typeof schema.additionalProperties === "object") return `Record<string, ${type_of(schema.additionalProperties)}>`;
  // What the document leaves open is read by its pages as they know it.
  if (schema.type === "object") return "Record<string, any>";
  return { string: "string", integer: "number", number: "number", boolean: "boolean", null: "null" }[schema.type] ?? "unknown";
}

const bracketed = (type) => (/[ |]/.test(type) ? `(${type})` : type);

const columns_max = 150;

function interface_of(name, rows) {
  const line = `export interface ${name} { ${rows.join(" ")} }`;
  return line.length <= columns_max ? [line] : [`export interface ${name} {`, ...rows.map((one) => `  ${one}`), "}"];
}

// Specs are shown and compared by path, whatever is in them.
const is_open = (name) => name.endsWith("Spec");

const wanted = new Set(used);
for (const name of wanted) {
  if (!schemas[name]) throw new Error(`the document has no schema ${name}`);
  if (is_open(name)) continue;
  for (const other of references(schemas[name])) wanted.add(other);
}

const lines = ["// Written by generate_types.mjs from the OpenAPI document of the service: npm run types renews it."];
for (const name of [...wanted].sort()) {
  const schema = schemas[name];
  lines.push(`/** ${schema.description} */`);
  if (is_open(name)) lines.push(`export type ${name} = Record<string, any>;`);
  else if (schema.properties) lines.push(...interface_of(name, members(schema)));
  else lines.push(`export type ${name} = ${type_of(schema)};`);
}
process.stdout.write(lines.join("\n") + "\n");
