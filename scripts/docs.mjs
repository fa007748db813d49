// Writes the generated pages of docs/reference/. With --check, only reports which pages are out of date.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";

const root = fileURLToPath(new URL("..", import.meta.url));
const { module } = await runnerImport(fileURLToPath(new URL("docs/pages.ts", import.meta.url)), {
  root,
  configFile: false,
  logLevel: "error",
  esbuild: { target: "node20" },
});

const stale = [];
for (const [path, text] of Object.entries(await module.generatePages(root))) {
  if (readIfPresent(`${root}${path}`) === text) continue;
  stale.push(path);
  if (process.argv.includes("--check")) continue;
  mkdirSync(`${root}docs/reference`, { recursive: true });
  writeFileSync(`${root}${path}`, text);
}
for (const path of stale) process.stdout.write(`${path}\n`);
if (process.argv.includes("--check") && stale.length > 0) {
  process.stderr.write("These pages are out of date. Run `npm run docs` and commit the result.\n");
  process.exitCode = 1;
}

function readIfPresent(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
