/**
 * Several hosts on one machine: network namespaces that a bridge in a namespace of its own connects. Needs Linux, root
 * and `ip`. Nothing outside of these namespaces is touched.
 */
import { execFile, spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import { accessSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
/** A range for documentation (RFC 5737): no real host has these addresses. */
const SUBNET = "192.0.2";

/** Undefined if namespaces can be made here, otherwise why they cannot, for the name of a skipped test. */
export const noNamespaces: string | undefined = findObstacle();

export interface TestHost {
  readonly name: string;
  readonly address: string;
  /** Starts a program in the network namespace of the host. */
  spawn(program: string, args: readonly string[], options: SpawnOptions): ChildProcess;
  /** The same as an array, for callers that start the program themselves. */
  command(program: string, args: readonly string[]): [string, string[]];
  /** Cuts the cable: packets vanish, and connections see neither an end nor an error. */
  cut(): Promise<void>;
  heal(): Promise<void>;
}

export interface TestNetwork extends AsyncDisposable {
  readonly hosts: Readonly<Record<string, TestHost>>;
}

let networks = 0;

/** Creates one namespace for each name. */
export async function openNetwork(names: readonly string[]): Promise<TestNetwork> {
  networks += 1;
  const prefix = `rk${process.pid.toString(36)}${networks}`;
  const bridge = `${prefix}-net`;
  const made: string[] = [];
  const remove = async (): Promise<void> => {
    for (const namespace of made.splice(0).reverse()) await run("ip", ["netns", "delete", namespace]);
  };
  const add = async (namespace: string): Promise<void> => {
    await run("ip", ["netns", "add", namespace]);
    made.push(namespace);
    await run("ip", ["-n", namespace, "link", "set", "lo", "up"]);
  };
  try {
    await add(bridge);
    await run("ip", ["-n", bridge, "link", "add", "bridge", "type", "bridge"]);
    await run("ip", ["-n", bridge, "link", "set", "bridge", "up"]);
    const hosts: Record<string, TestHost> = {};
    for (const [index, name] of names.entries()) {
      const namespace = `${prefix}-${name}`;
      await add(namespace);
      const port = `port${index}`;
      await run("ip", ["-n", bridge, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", namespace]);
      await run("ip", ["-n", bridge, "link", "set", port, "master", "bridge", "up"]);
      const address = `${SUBNET}.${index + 1}`;
      await run("ip", ["-n", namespace, "address", "add", `${address}/24`, "dev", "eth0"]);
      await run("ip", ["-n", namespace, "link", "set", "eth0", "up"]);
      hosts[name] = toHost({ name, address, namespace, bridge, port });
    }
    return { hosts, [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

interface HostParts {
  readonly name: string;
  readonly address: string;
  readonly namespace: string;
  readonly bridge: string;
  /** The end of its cable at the bridge. */
  readonly port: string;
}

function toHost({ name, address, namespace, bridge, port }: HostParts): TestHost {
  const command: TestHost["command"] = (program, args) => ["ip", ["netns", "exec", namespace, program, ...args]];
  const setPort = async (state: "up" | "down"): Promise<void> => {
    await run("ip", ["-n", bridge, "link", "set", port, state]);
  };
  return {
    name,
    address,
    command,
    spawn: (program, args, options) => spawn(...command(program, args), options),
    cut: () => setPort("down"),
    heal: () => setPort("up"),
  };
}

function findObstacle(): string | undefined {
  if (process.platform !== "linux") return "needs Linux";
  if (process.getuid?.() !== 0) return "needs root";
  return hasProgram("ip") ? undefined : "needs the program ip (package iproute2)";
}

function hasProgram(name: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name));
      return true;
    } catch {
      return false;
    }
  });
}
