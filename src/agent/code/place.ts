/** What a thread is made of: its file in the built package, wherever in it this module was put, and QuickJS. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { wasm } from "./wasm.ts";

const LEVELS = 5;

let compiling: Promise<WebAssembly.Module> | undefined;

/** Compiled once, beside the event loop, and shared by all threads: a thread that did it itself would take longer (docs/adr). */
export async function quickjs(worker: string): Promise<WebAssembly.Module> {
  compiling ??= compile(worker);
  try {
    return await compiling;
  } catch (error) {
    compiling = undefined; // a file that could not be read now may be there later
    throw error;
  }
}

async function compile(worker: string): Promise<WebAssembly.Module> {
  const file = createRequire(worker).resolve("@jitl/quickjs-wasmfile-release-sync/wasm");
  return wasm.compile(await readFile(file));
}

/** Undefined where it is not there: then the package is not whole. */
export function workerFile(): string | undefined {
  const url: string | undefined = import.meta.url;
  let folder = url === undefined || url === "" ? undefined : dirname(fileURLToPath(url));
  for (let above = 0; folder !== undefined && above < LEVELS; above += 1) {
    for (const place of ["agent", "dist/agent"]) {
      const file = join(folder, place, "code-worker.js");
      if (existsSync(file)) return file;
    }
    folder = dirname(folder);
  }
  return undefined;
}
