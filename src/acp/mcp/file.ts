/** Reads a `.mcp.json`: the servers that a project lists for its agents. */
import { readFile } from "node:fs/promises";
import { z } from "zod";
import { messageOf, RookeryError } from "../../domain/errors.ts";
import type { McpDeclaration } from "./declaration.ts";
import { expandVariables, MissingVariable } from "./variables.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const Texts = z.record(z.string(), z.string());
const Started = z.object({ command: z.string().min(1), args: z.array(z.string()).default([]), env: Texts.default({}) });
const Reached = z.object({
  type: z.enum(["http", "sse", "streamable-http"]).default("http"),
  url: z.string().min(1),
  headers: Texts.default({}),
});
/** What other programs keep in such a file beside it is theirs. */
const McpFile = z.object({ mcpServers: z.record(z.string().min(1), z.record(z.string(), z.unknown())) });

/** Throws `config_invalid`, which names the file and the key. */
export async function readMcpFile(file: string, env: Environment = process.env): Promise<McpDeclaration[]> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    throw new RookeryError("config_invalid", `${file} cannot be read: ${messageOf(cause)}`, { cause });
  }
  return parseMcpFile(text, file, env);
}

export function parseMcpFile(text: string, file: string, env: Environment): McpDeclaration[] {
  let value: unknown;
  try {
    value = JSON.parse(text, refusePrototype);
  } catch (cause) {
    throw new RookeryError("config_invalid", `${file}: not JSON that can be used: ${messageOf(cause)}`, { cause });
  }
  const { mcpServers } = checked(McpFile, value, file, []);
  return Object.entries(mcpServers).map(([name, entry]) => declarationOf(name, entry, file, env));
}

function declarationOf(name: string, entry: Record<string, unknown>, file: string, env: Environment): McpDeclaration {
  const path = ["mcpServers", name];
  const expanded = (text: string, ...key: (string | number)[]): string => {
    try {
      return expandVariables(text, env);
    } catch (cause) {
      if (!(cause instanceof MissingVariable)) throw cause;
      throw invalid(file, [...path, ...key], cause.message, cause);
    }
  };
  const pairs = (key: string, texts: Readonly<Record<string, string>>) =>
    Object.entries(texts).map(([name, value]) => ({ name, value: expanded(value, key, name) }));

  if ("command" in entry === "url" in entry) throw invalid(file, path, "needs either command or url");
  if ("url" in entry) {
    const { type, url, headers } = checked(Reached, entry, file, path);
    const address = expanded(url, "url");
    if (!URL.canParse(address)) throw invalid(file, [...path, "url"], "is not a URL");
    return { type: type === "sse" ? "sse" : "http", name, url: address, headers: pairs("headers", headers) };
  }
  const { type, ...started } = entry;
  if (type !== undefined && type !== "stdio")
    throw invalid(file, [...path, "type"], 'must be "stdio" beside a command');
  const { command, args, env: variables } = checked(Started, started, file, path);
  return {
    name,
    command: expanded(command, "command"),
    args: args.map((arg, index) => expanded(arg, "args", index)),
    env: pairs("env", variables),
  };
}

/** zod 4.6 leaves out a key of that name in silence. */
function refusePrototype(key: string, value: unknown): unknown {
  if (key === "__proto__") throw new Error("nothing can be called __proto__");
  return value;
}

function checked<T>(schema: z.ZodType<T>, value: unknown, file: string, path: readonly PropertyKey[]): T {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const [issue] = error.issues;
  throw invalid(file, [...path, ...(issue?.path ?? [])], issue?.message ?? "is invalid", error);
}

function invalid(file: string, path: readonly PropertyKey[], why: string, cause?: unknown): RookeryError {
  const at = path.length === 0 ? "" : ` ${path.map(String).join(".")}:`;
  return new RookeryError("config_invalid", `${file}:${at} ${why}`, { cause });
}
