/** The program of the scripted agent: runs the script in the given file on stdin and stdout. */

import { readFileSync, writeFileSync } from "node:fs";
import { startAcpAgent, type AcpAgent } from "./agent.ts";
import { processHost } from "./process.ts";
import type { AcpScript } from "./script.ts";

const [scriptFile, ...more] = process.argv.slice(2);
if (scriptFile === undefined) fail("usage: acp-agent SCRIPT.json [--login]");

const script = JSON.parse(readFileSync(scriptFile, "utf8")) as AcpScript;
// An authentication method of type `terminal` adds this argument.
if (more.includes("--login")) {
  if (script.auth?.file !== undefined) writeFileSync(script.auth.file, "");
  process.stdout.write("Logged in.\n");
  process.exit(0);
}

const agent = start();
agent.note({ type: "started", pid: process.pid, cwd: process.cwd(), args: more });

process.on("SIGTERM", (signal) => {
  agent.note({ type: "signal", signal });
  if (script.process?.ignoreSigterm === true) return;
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});

setInterval(() => undefined, 2 ** 30); // keeps an agent alive that does not read its input
const { code } = await agent.closed;
process.exit(code ?? 0);

function start(): AcpAgent {
  try {
    return startAcpAgent({ script, input: process.stdin, output: process.stdout, host: processHost });
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}
