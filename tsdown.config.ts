import { defineConfig } from "tsdown";

/** The library keeps its dependencies outside; the command carries them inside, because one file starts twice as fast (docs/adr). */
export default defineConfig([
  {
    entry: { index: "src/index.ts", "testing/index": "src/testing/index.ts" },
    outDir: "dist",
    format: "esm",
    platform: "node",
    target: "node20.19",
    dts: true,
    clean: true,
    outExtensions: () => ({ js: ".js", dts: ".d.ts" }),
  },
  {
    entry: { main: "src/cli/main.ts" },
    outDir: "dist/cli",
    format: "esm",
    platform: "node",
    target: "node20.19",
    dts: false,
    clean: false,
    minify: true,
    deps: { alwaysBundle: [/.*/], neverBundle: ["libsql"], onlyBundle: false },
    outExtensions: () => ({ js: ".js" }),
  },
]);
