/** Runs `rookery serve` as a process that can be killed and restarted on the same port with the same token. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

export const CLI = fileURLToPath(new URL("../../dist/cli/main.cjs", import.meta.url));
const TOKEN = "a-token-that-only-this-test-knows";
const START_MS = 20_000;
const STOP_MS = 15_000;

export interface FleetServer extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  /** Returns its stderr. */
  readonly printed: () => string;
  /** Returns the link to the page that it printed when it started. */
  readonly signInLink: () => string;
  /** Resolves when the server responds. */
  readonly start: () => Promise<void>;
  readonly kill: () => Promise<void>;
  /** Stops the server with SIGTERM. */
  readonly stop: () => Promise<void>;
}

export async function fleetServer(options: {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}): Promise<FleetServer> {
  const { cwd, env } = options;
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let server: ChildProcess | undefined;
  let printed = "";
  let startMessage = "";
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const child = server;
    server = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const over = once(child, "exit");
    child.kill(signal);
    const late = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    await over;
    clearTimeout(late);
  };
  return {
    url,
    token: TOKEN,
    printed: () => printed,
    signInLink() {
      const [, link] = /The page.*\n\s+(\S+)/.exec(startMessage) ?? [];
      if (link === undefined) throw new Error(`rookery serve printed no link to its page:\n${startMessage}`);
      return link;
    },
    async start() {
      const args = [CLI, "serve", "--port", String(port), "--token", TOKEN];
      server = spawn(process.execPath, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
      startMessage = "";
      server.stdout?.setEncoding("utf8").on("data", (text: string) => (startMessage += text));
      server.stderr?.setEncoding("utf8").on("data", (text: string) => (printed += text));
      await waitForServer(url, server, () => printed);
    },
    kill: () => end("SIGKILL"),
    stop: () => end("SIGTERM"),
    [Symbol.asyncDispose]: () => end("SIGKILL"),
  };
}

async function waitForServer(url: string, server: ChildProcess, printed: () => string): Promise<void> {
  const until = performance.now() + START_MS;
  for (;;) {
    const isUp = await fetch(`${url}/v1/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return;
    if (server.exitCode !== null) throw new Error(`rookery serve exited with code ${server.exitCode}:\n${printed()}`);
    if (performance.now() > until) throw new Error(`rookery serve did not respond in time:\n${printed()}`);
    await sleep(10);
  }
}

/** Chooses a port outside the kernel's ephemeral range, so that no connection takes it between two starts. */
async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = 10_000 + Math.floor(Math.random() * 9_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
  throw new Error("found no free port");
}
