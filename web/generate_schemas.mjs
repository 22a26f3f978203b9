// Writes the schemas that forms are made from: node generate_schemas.mjs openapi.json > src/schema_form/schemas.json
// A file of its own and not the whole OpenAPI document, which is six times as large: a page with a form reads it when it opens.
// test_build compares it with the document of a running service.
import { readFileSync } from "node:fs";

const forms = ["JobSpec", "SplitCreate"];

const { schemas } = JSON.parse(readFileSync(process.argv[2], "utf8")).components;

function references(schema, found) {
  if (schema && typeof schema === "object") {
    if (typeof schema.$ref === "string") found.add(schema.$ref.split("/").at(-1));
    for (const part of Object.values(schema)) references(part, found);
  }
}

const wanted = new Set(forms);
for (const name of wanted) {
  if (!schemas[name]) throw new Error(`the document has no schema ${name}`);
  references(schemas[name], wanted);
}
const lines = [...wanted].sort().map((name) => `${JSON.stringify(name)}: ${JSON.stringify(schemas[name])}`);
process.stdout.write(`{\n${lines.join(",\n")}\n}\n`);
