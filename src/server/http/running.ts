/** The file `server.json` in a home directory: lets commands find the running server, and prevents a second one. */
import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { RookeryError } from "../../domain/index.ts";
import { isAlive, machinePidScope, makeFolder, ownIdentity } from "../../stdx/index.ts";

const RunningServerSchema = z.object({
  url: z.string(),
  /** May differ from the token file, if the server was started with its own token. */
  token: z.string(),
  pid: z.int().positive(),
  startTime: z.string(),
  /** The PID scope of the process (`machinePidScope`). Undefined in files of earlier versions. */
  place: z.string().optional(),
  version: z.string(),
});
export type RunningServer = z.infer<typeof RunningServerSchema>;

/**
 * Finds the running server of a home directory. Undefined if none is reachable: the file of a dead server is ignored,
 * and so is a server in another container or on another machine, which listens on a different loopback interface.
 */
export function findServer(home: string): RunningServer | undefined {
  const found = readAnnouncement(announcementPath(home));
  return found !== undefined && isInOwnPidScope(found) && isAlive(found) ? found : undefined;
}

function isInOwnPidScope({ place }: RunningServer): boolean {
  return place === undefined || place === machinePidScope();
}

/** Writes `server.json`. Disposing the result removes it. Throws `server_running` if another server runs. */
export function announceServer(home: string, server: Pick<RunningServer, "url" | "token" | "version">): Disposable {
  const file = announcementPath(home);
  makeFolder(home);
  const own = { ...server, ...ownIdentity(), place: machinePidScope() };
  const draft = `${file}.${randomBytes(6).toString("hex")}`;
  writeFileSync(draft, JSON.stringify(own), { mode: 0o600, flag: "wx" });
  try {
    while (!tryLink(draft, file)) {
      refuseSecondServer(home);
      removeStaleAnnouncement(file);
    }
  } finally {
    rmSync(draft, { force: true });
  }
  return {
    [Symbol.dispose]() {
      const current = readAnnouncement(file);
      if (current?.pid === own.pid && current.startTime === own.startTime && current.url === own.url)
        rmSync(file, { force: true });
    },
  };
}

/** Throws `server_running`. */
export function refuseSecondServer(home: string): void {
  const first = findServer(home);
  if (first === undefined) return;
  const fix = `use that server, or stop it first (kill ${first.pid})`;
  throw new RookeryError(
    "server_running",
    `a server is already running at ${first.url} (process ${first.pid}): ${fix}`,
  );
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Removes the file of a dead server. Restores it if a live server has written its own file in the meantime. */
function removeStaleAnnouncement(file: string): void {
  const aside = `${file}.${randomBytes(6).toString("hex")}`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  const taken = readAnnouncement(aside);
  if (taken !== undefined && isInOwnPidScope(taken) && isAlive(taken)) tryLink(aside, file);
  rmSync(aside, { force: true });
}

/** Ignores a file that other users could have written: it could direct prompts to their server. */
function readAnnouncement(file: string): RunningServer | undefined {
  try {
    const { uid, mode } = statSync(file);
    if ((mode & 0o022) !== 0 || uid !== (process.getuid?.() ?? uid)) return undefined;
    return RunningServerSchema.safeParse(JSON.parse(readFileSync(file, "utf8"))).data;
  } catch {
    return undefined; // missing or unreadable
  }
}

function announcementPath(home: string): string {
  return join(home, "server.json");
}
