/** Builds the command line that starts the scripted agent as a separate process. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AcpScript } from "./script.ts";

export type AcpAgentCommand = [program: string, ...args: string[]];

/** Returns the command line of an agent that runs the script in this file. */
export function acpAgentCommand(scriptFile: string): AcpAgentCommand {
  // In the package this module is in dist/testing/; in Rookery's own tests it is in src/testing/acp-agent/.
  const program = import.meta.url.endsWith(".ts") ? "../../../dist/testing/acp-agent.js" : "./acp-agent.js";
  return [process.execPath, fileURLToPath(new URL(program, import.meta.url)), scriptFile];
}

export interface WrittenAcpAgent {
  readonly command: AcpAgentCommand;
  /** The record file, for `readAcpRecord` and `acpRecorded`. */
  readonly record: string;
}

/** Writes the script into the folder. Use different names for several agents in one folder. Default: `agent`. */
export async function writeAcpAgent(folder: string, script: AcpScript, name = "agent"): Promise<WrittenAcpAgent> {
  const record = script.record ?? join(folder, `${name}.record.ndjson`);
  const file = join(folder, `${name}.script.json`);
  await writeFile(file, JSON.stringify({ ...script, record }));
  return { command: acpAgentCommand(file), record };
}
