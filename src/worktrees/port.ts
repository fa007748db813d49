/** A port for each task: really free when it is given, and nobody else's until the task lets it go. */
import { readdir, readlink, rm, symlink } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { RookeryError } from "../domain/index.ts";
import { makeFolder } from "../stdx/index.ts";
import { checkWorktreeId } from "./record.ts";

export interface PortLease {
  /** Shared by all processes that give ports on this machine. */
  readonly folder: string;
  readonly task: string;
  /** Both ends included. */
  readonly range?: readonly [first: number, last: number] | undefined;
}

/** Below where Linux and macOS take ports for outgoing connections (32768 and 49152), so that none is hit by chance. */
const DEFAULT_RANGE = [20_000, 29_999] as const;

/**
 * A link per port, named after it, leads to the task's id: it is made only where there is none, so two processes never give
 * the same, and in one step, so that whoever is killed leaves none that is nobody's. Asked again, a task gets the port it
 * has. Rejects with `port_unavailable` where the range is used up.
 */
export async function leasePort({ folder, task, range = DEFAULT_RANGE }: PortLease): Promise<number> {
  checkWorktreeId(task);
  makeFolder(folder);
  const leased = await findLeasedPort(folder, task);
  if (leased !== undefined) return leased;
  const [first, last] = range;
  const count = last - first + 1;
  const start = hashText(task) % Math.max(1, count); // tasks that start together seldom want the same one
  for (let step = 0; step < count; step += 1) {
    const port = first + ((start + step) % count);
    if (!(await claimPort(join(folder, String(port)), task))) continue;
    if (await isPortFree(port)) return port;
    await rm(join(folder, String(port)), { force: true });
  }
  throw new RookeryError(
    "port_unavailable",
    `no port from ${first} to ${last} is free for ${task}; end what uses them, or remove tasks that are done`,
  );
}

/** Twice is fine. */
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

/** Someone may listen on one address only, where a server of the task would then not be reached, or not start. */
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
      resolve(code !== "EADDRINUSE" && code !== "EACCES"); // a machine without IPv6 has nothing in the way on it
    });
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

function hashText(text: string): number {
  let hash = 0;
  for (const letter of text) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) >>> 0;
  return hash;
}
