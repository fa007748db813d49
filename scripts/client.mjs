// Writes the types of `rookery/client` from the OpenAPI document; with --check, only says whether they are out of date.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import openapiTS, { astToString } from "openapi-typescript";
import { runnerImport } from "vite";

const root = fileURLToPath(new URL("..", import.meta.url));
const file = fileURLToPath(new URL("../src/client/schema.ts", import.meta.url));
const head =
  "/** What the server's document says, as types. Written by `npm run client`: change the routes, not this. */\n\n";

const { module } = await runnerImport(fileURLToPath(new URL("../src/server/http/document.ts", import.meta.url)), {
  root,
  configFile: false,
  logLevel: "error",
  esbuild: { target: "node20" },
});
const text = head + astToString(await openapiTS(module.openApiDocument("0")));
if (!process.argv.includes("--check")) writeFileSync(file, text);
else if (readFileSync(file, "utf8") !== text) {
  process.stderr.write("src/client/schema.ts is out of date: npm run client\n");
  process.exitCode = 1;
}
