/** Leases one TCP port per task. The port is free at the time of the lease, and no other task gets it until it is released. */
import { readdir, readlink, rm, symlink } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { RookeryError } from "../domain/index.ts";
import { makeFolder } from "../stdx/index.ts";
import { checkWorktreeId } from "./record.ts";

export interface PortLease {
  /** Folder of port leases, shared by all Rookery processes on this machine. */
  readonly folder: string;
  readonly task: string;
  /** Inclusive. Default: 20000 to 29999. */
  readonly range?: readonly [first: number, last: number] | undefined;
}

/** Below the ephemeral port ranges of Linux (from 32768) and macOS (from 49152), so outgoing connections do not use them. */
const DEFAULT_RANGE = [20_000, 29_999] as const;

/**
 * Returns the port of a task, and leases one if it has none.
 *
 * A lease is a symbolic link that is named after the port and points to the task id. Creating a link is atomic and fails if
 * it exists, so two processes never lease the same port, and a killed process leaves no lease without an owner. Rejects with
 * `port_unavailable` if no port in the range is free.
 */
export async function leasePort({ folder, task, range = DEFAULT_RANGE }: PortLease): Promise<number> {
  checkWorktreeId(task);
  makeFolder(folder);
  const leased = await findLeasedPort(folder, task);
  if (leased !== undefined) return leased;
  const [first, last] = range;
  const count = last - first + 1;
  const start = hashText(task) % Math.max(1, count); // tasks that start together rarely try the same port first
  for (let step = 0; step < count; step += 1) {
    const port = first + ((start + step) % count);
    if (!(await claimPort(join(folder, String(port)), task))) continue;
    if (await isPortFree(port)) return port;
    await rm(join(folder, String(port)), { force: true });
  }
  throw new RookeryError(
    "port_unavailable",
    `no port from ${first} to ${last} is free for task ${task}; stop the programs that use them, or remove finished tasks`,
  );
}

/** Releases the port of a task. Does nothing if the task has none. */
export async function releasePort(folder: string, task: string): Promise<void> {
  for (const port of await listLeasedPorts(folder, task)) await rm(join(folder, String(port)), { force: true });
}

async function findLeasedPort(folder: string, task: string): Promise<number | undefined> {
  return (await listLeasedPorts(folder, task))[0];
}

async function listLeasedPorts(folder: string, task: string): Promise<readonly number[]> {
  const names = await readdir(folder).catch(() => []);
  const ports = names.filter((name) => /^\d{1,5}$/.test(name)).map(Number);
  const owners = await Promise.all(ports.map((port) => readlink(join(folder, String(port))).catch(() => undefined)));
  return ports.filter((_, index) => owners[index] === task).sort((a, b) => a - b);
}

async function claimPort(file: string, task: string): Promise<boolean> {
  try {
    await symlink(task, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Tries several addresses: another program may listen on only one of them, and the task's server could then not start. */
async function isPortFree(port: number): Promise<boolean> {
  for (const host of ["127.0.0.1", "0.0.0.0", "::1"]) {
    if (!(await canListen(port, host))) return false;
  }
  return true;
}

async function canListen(port: number, host: string): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", ({ code }: NodeJS.ErrnoException) => {
      resolve(code !== "EADDRINUSE" && code !== "EACCES"); // without IPv6, listening on ::1 fails with another code
    });
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

function hashText(text: string): number {
  let hash = 0;
  for (const letter of text) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) >>> 0;
  return hash;
}
