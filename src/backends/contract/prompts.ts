/** Names, prompts and expected texts of the contract suite. */

/** One case of the suite each. */
export const BEHAVIORS = [
  "hello",
  "permission",
  "deny",
  "write",
  "question",
  "interrupt",
  "resume",
  "lost",
  "fork",
  "mcp",
  "brought",
  "usage",
  "cost",
  "model",
  "mode",
  "dies",
  "hangs",
  "limit",
  "login",
  "noise",
  "env",
  "closed",
] as const;
export type Behavior = (typeof BEHAVIORS)[number];

/** The scripted model recognizes these prompts, so one model serves any number of turns and sessions. */
export const PROMPTS = {
  hello: "Please say hello.",
  again: "Please say it again.",
  permission: "Please make the file.",
  write: "Please write the file.",
  question: "Please ask me for a colour.",
  mcp: "Please write the note.",
  brought: "Please write the note with the server that I brought.",
  wait: "Please think for ever.",
} as const;

export const GREETING = "Hello.";
export const NOTE = "written by the model";
/** Content of the written file. */
export const TEXT = "first line\nsecond line\n";
export const QUESTION = "Which colour?";
export const COLORS = ["Red", "Blue"] as const;

/** Rookery's own MCP server as programs know it, and the one that the client brings. */
export const OURS = "rookery";
export const BROUGHT = "notes";
