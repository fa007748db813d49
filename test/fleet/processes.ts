/** Finds the processes of a test by an environment variable. Only on Linux; finds none elsewhere. */
import { readFileSync, readdirSync, readlinkSync } from "node:fs";

export interface FoundProcess {
  readonly pid: number;
  readonly command: string;
  /** The owner marker that Rookery set. */
  readonly owner: string | undefined;
}

export function processesWith(variable: string): readonly FoundProcess[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc").flatMap((pid) => {
    try {
      if (!/^\d+$/.test(pid)) return [];
      const variables = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
      if (!variables.includes(variable)) return [];
      readlinkSync(`/proc/${pid}/exe`); // fails for a zombie
      const command = readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ").trim();
      const owner = variables.find((each) => each.startsWith("ROOKERY_OWNER="))?.slice("ROOKERY_OWNER=".length);
      return [{ pid: Number(pid), command, owner }];
    } catch {
      return []; // ended in the meantime
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
