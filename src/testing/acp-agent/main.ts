/** The scripted agent as a process of its own: plays the script in the file that is named. */

import { readFileSync, writeFileSync } from "node:fs";
import { startAcpAgent } from "./agent.ts";
import { processHost } from "./process.ts";
import type { Script } from "./script.ts";

const [scriptFile, ...more] = process.argv.slice(2);
if (scriptFile === undefined) {
  process.stderr.write("usage: acp-agent SCRIPT.json [--login]\n");
  process.exit(2);
}

const script = JSON.parse(readFileSync(scriptFile, "utf8")) as Script;
if (more.includes("--login")) {
  if (script.auth?.file !== undefined) writeFileSync(script.auth.file, "");
  process.stdout.write("Logged in.\n");
  process.exit(0);
}

const agent = startAcpAgent({ script, input: process.stdin, output: process.stdout, host: processHost });
agent.note({ type: "started", pid: process.pid, cwd: process.cwd(), args: more });

process.on("SIGTERM", (signal) => {
  agent.note({ type: "signal", signal });
  if (script.process?.ignoreSigterm === true) return;
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});

/** A deaf agent has nothing else that keeps it here. */
setInterval(() => undefined, 2 ** 30);
const { code } = await agent.closed;
process.exit(code ?? 0);
