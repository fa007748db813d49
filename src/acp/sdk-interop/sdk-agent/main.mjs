/** The agent as a program that speaks the protocol on stdin and stdout. */

import { Readable, Writable } from "node:stream";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import { sdkAgent } from "./agent.mjs";

const stream = ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin));
const connection = sdkAgent({ locked: process.argv.includes("--locked") }).connect(stream);
process.stderr.write("sdk-agent is up\n");
await connection.closed;
