/** How the scripted agent is started as a process of its own. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Script } from "./script.ts";

export type AcpAgentCommand = [program: string, ...args: string[]];

/** The command line of an agent that plays the script in this file. */
export function acpAgentCommand(scriptFile: string): AcpAgentCommand {
  // Built, this module is a part of dist/testing/; in our own tests it still lies in src/testing/acp-agent/.
  const program = import.meta.url.endsWith(".ts") ? "../../../dist/testing/acp-agent.js" : "./acp-agent.js";
  return [process.execPath, fileURLToPath(new URL(program, import.meta.url)), scriptFile];
}

export interface WrittenAcpAgent {
  readonly command: AcpAgentCommand;
  /** For `readAcpRecord` and `acpRecorded`. */
  readonly record: string;
}

/** Writes the script into the folder; the name tells several agents in one folder apart. */
export async function writeAcpAgent(folder: string, script: Script, name = "agent"): Promise<WrittenAcpAgent> {
  const record = script.record ?? join(folder, `${name}.record.ndjson`);
  const file = join(folder, `${name}.script.json`);
  await writeFile(file, JSON.stringify({ ...script, record }));
  return { command: acpAgentCommand(file), record };
}
