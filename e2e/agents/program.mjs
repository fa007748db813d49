// Finds the installed programs.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

export function program(path) {
  const file = fileURLToPath(new URL(`../node_modules/${path}`, import.meta.url));
  if (!existsSync(file)) throw new Error(`${path} is not installed: run node e2e/install.mjs (Linux on x64 has all)`);
  return file;
}
