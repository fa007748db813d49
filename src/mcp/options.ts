/** Options and limits of a session's servers. */
import type { McpServerSpec, RemoteServerSpec } from "../domain/index.ts";
import type { Authorizer } from "./authorizer.ts";
import type { SamplingReply, SamplingRequest } from "./sampling.ts";

export interface ServersOptions {
  /** If two servers have the same name, the later one is used. */
  readonly servers: readonly McpServerSpec[];
  /** The root that servers are given, and the working directory of local servers. */
  readonly cwd: string;
  /** Environment of all local servers, in addition to their own. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly marker: string;
  readonly authorizer?: ((spec: RemoteServerSpec) => Authorizer) | undefined;
  /** Must ask for permission itself. Default: clients do not announce sampling. */
  readonly sample?: ((request: SamplingRequest, context: SamplingContext) => Promise<SamplingReply>) | undefined;
  /** The version that is sent to servers. */
  readonly version?: string | undefined;
  readonly bounds?: Partial<Bounds> | undefined;
}

export interface SamplingContext {
  readonly server: string;
  readonly signal: AbortSignal;
}

export interface Bounds {
  /** Timeout for connecting, unless the server's declaration sets one. */
  readonly connectMs: number;
  /** How long a call may be silent, unless the server's declaration sets it. Progress resets it. */
  readonly callMs: number;
  /** Total time of a call, regardless of progress. Waiting for a person does not count. */
  readonly callTotalMs: number;
  /** A longer message ends the connection. Parsing one of 60 MB blocked the event loop for 3 s. */
  readonly messageBytes: number;
  /** Maximum number of tools, and of prompts and resources. The rest is ignored with a notice. */
  readonly listed: number;
  /** Maximum length of one list as JSON, in characters. The rest is ignored with a notice. */
  readonly listedChars: number;
  /** Maximum length of a result that a model gets, in characters. Longer results are stored as blobs. */
  readonly textChars: number;
  /** Consecutive reconnection attempts. The delay doubles from `retryFirstMs` to `retryLastMs`. */
  readonly retries: number;
  readonly retryFirstMs: number;
  readonly retryLastMs: number;
  /** After this uptime the number of attempts is reset. */
  readonly steadyMs: number;
  /** Attempts to reach a remote server that has never been reached. */
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
