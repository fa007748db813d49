/** Finds the file of the worker thread in the built package, and compiles QuickJS. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { webAssembly } from "./wasm.ts";

const MAX_LEVELS = 5;

let compiling: Promise<WebAssembly.Module> | undefined;

/**
 * Compiles QuickJS once, off the main thread, for all worker threads. Compiling it in each thread takes longer (see
 * docs/adr).
 */
export async function loadQuickJs(worker: string): Promise<WebAssembly.Module> {
  compiling ??= compileQuickJs(worker);
  try {
    return await compiling;
  } catch (error) {
    compiling = undefined; // the next call tries again
    throw error;
  }
}

async function compileQuickJs(worker: string): Promise<WebAssembly.Module> {
  const file = createRequire(worker).resolve("@jitl/quickjs-wasmfile-release-sync/wasm");
  return webAssembly.compile(await readFile(file));
}

/** Returns undefined if the file is missing, which means that the package is incomplete. */
export function findWorkerFile(): string | undefined {
  const url: string | undefined = import.meta.url;
  let folder = url === undefined || url === "" ? undefined : dirname(fileURLToPath(url));
  for (let level = 0; folder !== undefined && level < MAX_LEVELS; level += 1) {
    for (const subfolder of ["agent", "dist/agent"]) {
      const file = join(folder, subfolder, "code-worker.js");
      if (existsSync(file)) return file;
    }
    folder = dirname(folder);
  }
  return undefined;
}
