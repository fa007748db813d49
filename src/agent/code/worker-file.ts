/** Finds the file of the worker thread in the built package, and compiles QuickJS. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { findPackageFile } from "../../stdx/package-file.ts";
import { webAssembly } from "./wasm.ts";

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
  return findPackageFile("agent/code-worker.js");
}
