/** Chains whose components may be real processes that can be killed by name. */
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { processesMarked } from "../../stdx/index.ts";
import { builtEnvironment, writeAcpAgent, type AcpScript, type TemporaryFolder } from "../../testing/index.ts";
import { commandComponent, openConductor, proxyComponent, transportPair, type Component } from "../index.ts";
import { watched } from "./test-chain.ts";
import { Hop } from "./test-hop.ts";
import { LineClient, type Message } from "./test-line-client.ts";
import { scriptedComponent } from "./test-scene.ts";

const PROXY = fileURLToPath(new URL("fixtures/proxy.mjs", import.meta.url));

export const PROXIES = ["first", "second", "third"] as const;
export const NAMES = [...PROXIES, "agent"] as const;
export type Name = (typeof NAMES)[number];

export interface ProcessChain extends AsyncDisposable {
  readonly client: LineClient;
  readonly conductor: ReturnType<typeof openConductor>;
  /** The hop to and from each component. */
  readonly hops: Readonly<Record<Name, Hop>>;
  readonly deaths: string[];
  /** Components that were disposed. */
  readonly ended: Set<string>;
  pids(name: Name): number[];
  kill(name: Name): void;
}

export interface ProcessChainOptions {
  readonly folder: TemporaryFolder;
  readonly script: AcpScript;
  /** The components that are programs; the others run in this process. */
  readonly programs: readonly Name[];
  /** Replaces the usual command. */
  readonly commands?: Partial<Readonly<Record<Name, readonly string[]>>>;
  readonly onMessage?: (message: Message, client: LineClient) => void;
}

export async function openProcesses(options: ProcessChainOptions): Promise<ProcessChain> {
  const { folder, script, programs, commands = {}, onMessage } = options;
  const run = randomBytes(6).toString("hex");
  const marker = (name: Name): string => `death-${run}-${name}`;
  const env = builtEnvironment({ home: folder.path });
  const program = (name: Name, command: readonly string[]): Component =>
    commandComponent(name, { command: commands[name] ?? command, cwd: folder.path, env, marker: marker(name) });
  const hops = Object.fromEntries(NAMES.map((name) => [name, new Hop(name)])) as Record<Name, Hop>;
  const proxy = (name: Name): Component =>
    programs.includes(name)
      ? program(name, [process.execPath, PROXY, name])
      : proxyComponent(name, { fromClient: { [`_${name}/ask`]: () => ({ by: name }) } });
  const { command } = await writeAcpAgent(folder.path, { onStart: [{ stderr: "agent was here\n" }], ...script });
  const agent = programs.includes("agent") ? program("agent", command) : scriptedComponent(script, "agent");
  const [near, far] = transportPair();
  const deaths: string[] = [];
  const ended = new Set<string>();
  const observed = (component: Component, hop: Hop): Component =>
    watched(component, hop, () => void ended.add(component.name));
  const conductor = openConductor({
    client: { transport: far },
    proxies: PROXIES.map((name) => observed(proxy(name), hops[name])),
    agent: observed(agent, hops.agent),
    onDeath: (name) => deaths.push(name),
  });
  const client = new LineClient(near, onMessage);
  const pids = (name: Name): number[] => processesMarked(marker(name)).map(({ pid }) => pid);
  return {
    client,
    conductor,
    hops,
    deaths,
    ended,
    pids,
    kill(name) {
      const found = pids(name);
      if (found.length === 0) throw new Error(`${name} does not run`);
      for (const pid of found) process.kill(pid, "SIGKILL");
    },
    async [Symbol.asyncDispose]() {
      client.destroy();
      await conductor.close();
    },
  };
}

const LOOK_AGAIN_MS = 20;

/** Polls, because processes of the system take an unknown time. */
export async function eventually(what: string, holds: () => boolean, withinMs = 15_000): Promise<void> {
  const until = Date.now() + withinMs;
  while (!holds()) {
    if (Date.now() > until) throw new Error(`this did not come: ${what}`);
    await sleep(LOOK_AGAIN_MS);
  }
}
