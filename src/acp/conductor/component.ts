/** A part of a chain: a proxy or the agent, a program or a piece of this process, started when it is first needed. */
import type { PeerExit } from "../errors.ts";
import { startAgent, type AgentCommand } from "../../programs/index.ts";
import { openProxyComponent, type ProxyOptions } from "../proxy/proxy.ts";
import type { ProxyDialect } from "../proxy/proxy-dialect.ts";
import { transportPair, type Transport } from "../../programs/transport.ts";

export interface Component {
  /** As it is called in errors. */
  readonly name: string;
  /** The signal fires when it is not needed any more; should it start all the same, it is disposed of. */
  start(signal: AbortSignal): Promise<RunningComponent>;
  /** How a proxy is spoken to; found out if not said. */
  readonly dialect?: ProxyDialect | undefined;
}

export interface RunningComponent extends AsyncDisposable {
  readonly transport: Transport;
  /** Where it is a process. */
  readonly exit?: (() => Promise<PeerExit>) | undefined;
}

export function commandComponent(name: string, command: AgentCommand, dialect?: ProxyDialect): Component {
  return {
    name,
    dialect,
    async start() {
      const child = await startAgent(command);
      return {
        transport: child.transport,
        exit: () => child.exit(),
        [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
      };
    },
  };
}

/** A proxy of this process. */
export function proxyComponent(name: string, options: ProxyOptions): Component {
  return {
    name,
    dialect: "official",
    start() {
      const [near, far] = transportPair();
      const proxy = openProxyComponent({ transport: far }, options);
      return Promise.resolve({ transport: near, [Symbol.asyncDispose]: () => proxy.close() });
    },
  };
}
