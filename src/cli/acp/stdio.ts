/** Creates an ACP transport on stdin and stdout. */
import type { Readable } from "node:stream";
import { streamTransport, type Transport } from "../../programs/transport.ts";
import { type Io, printNotice } from "../io.ts";
import { reserveStdout } from "./stdout.ts";

export function stdioTransport(io: Io): Transport {
  if (io.stdin.isTTY === true)
    printNotice(io, "this command speaks ACP on stdin and stdout and is meant for editors; Ctrl-D ends it");
  return streamTransport(io.stdin as Readable, reserveStdout());
}
