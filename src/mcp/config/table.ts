/** Turns a server table of `rookery.toml` into a spec. */
import { resolve } from "node:path";
import type { OAuthTable, TableServer } from "../../domain/mcp-declared.ts";
import type { OAuthSpec, RemoteServerSpec, StdioServerSpec } from "../../domain/mcp.ts";
import { type Expansion, makeExpansion, type ExpansionContext } from "./expansion.ts";

/** Throws `config_invalid` with the file and the key. */
export function resolveTable(declared: TableServer, place: ExpansionContext): StdioServerSpec | RemoteServerSpec {
  const { name, table } = declared;
  const expanded = makeExpansion(declared, place);
  const common = {
    name,
    ...(table.timeout !== undefined && { timeoutMs: milliseconds(table.timeout) }),
    ...(table.connect_timeout !== undefined && { connectTimeoutMs: milliseconds(table.connect_timeout) }),
    ...(table.defer !== undefined && { defer: table.defer }),
  };
  if (table.url !== undefined) {
    const url = expanded.text(table.url, "url");
    if (!isHttp(url)) throw expanded.wrong(["url"], "expected an http or https URL");
    return {
      ...common,
      type: table.type ?? "http",
      url,
      headers: expanded.record(table.headers ?? {}, "headers"),
      ...(table.oauth !== undefined && { oauth: toOAuthSpec(table.oauth, expanded) }),
    };
  }
  const [command = "", ...args] = expanded.texts(table.command ?? [], "command");
  return {
    ...common,
    type: "stdio",
    command,
    args,
    env: expanded.record(table.env ?? {}, "env"),
    ...(table.cwd !== undefined && { cwd: resolve(place.cwd ?? ".", expanded.text(table.cwd, "cwd")) }),
  };
}

function toOAuthSpec({ client_id, client_secret, scopes, callback_port }: OAuthTable, { text }: Expansion): OAuthSpec {
  return {
    ...(client_id !== undefined && { clientId: text(client_id, "oauth", "client_id") }),
    ...(client_secret !== undefined && { clientSecret: text(client_secret, "oauth", "client_secret") }),
    ...(scopes !== undefined && { scopes }),
    ...(callback_port !== undefined && { callbackPort: callback_port }),
  };
}

function milliseconds(seconds: number): number {
  return Math.round(seconds * 1_000);
}

function isHttp(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}
