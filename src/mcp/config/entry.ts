/** Turns a server of a `.mcp.json` file into a spec. */
import { z } from "zod";
import type { EntryServer } from "../../domain/mcp-declared.ts";
import type { RemoteServerSpec, StdioServerSpec } from "../../domain/mcp.ts";
import { type Expansion, makeExpansion, type ExpansionContext } from "./expansion.ts";

const StringRecord = z.record(z.string(), z.string());
const CommandEntry = z.object({
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: StringRecord.default({}),
});
const UrlEntry = z.object({
  type: z.enum(["http", "sse", "streamable-http"]).default("http"),
  url: z.string().min(1),
  headers: StringRecord.default({}),
});

/** Ignores keys of other programs. Throws `config_invalid` with the file and the key. */
export function resolveEntry(declared: EntryServer, place: ExpansionContext): StdioServerSpec | RemoteServerSpec {
  const { name, entry } = declared;
  const expanded = makeExpansion(declared, place);
  if ("command" in entry === "url" in entry) throw expanded.wrong([], "needs either command or url");
  if ("url" in entry) {
    const { type, url, headers } = parseEntry(UrlEntry, entry, expanded);
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
  if (type !== undefined && type !== "stdio") throw expanded.wrong(["type"], 'must be "stdio" if there is a command');
  const { command, args, env } = parseEntry(CommandEntry, started, expanded);
  return {
    type: "stdio",
    name,
    command: expanded.text(command, "command"),
    args: expanded.texts(args, "args"),
    env: expanded.record(env, "env"),
  };
}

function parseEntry<T>(schema: z.ZodType<T>, value: unknown, { wrong }: Expansion): T {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const [issue] = error.issues;
  throw wrong((issue?.path ?? []).map(String), issue?.message ?? "is invalid", error);
}
