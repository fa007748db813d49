/** The replies of the model for each task of the fleet, independent of the program. */
import { join } from "node:path";
import type { ToolCallFormat } from "../../src/backends/contract/index.ts";
import type { ModelRequest, Reply, Script } from "../../src/testing/index.ts";

export interface Errand {
  readonly id: string;
  readonly agent: "claude" | "codex";
  /** The file to write in the worktree. If empty, a command that needs a permission creates it. */
  readonly file: string;
  readonly text: string;
  /** Stalls until the test releases it. */
  readonly waits?: boolean;
}

export const GO_ON = "Nobody else needs you: go on now.";
const THINKING: Reply = {
  // Enough events that every wire delivers some text before the stall.
  text: ["Thinking", ...Array<string>(9).fill("…")],
  fault: { kind: "stall", afterEvents: 8 },
};

export function promptOf({ id }: Errand): string {
  return `Please do the errand <${id}>.`;
}

export function modelOf(
  errands: readonly Errand[],
  voices: Readonly<Record<Errand["agent"], ToolCallFormat>>,
  repository: string,
): Script {
  return (request) => {
    if (request.toolNames.length === 0) return { text: "A title" }; // titles, summaries and routing need no tools
    const said = saidIn(request);
    const errand = errands.find((each) => said.includes(promptOf(each)));
    if (errand === undefined) return { text: "Nobody told me what to do." };
    if (request.toolResults.length > 0) return { text: "Done." };
    if (errand.waits === true && !said.includes(GO_ON)) return THINKING;
    const file = join(repository, ".rookery", "worktrees", errand.id, errand.file);
    const voice = voices[errand.agent];
    return {
      toolCalls: [errand.text === "" ? voice.permissionCall({ file }) : voice.writeCall({ file, text: errand.text })],
    };
  };
}

function saidIn({ messages }: ModelRequest): string {
  return messages.map(({ role, text }) => (role === "user" ? text : "")).join("\n");
}
