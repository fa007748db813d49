/** A server of a `.mcp.json` as it is to be used. */
import { z } from "zod";
import type { EntryServer } from "../../domain/mcp-declared.ts";
import type { RemoteServerSpec, StdioServerSpec } from "../../domain/mcp.ts";
import { type Expansion, expansion, type Place } from "./expansion.ts";

const Texts = z.record(z.string(), z.string());
const Started = z.object({ command: z.string().min(1), args: z.array(z.string()).default([]), env: Texts.default({}) });
const Reached = z.object({
  type: z.enum(["http", "sse", "streamable-http"]).default("http"),
  url: z.string().min(1),
  headers: Texts.default({}),
});

/** What other programs keep there beside it is theirs. Throws `config_invalid`, which names the file and the key. */
export function specOfEntry(declared: EntryServer, place: Place): StdioServerSpec | RemoteServerSpec {
  const { name, entry } = declared;
  const expanded = expansion(declared, place);
  if ("command" in entry === "url" in entry) throw expanded.wrong([], "needs either command or url");
  if ("url" in entry) {
    const { type, url, headers } = checked(Reached, entry, expanded);
    const address = expanded.text(url, "url");
    if (!URL.canParse(address)) throw expanded.wrong(["url"], "is not a URL");
    return {
      type: type === "sse" ? "sse" : "http",
      name,
      url: address,
      headers: expanded.record(headers, "headers"),
    };
  }
  const { type, ...started } = entry;
  if (type !== undefined && type !== "stdio") throw expanded.wrong(["type"], 'must be "stdio" beside a command');
  const { command, args, env } = checked(Started, started, expanded);
  return {
    type: "stdio",
    name,
    command: expanded.text(command, "command"),
    args: expanded.texts(args, "args"),
    env: expanded.record(env, "env"),
  };
}

function checked<T>(schema: z.ZodType<T>, value: unknown, { wrong }: Expansion): T {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const [issue] = error.issues;
  throw wrong((issue?.path ?? []).map(String), issue?.message ?? "is invalid", error);
}
