/** Expands slash commands to prompts of MCP servers: `/server:prompt` followed by the prompt's arguments. */
import {
  RookeryError,
  type InputPart,
  type McpPart,
  type McpPrompt,
  type SessionStore,
  type SessionTools,
} from "../domain/index.ts";

export interface ExpandOptions {
  readonly tools: SessionTools;
  readonly store: Pick<SessionStore, "putBlob">;
  readonly signal: AbortSignal;
}

/** The command for a prompt, without the slash. */
export function formatPromptCommand({ server, name }: McpPrompt): string {
  return `${server}:${name}`;
}

export async function expandPrompt(
  input: string,
  { tools, store, signal }: ExpandOptions,
): Promise<string | readonly InputPart[]> {
  const [, server, rest] = /^\/([^\s:]+):(\S[^]*)$/.exec(input.trim()) ?? [];
  if (server === undefined || rest === undefined) return input;
  if (!tools.servers().servers.some(({ name }) => name === server)) return input;
  const prompt = await waitForPrompt(tools, server, rest, signal);
  if (prompt === undefined) {
    const known = listPrompts(tools, server).map((one) => `/${formatPromptCommand(one)}`);
    const there =
      known.length === 0 ? "the server offers no prompts at the moment" : `the server offers ${known.join(", ")}`;
    throw new RookeryError("input_invalid", `the MCP server ${server} has no prompt for "${input.trim()}"; ${there}`);
  }
  const args = parsePromptArguments(prompt, rest.slice(prompt.name.length).trim());
  const parts = await tools.getPrompt(server, prompt.name, { args, signal });
  return Promise.all(parts.map((part) => toInputPart(part, store)));
}

/**
 * Resolves as soon as the server lists the prompt or is not connecting anymore. Does not wait for other servers.
 * Rejects when the signal fires.
 */
async function waitForPrompt(
  tools: SessionTools,
  server: string,
  rest: string,
  signal: AbortSignal,
): Promise<McpPrompt | undefined> {
  const finished = new AbortController();
  const check = (): void => {
    const status = tools.servers().servers.find(({ name }) => name === server)?.status;
    const mayCome = status === "connecting" || status === "ready"; // a server lists its prompts after it is ready
    if (!mayCome || findPrompt(tools, server, rest) !== undefined) finished.abort();
  };
  const stop = tools.onChange(check);
  check();
  try {
    const either = AbortSignal.any([signal, finished.signal]);
    await tools.settled({ signal: either }).catch(() => signal.throwIfAborted());
  } finally {
    stop();
  }
  return findPrompt(tools, server, rest);
}

function listPrompts(tools: SessionTools, server: string): readonly McpPrompt[] {
  return tools.servers().servers.find(({ name }) => name === server)?.prompts ?? [];
}

/** Returns the prompt with the longest matching name, because names may contain spaces. */
function findPrompt(tools: SessionTools, server: string, rest: string): McpPrompt | undefined {
  return listPrompts(tools, server)
    .filter(({ name }) => rest === name || (rest.startsWith(name) && /^\s/.test(rest.slice(name.length))))
    .toSorted((a, b) => b.name.length - a.name.length)[0];
}

/**
 * Parses `name=value` for known names. Assigns other words to the remaining arguments in order; the last argument
 * takes the rest. Quotes group words.
 */
function parsePromptArguments(prompt: McpPrompt, text: string): Record<string, string> {
  const args: Record<string, string> = {};
  const loose: string[] = [];
  for (const word of text.match(/(?:[^\s"]+|"[^"]*")+/g) ?? []) {
    const [, name, value] = /^([^=\s"]+)=([^]*)$/.exec(word) ?? [];
    const known = prompt.arguments.some((argument) => argument.name === name);
    if (known && name !== undefined && value !== undefined) args[name] = removeQuotes(value);
    else loose.push(removeQuotes(word));
  }
  const open = prompt.arguments.filter(({ name }) => args[name] === undefined);
  open.forEach(({ name }, index) => {
    const value = index === open.length - 1 ? loose.slice(index).join(" ") : loose[index];
    if (value !== undefined && value !== "") args[name] = value;
  });
  const missing = prompt.arguments.filter(({ name, required }) => required && args[name] === undefined);
  if (missing.length === 0) return args;
  const usage = prompt.arguments.map(({ name, required }) => (required ? `${name}=…` : `[${name}=…]`)).join(" ");
  throw new RookeryError(
    "input_invalid",
    `/${formatPromptCommand(prompt)} needs ${missing.map(({ name }) => name).join(", ")}; type /${formatPromptCommand(prompt)} ${usage}`,
  );
}

function removeQuotes(word: string): string {
  return word.replaceAll('"', "");
}

async function toInputPart(part: McpPart, store: ExpandOptions["store"]): Promise<InputPart> {
  if (part.type === "text") return { type: "text", text: part.text };
  const { hash } = await store.putBlob(part.bytes);
  const { mediaType, uri } = part;
  return { type: "blob", hash, mediaType, ...(uri !== undefined && { name: uri }) };
}
