/** Finds the server that runs on this machine, through the file `server.json` of its home directory. */
import {
  checkArgument,
  functionArgument,
  objectArgument,
  optionalArgument,
  recordArgument,
  textArgument,
} from "../domain/arguments.ts";
import { RookeryError, messageOf } from "../domain/errors.ts";
import { createClient, type RookeryClient } from "./client.ts";

export interface ConnectLocalOptions {
  /** The home directory of the server. Default: `$ROOKERY_HOME`, or else `rookery` in the XDG state folder. */
  readonly home?: string | undefined;
  /** Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

interface Announcement {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  readonly startTime: string;
}

const OPTIONS = objectArgument({
  home: optionalArgument(textArgument),
  env: optionalArgument(recordArgument(optionalArgument(textArgument))),
  fetch: optionalArgument(functionArgument),
});
const HEALTH_TIMEOUT_MS = 5_000;
const START = "start it with rookery serve";

/**
 * Connects to the running server of a home directory, with its token. Only in Node. Rejects with `server_unreachable`
 * if no server runs or the file is from one that has ended, with `unauthorized` if other users could have written the
 * file, with `platform_unsupported` in a browser, or with `input_invalid`.
 */
export async function connectLocal(options: ConnectLocalOptions = {}): Promise<RookeryClient> {
  checkArgument(options, OPTIONS, "the options of connectLocal");
  const { fetch = globalThis.fetch } = options;
  const { url, token, pid } = readAnnouncement(options);
  if (!(await isRookeryServer(url, fetch))) throw staleError(pid, `another program answers at ${url}`);
  return createClient({ url, token, fetch });
}

function readAnnouncement({ home, env = process.env }: ConnectLocalOptions): Announcement {
  const { fs, path } = nodeModules();
  const folder = home ?? defaultHome(env);
  const file = path.join(folder, "server.json");
  let text: string;
  try {
    const { uid, mode } = fs.statSync(file);
    if ((mode & 0o022) !== 0 || uid !== (process.getuid?.() ?? uid)) throw foreignError(file);
    text = fs.readFileSync(file, "utf8");
  } catch (cause) {
    if (cause instanceof RookeryError) throw cause;
    const why = (cause as NodeJS.ErrnoException).code === "ENOENT" ? "" : ` (${messageOf(cause)})`;
    const message = `no server runs for the home directory ${folder}${why}: ${START}, or choose another home`;
    throw new RookeryError("server_unreachable", message, { cause });
  }
  const found = parseAnnouncement(text);
  if (found === undefined) {
    throw new RookeryError("server_unreachable", `${file} cannot be read: remove it, and ${START}`);
  }
  if (!isAlive(found)) throw staleError(found.pid, "its process has ended");
  return found;
}

function parseAnnouncement(text: string): Announcement | undefined {
  try {
    const { url, token, pid, startTime } = JSON.parse(text) as Record<string, unknown>;
    const isValid = typeof url === "string" && typeof token === "string" && typeof startTime === "string";
    return isValid && typeof pid === "number" ? { url, token, pid, startTime } : undefined;
  } catch {
    return undefined;
  }
}

/** On Linux, a process that reuses the ID of the server has another start time, which ends the recorded one. */
function isAlive({ pid, startTime }: Announcement): boolean {
  try {
    process.kill(pid, 0);
    if (process.platform !== "linux") return true;
    const stat = nodeModules().fs.readFileSync(`/proc/${pid}/stat`, "latin1");
    return startTime.endsWith(`-${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? ""}`);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Asks without the token, because another program may have the port now. */
async function isRookeryServer(url: string, fetch: typeof globalThis.fetch): Promise<boolean> {
  try {
    const response = await fetch(`${url}/v1/health`, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) });
    const health: unknown = await response.json().catch(() => undefined);
    return typeof health === "object" && health !== null && "ok" in health && health.ok === true;
  } catch (cause) {
    const message = `the server at ${url} does not answer (${messageOf(cause)}): ${START} again`;
    throw new RookeryError("server_unreachable", message, { cause });
  }
}

/** Like `homeFolder` of the server, which a browser could not load. */
function defaultHome(env: Readonly<Record<string, string | undefined>>): string {
  const { path, os } = nodeModules();
  const { ROOKERY_HOME: chosen = "", XDG_STATE_HOME: state = "", HOME: own = "" } = env;
  if (chosen !== "") return path.resolve(chosen);
  if (path.isAbsolute(state)) return path.join(state, "rookery");
  return path.join(path.isAbsolute(own) ? own : os.userInfo().homedir, ".local", "state", "rookery");
}

/** Imports would keep browsers from loading the client. */
function nodeModules() {
  if (typeof process === "undefined" || typeof process.getBuiltinModule !== "function") {
    const message = "connectLocal reads a file, which works only in Node: call createClient with the URL of the server";
    throw new RookeryError("platform_unsupported", message);
  }
  return {
    fs: process.getBuiltinModule("node:fs"),
    path: process.getBuiltinModule("node:path"),
    os: process.getBuiltinModule("node:os"),
  };
}

function foreignError(file: string): RookeryError {
  const message = `${file} is not used because other users can write it: remove it, and ${START} again`;
  return new RookeryError("unauthorized", message);
}

function staleError(pid: number, why: string): RookeryError {
  const message = `the server that was announced as process ${pid} does not run anymore: ${why}; ${START} again`;
  return new RookeryError("server_unreachable", message);
}
