// The replies of the scripted model to each prompt of the suite. The prompts are the same for every agent.

export const PROMPTS = {
  hello: "Please say hello.",
  permission: "Please make the file.",
  write: "Please write the file.",
  mcp: "Please write the note.",
  wait: "Please think for ever.",
};

export const NOTE = "written by the model";
export const TEXT = "first line\nsecond line\n";

/** `made`: the file of the permission turn. `written`: the written file. `server`: the name of the notes server. */
export function modelScript(agent, { made, written, server = "notes" }) {
  const replies = {
    [PROMPTS.hello]: () => ({ text: ["Hel", "lo."] }),
    [PROMPTS.permission]: () => ({ toolCalls: [agent.permissionCall({ file: made })] }),
    [PROMPTS.write]: () => ({ toolCalls: [agent.writeCall({ file: written, text: TEXT })] }),
    [PROMPTS.mcp]: () => ({ toolCalls: [agent.mcpCall({ server, tool: "note", input: { text: NOTE } })] }),
    // Enough events that every wire delivers some text before the stall.
    [PROMPTS.wait]: () => ({
      text: ["Thinking", ...Array(9).fill("…")],
      fault: { kind: "stall", afterEvents: 8 },
    }),
  };
  return ({ toolNames, toolResults, messages }) => {
    // Requests for titles, summaries and routing have no tools.
    if (toolNames.length === 0) return { text: "A title" };
    if (toolResults.length > 0) return { text: ["Done", ": ", toolResults[0].content.slice(0, 200)] };
    return (replies[lastPrompt(messages)] ?? replies[PROMPTS.hello])();
  };
}

/** Agents add reminders to the prompt, and some keep a cancelled prompt in the conversation. */
function lastPrompt(messages) {
  const said = messages.map(({ role, text }) => (role === "user" ? text : "")).join("\n");
  const places = Object.values(PROMPTS).map((prompt) => [said.lastIndexOf(prompt), prompt]);
  return places.sort(([a], [b]) => b - a)[0][1];
}
