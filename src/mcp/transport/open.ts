/** Connects to a server by its type. */
import type { EventBody, McpServerSpec } from "../../domain/index.ts";
import type { Authorizer } from "../authorizer.ts";
import { openMemory } from "./memory.ts";
import { openRemote } from "./remote.ts";
import { openStdio } from "./stdio.ts";
import { PermanentFailure, type ServerTransport } from "./transport.ts";

export interface TransportOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly marker: string;
  readonly authorizer: Authorizer | undefined;
  readonly maxBytes: number;
  /** Aborts the attempt. */
  readonly signal: AbortSignal;
  record(body: EventBody): void;
}

export async function openTransport(spec: McpServerSpec, options: TransportOptions): Promise<ServerTransport> {
  switch (spec.type) {
    case "stdio":
      return openStdio(spec, options);
    case "http":
    case "sse":
      return openRemote(spec, options);
    case "memory":
      return openMemory(spec, options.signal);
    case "foreign":
      throw new PermanentFailure("only the agent that it was declared for can use it");
    case "unusable":
      throw new PermanentFailure(spec.reason);
  }
}
