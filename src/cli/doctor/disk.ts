/** Checks that the disks with the log and the working directory are not full. */
import { statfs } from "node:fs/promises";
import { formatBytes } from "../format.ts";
import type { Finding } from "./finding.ts";

/** Below this, appending to the log or creating a worktree fails soon. */
const FULL_BYTES = 100 * 1024 * 1024;
const NEARLY_FULL_BYTES = 1024 * 1024 * 1024;

export interface DiskSpace {
  readonly path: string;
  readonly free: number;
  readonly total: number;
  /** Number of files that can still be created. Undefined if the file system has no limit. */
  readonly freeFiles: number | undefined;
}

/** Returns undefined if the file system does not report its space. */
export async function readDiskSpace(path: string): Promise<DiskSpace | undefined> {
  try {
    const { bavail, blocks, bsize, files, ffree } = await statfs(path);
    if (blocks === 0) return undefined; // a virtual file system
    return { path, free: bavail * bsize, total: blocks * bsize, freeFiles: files === 0 ? undefined : ffree };
  } catch {
    return undefined;
  }
}

export function diskFinding({ path, free, total, freeFiles }: DiskSpace): Finding {
  const subject = "disk";
  const advice = `free some space: rookery task gc --dry-run lists worktrees that can be removed`;
  if (freeFiles === 0) {
    return { subject, status: "problem", detail: `the disk of ${path} can hold no more files`, advice };
  }
  const left = `${formatBytes(free)} of ${formatBytes(total)} free`;
  if (free < FULL_BYTES) return { subject, status: "problem", detail: `the disk of ${path} is full: ${left}`, advice };
  const isNearlyFull = free < NEARLY_FULL_BYTES;
  if (isNearlyFull)
    return { subject, status: "warning", detail: `the disk of ${path} is nearly full: ${left}`, advice };
  return { subject, status: "ok", detail: `${left} (${path})` };
}
