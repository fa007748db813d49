/** Opens the way to a server, whatever it is. */
import type { EventBody, McpServerSpec } from "../../domain/index.ts";
import type { Authorizer } from "../authorizer.ts";
import { openMemory } from "./memory.ts";
import { openRemote } from "./remote.ts";
import { openStdio } from "./stdio.ts";
import { Hopeless, type Way } from "./transport.ts";

export interface WayOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly marker: string;
  readonly authorizer: Authorizer | undefined;
  readonly maxBytes: number;
  /** Ends the attempt. */
  readonly signal: AbortSignal;
  record(body: EventBody): void;
}

export async function openWay(spec: McpServerSpec, options: WayOptions): Promise<Way> {
  switch (spec.type) {
    case "stdio":
      return openStdio(spec, options);
    case "http":
    case "sse":
      return openRemote(spec, options);
    case "memory":
      return openMemory(spec, options.signal);
    case "foreign":
      throw new Hopeless("it is declared in a way that only the agent it was meant for understands");
    case "unusable":
      throw new Hopeless(spec.reason);
  }
}
