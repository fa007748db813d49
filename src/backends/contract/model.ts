/** The scripted model behind every agent of the contract suite. Maps prompts to replies. */
import type { Reply, Script, ScriptedCall } from "../../testing/index.ts";
import { BROUGHT, COLORS, GREETING, NOTE, OURS, PROMPTS, QUESTION, TEXT } from "./prompts.ts";

/** Builds the tool calls that a model makes in one agent's format. */
export interface ToolCallFormat {
  /** Creates an empty file with a tool that needs permission. */
  permissionCall(options: { readonly file: string }): ScriptedCall;
  writeCall(options: { readonly file: string; readonly text: string }): ScriptedCall;
  /** Calls a tool of an MCP server. */
  mcpCall(options: { readonly server: string; readonly tool: string; readonly input: unknown }): ScriptedCall;
  /** Asks the user to choose. Missing if the agent has no such tool. */
  questionCall?(options: { readonly question: string; readonly options: readonly string[] }): ScriptedCall;
}

export interface ContractFiles {
  /** The file that `permissionCall` creates. */
  readonly made: string;
  readonly written: string;
}

const USAGE = { input: 100, output: 10 };

export function modelScript(voice: ToolCallFormat, { made, written }: ContractFiles): Script {
  const note = (server: string): Reply => ({
    toolCalls: [voice.mcpCall({ server, tool: "note", input: { text: NOTE } })],
  });
  const hello = (): Reply => ({ text: [GREETING.slice(0, 3), GREETING.slice(3)] });
  const replies: Record<string, () => Reply> = {
    [PROMPTS.hello]: hello,
    [PROMPTS.again]: hello,
    [PROMPTS.permission]: () => ({ toolCalls: [voice.permissionCall({ file: made })] }),
    [PROMPTS.write]: () => ({ toolCalls: [voice.writeCall({ file: written, text: TEXT })] }),
    [PROMPTS.question]: () => {
      const call = voice.questionCall?.({ question: QUESTION, options: COLORS });
      return call === undefined ? hello() : { toolCalls: [call] };
    },
    [PROMPTS.mcp]: () => note(OURS),
    [PROMPTS.brought]: () => note(BROUGHT),
    // Enough events that every protocol has delivered some text before the stall.
    [PROMPTS.wait]: () => ({
      text: ["Thinking", ...Array<string>(9).fill("…")],
      fault: { kind: "stall", afterEvents: 8 },
    }),
  };
  return ({ toolNames, toolResults, messages }) => {
    // Requests for titles, summaries and routing have no tools.
    if (toolNames.length === 0) return { text: "A title", usage: { input: 1, output: 1 } };
    const [result] = toolResults;
    if (result !== undefined) return { text: ["Done", ": ", result.content.slice(0, 200)], usage: USAGE };
    return { usage: USAGE, ...(replies[lastPrompt(messages)] ?? hello)() };
  };
}

/** Finds the latest prompt. Agents add reminders to it, and some keep a cancelled prompt in the conversation. */
function lastPrompt(messages: readonly { readonly role: string; readonly text: string }[]): string {
  const said = messages.map(({ role, text }) => (role === "user" ? text : "")).join("\n");
  const places = Object.values(PROMPTS).map((prompt) => ({ at: said.lastIndexOf(prompt), prompt }));
  return places.reduce((last, place) => (place.at > last.at ? place : last)).prompt;
}
