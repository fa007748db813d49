/** Folders for their owner only. */
import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/** Makes it and what is missing above it. (Node 20 does not return from a recursive mkdir where /proc refuses it.) */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error; // another process was faster
  }
}
