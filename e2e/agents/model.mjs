// What the scripted model does with each prompt of the suite; the words are the same for every agent.

export const PROMPTS = {
  hello: "Please say hello.",
  permission: "Please make the file.",
  write: "Please write the file.",
  mcp: "Please write the note.",
  wait: "Please think for ever.",
};

export const NOTE = "written by the model";
export const TEXT = "first line\nsecond line\n";

/** `made` is what the permission turn makes and `written` what is written; `server` is the notes server's name. */
export function modelScript(agent, { made, written, server = "notes" }) {
  const replies = {
    [PROMPTS.hello]: () => ({ text: ["Hel", "lo."] }),
    [PROMPTS.permission]: () => ({ toolCalls: [agent.permissionCall({ file: made })] }),
    [PROMPTS.write]: () => ({ toolCalls: [agent.writeCall({ file: written, text: TEXT })] }),
    [PROMPTS.mcp]: () => ({ toolCalls: [agent.mcpCall({ server, tool: "note", input: { text: NOTE } })] }),
    // Enough events that some text has arrived on every wire before the silence.
    [PROMPTS.wait]: () => ({
      text: ["Thinking", ...Array(9).fill("…")],
      fault: { kind: "stall", afterEvents: 8 },
    }),
  };
  return ({ toolNames, toolResults, messages }) => {
    // Titles, summaries and routing are asked for without tools.
    if (toolNames.length === 0) return { text: "A title" };
    if (toolResults.length > 0) return { text: ["Done", ": ", toolResults[0].content.slice(0, 200)] };
    return (replies[lastPrompt(messages)] ?? replies[PROMPTS.hello])();
  };
}

/** Agents put reminders of their own beside or behind the prompt, and some keep one that was cancelled unanswered. */
function lastPrompt(messages) {
  const said = messages.map(({ role, text }) => (role === "user" ? text : "")).join("\n");
  const places = Object.values(PROMPTS).map((prompt) => [said.lastIndexOf(prompt), prompt]);
  return places.sort(([a], [b]) => b - a)[0][1];
}
