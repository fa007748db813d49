/** The scripted agent as a process: plays the script in the file that is named. */

import { readFileSync } from "node:fs";
import { startAcpAgent } from "./agent.ts";
import type { Host } from "./scene.ts";
import type { Script } from "./script.ts";

const [, , scriptFile] = process.argv;
if (scriptFile === undefined) {
  process.stderr.write("usage: acp-agent SCRIPT.json\n");
  process.exit(2);
}

const host: Host = {
  exit: ({ code = 0, signal }) => {
    if (signal !== undefined) process.kill(process.pid, signal);
    else process.exit(code);
    return new Promise<never>(() => undefined);
  },
  stderr: (text) => void process.stderr.write(text),
};

const script = JSON.parse(readFileSync(scriptFile, "utf8")) as Script;
const agent = startAcpAgent({ script, input: process.stdin, output: process.stdout, host });
const { code } = await agent.closed;
process.exit(code ?? 0);
