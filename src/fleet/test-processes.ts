/** Processes that run because of a test, found by a variable of their environment. On Linux only: elsewhere none is. */
import { readFileSync, readdirSync, readlinkSync } from "node:fs";

export interface Found {
  readonly pid: number;
  readonly command: string;
  /** The marker that Rookery gave it. */
  readonly owner: string | undefined;
}

export function processesWith(variable: string): readonly Found[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc").flatMap((pid) => {
    try {
      if (!/^\d+$/.test(pid)) return [];
      const variables = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
      if (!variables.includes(variable)) return [];
      readlinkSync(`/proc/${pid}/exe`); // a zombie has none
      const command = readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ").trim();
      const owner = variables.find((each) => each.startsWith("ROOKERY_OWNER="))?.slice("ROOKERY_OWNER=".length);
      return [{ pid: Number(pid), command, owner }];
    } catch {
      return []; // gone meanwhile
    }
  });
}

export function killAllWith(variable: string): void {
  for (const { pid } of processesWith(variable)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // it ended by itself
    }
  }
}
