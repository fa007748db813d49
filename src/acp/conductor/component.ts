/** A component of a chain: a proxy or the agent, as a program or in this process. It is started on first use. */
import type { PeerExit } from "../errors.ts";
import { startAgent, type AgentCommand } from "../../programs/index.ts";
import { openProxyComponent } from "../proxy/proxy.ts";
import type { ProxyOptions } from "../proxy/proxy-options.ts";
import type { ProxyDialect } from "../proxy/proxy-dialect.ts";
import { transportPair, type Transport } from "../../programs/transport.ts";

export interface Component {
  /** Used in error messages. */
  readonly name: string;
  /** The signal fires when the component is no longer needed. If it starts anyway, it is disposed. */
  start(options: { readonly signal: AbortSignal }): Promise<RunningComponent>;
  /** The proxy dialect that the component speaks. Default: detected. */
  readonly dialect?: ProxyDialect | undefined;
}

export interface RunningComponent extends AsyncDisposable {
  readonly transport: Transport;
  /** Set if the component is a process. */
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

/** A proxy in this process. */
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
