/** Which server runs on a home, so that commands find it and a second one is refused. */
import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { RookeryError } from "../../domain/index.ts";
import { isAlive, makeFolder, ownIdentity, ownPidScope } from "../../stdx/index.ts";

const Running = z.object({
  url: z.string(),
  /** Here too, since it may be another than the home's own. */
  token: z.string(),
  pid: z.int().positive(),
  startTime: z.string(),
  /** The scope of its pid (`ownPlace`). Undefined in files of earlier versions. */
  place: z.string().optional(),
  version: z.string(),
});
export type RunningServer = z.infer<typeof Running>;

/**
 * Undefined if no reachable server runs; the file of a dead one is ignored. A server in another container or on another
 * machine that shares the home directory listens on a different loopback interface.
 */
export function findServer(home: string): RunningServer | undefined {
  const found = read(fileOf(home));
  return found !== undefined && isHere(found) && isAlive(found) ? found : undefined;
}

function isHere({ place }: RunningServer): boolean {
  return place === undefined || place === ownPidScope();
}

/** Throws `server_running`, naming the one that runs. Disposing takes the announcement back. */
export function announceServer(home: string, server: Pick<RunningServer, "url" | "token" | "version">): Disposable {
  const file = fileOf(home);
  makeFolder(home);
  const own = { ...server, ...ownIdentity(), place: ownPidScope() };
  const draft = `${file}.${randomBytes(6).toString("hex")}`;
  writeFileSync(draft, JSON.stringify(own), { mode: 0o600, flag: "wx" });
  try {
    while (!linked(draft, file)) {
      refuseSecond(home);
      setAside(file);
    }
  } finally {
    rmSync(draft, { force: true });
  }
  return {
    [Symbol.dispose]() {
      const now = read(file);
      if (now?.pid === own.pid && now.startTime === own.startTime && now.url === own.url) rmSync(file, { force: true });
    },
  };
}

/** Throws `server_running`. */
export function refuseSecond(home: string): void {
  const first = findServer(home);
  if (first === undefined) return;
  const fix = `use it, or stop it first (kill ${first.pid})`;
  throw new RookeryError(
    "server_running",
    `a server runs here already, at ${first.url} (process ${first.pid}): ${fix}`,
  );
}

function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** What a dead one left. If a living one put its own there since we looked, it is put back. */
function setAside(file: string): void {
  const aside = `${file}.${randomBytes(6).toString("hex")}`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  const taken = read(aside);
  if (taken !== undefined && isHere(taken) && isAlive(taken)) linked(aside, file);
  rmSync(aside, { force: true });
}

/** What others could have written names a server of theirs, and would be given our prompts: it is as if it were not there. */
function read(file: string): RunningServer | undefined {
  try {
    const { uid, mode } = statSync(file);
    if ((mode & 0o022) !== 0 || uid !== (process.getuid?.() ?? uid)) return undefined;
    return Running.safeParse(JSON.parse(readFileSync(file, "utf8"))).data;
  } catch {
    return undefined; // none, or none that can be read
  }
}

function fileOf(home: string): string {
  return join(home, "server.json");
}
