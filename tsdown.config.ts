import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type UserConfig } from "tsdown";

/** A build is made beside the one in use and then takes its place, so that what runs is never without its files. */
const out = process.env["ROOKERY_BUILD"] ?? "dist";

/** The library keeps its dependencies outside; the command carries them inside, because one file starts twice as fast (docs/adr). */
export default defineConfig([
  {
    entry: {
      index: "src/index.ts",
      "acp/index": "src/acp/index.ts",
      "acp/mcp-bridge": "src/acp/mcp/bridge.ts",
      "agent/code-worker": "src/agent/code/worker.ts",
      "client/index": "src/client/index.ts",
      "tools/index": "src/tools/index.ts",
      "mcp/index": "src/mcp/index.ts",
      "testing/index": "src/testing/index.ts",
      "testing/acp-agent": "src/testing/acp-agent/main.ts",
    },
    outDir: out,
    format: "esm",
    platform: "node",
    target: "node20.19",
    dts: true,
    clean: true,
    outExtensions: () => ({ js: ".js", dts: ".d.ts" }),
  },
  command({ main: "src/cli/main.ts" }),
  {
    ...command({ program: "src/cli/execute.ts" }),
    hooks: { "build:done": () => readyForTheCache(join(out, "cli", "program.cjs")) },
  },
]);

/** CommonJS in one file, because that is what V8's code cache can be used for on every Node we support. */
function command(entry: Record<string, string>): UserConfig {
  return {
    entry,
    outDir: `${out}/cli`,
    format: "cjs",
    platform: "node",
    target: "node20.19",
    dts: false,
    clean: false,
    minify: true,
    deps: { alwaysBundle: [/.*/], neverBundle: ["libsql", /^@lydell\/node-pty/], onlyBundle: false },
    alias: { "zod/v3": fileURLToPath(new URL("scripts/no-zod-3.mjs", import.meta.url)) },
    outputOptions: { codeSplitting: false },
    outExtensions: () => ({ js: ".cjs" }),
  };
}

/** Wraps it as it is run, and writes it in ASCII: V8 reads one byte a character then, and copies nothing. */
function readyForTheCache(file: string): void {
  const escaped = readFileSync(file, "utf8").replaceAll(/[^\0-\x7f]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
  writeFileSync(file, `(function (exports, require, module, __filename, __dirname) {${escaped}\n})`);
}
