/** The protocol on this process's own stdin and stdout. */
import type { Readable } from "node:stream";
import { streamTransport, type Transport } from "../../programs/transport.ts";
import { type Io, printNotice } from "../io.ts";
import { reserveStdout } from "./stdout.ts";

export function stdioTransport(io: Io): Transport {
  if (io.stdin.isTTY === true)
    printNotice(io, "this speaks ACP on stdin and stdout, for an editor to start; Ctrl-D ends it");
  return streamTransport(io.stdin as Readable, reserveStdout());
}
