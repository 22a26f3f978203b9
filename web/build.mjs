// Builds web/dist from web/src. The result is committed, so that building Slipway needs no Node; a test checks that it is fresh.
import { build } from "esbuild";
import { copyFile, mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { dirname, join } from "node:path";

const here = dirname(fileURLToPath(import.meta.url));
const target = process.argv[2] ?? join(here, "dist");
await mkdir(target, { recursive: true });
await build({
  entryPoints: [join(here, "src/app.ts"), join(here, "src/app.css")],
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2020",
  legalComments: "eof",
  outdir: target,
  logLevel: "warning",
});
await copyFile(join(here, "src/index.html"), join(target, "index.html"));
await copyFile(join(here, "src/schema_form/schemas.json"), join(target, "schemas.json"));
