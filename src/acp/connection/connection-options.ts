/** Options of a connection and of a single request. */
import type { Transport } from "../../programs/transport.ts";
import type { PeerExit } from "../errors.ts";
import type { ClassifiedLine } from "../wire/message.ts";
import type { ConnectionHandlers, Verbatim } from "./incoming.ts";

export interface ConnectionOptions {
  readonly transport: Transport;
  readonly handlers?: ConnectionHandlers | undefined;
  /** The name of the other side in error messages. Default: `the peer`. */
  readonly peer?: string | undefined;
  /**
   * What to do with a line that is not a message: `report` it as noise, or also `answer` it with an error, as JSON-RPC
   * requires of a server. Default: `report`.
   */
  readonly malformed?: "report" | "answer" | undefined;
  /** Called at the end of input if the peer is a process. */
  readonly exit?: (() => Promise<PeerExit | undefined>) | undefined;
  /** Called for every line in both directions, as it is on the wire. */
  readonly trace?: ((direction: "in" | "out", line: string) => void) | undefined;
  /** Parses a line. Default: JSON. */
  readonly read?: ((line: string) => ClassifiedLine) | undefined;
  /** How much may wait to be handled before reading pauses. Default: 1 MiB. */
  readonly readBytes?: number | undefined;
  /** How much may wait for a peer that does not read before sending fails. Default: 64 MiB. */
  readonly writeBytes?: number | undefined;
}

export interface RequestOptions {
  /** Aborting it sends `$/cancel_request`. The promise still waits for the peer's answer. */
  readonly signal?: AbortSignal | undefined;
  /** Called in wire order: the next message waits until it settles. */
  readonly onResponse?: ((response: Verbatim) => void | Promise<void>) | undefined;
  /**
   * True if the request is independent of the handler that blocks the connection now, so that the handler keeps
   * blocking. Default: false.
   */
  readonly apart?: boolean | undefined;
}
