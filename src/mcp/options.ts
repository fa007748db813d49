/** What a session's servers are opened with, and how much of anything they may take. */
import type { McpServerSpec, RemoteServerSpec } from "../domain/index.ts";
import type { Authorizer } from "./authorizer.ts";
import type { SamplingReply, SamplingRequest } from "./sampling.ts";

export interface ServersOptions {
  /** Of two with one name the later counts. */
  readonly servers: readonly McpServerSpec[];
  /** The root that servers are told of, and where the local ones run. */
  readonly cwd: string;
  /** What every local server gets, beside its own. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly marker: string;
  readonly authorizer?: ((spec: RemoteServerSpec) => Authorizer) | undefined;
  /** Left out: servers are told that there is no sampling. Asks for permission itself. */
  readonly sample?: ((request: SamplingRequest, context: SamplingContext) => Promise<SamplingReply>) | undefined;
  /** How we introduce ourselves. */
  readonly version?: string | undefined;
  readonly bounds?: Partial<Bounds> | undefined;
}

export interface SamplingContext {
  readonly server: string;
  readonly signal: AbortSignal;
}

export interface Bounds {
  /** For a server that does not say it itself. */
  readonly connectMs: number;
  /** A call may be silent for so long, if the server's declaration does not say it. Progress begins it anew. */
  readonly callMs: number;
  /** However much progress there is. Waiting for a person does not count. */
  readonly callTotalMs: number;
  /** A message that is longer ends the connection: reading one of 60 MB held the event loop for 3 s. */
  readonly messageBytes: number;
  /** More tools are left out, with a notice; the same holds for prompts and resources. */
  readonly listed: number;
  /** Of one list, as JSON: what comes after it is left out, with a notice. */
  readonly listedChars: number;
  /** Characters of a result's text that a model gets; a longer one is kept whole beside the log. */
  readonly textChars: number;
  /** Reconnections in a row, and the time between: it doubles from the first to the last. */
  readonly retries: number;
  readonly retryFirstMs: number;
  readonly retryLastMs: number;
  /** A server that was up for so long has all its tries again. */
  readonly steadyMs: number;
  /** Attempts to reach a remote server that was never there. */
  readonly firstTries: number;
}

export const BOUNDS: Bounds = {
  connectMs: 30_000,
  callMs: 60_000,
  callTotalMs: 60 * 60_000,
  messageBytes: 16 * 1024 * 1024,
  listed: 5_000,
  listedChars: 8 * 1024 * 1024,
  textChars: 30_000,
  retries: 5,
  retryFirstMs: 500,
  retryLastMs: 30_000,
  steadyMs: 60_000,
  firstTries: 3,
};
