/** Finds secrets in the definition of an agent, which the log would keep. */
import type { AgentDefinition } from "./agent-table.ts";
import { isCredential } from "./credentials.ts";
import { isReferenceOnly, maskWords } from "./mask-secrets.ts";

export interface FoundSecret {
  readonly path: readonly (string | number)[];
  /** What to do instead. */
  readonly fix: string;
}

export function describeSecret({ fix }: FoundSecret): string {
  return `it looks like a secret, and the log keeps the definition of an agent: ${fix}`;
}

const IN_OPTION = "pass the variable in the option env of openSession, or name it in pass_env";
const BY_VARIABLE = "refer to an environment variable, such as ${TOKEN}";

/**
 * Returns the first value that is or may be a secret. Texts of prompts are not searched: nobody can tell a secret from
 * another word there.
 */
export function findDefinitionSecret(definition: AgentDefinition): FoundSecret | undefined {
  const { env = {}, command = [], resume_command: resume = [], base_url: baseUrl = "", mcp = [] } = definition;
  const found = [
    ...Object.entries(env).flatMap(([name, value]) =>
      isCredential(name, value) ? [{ path: ["env", name], fix: IN_OPTION }] : [],
    ),
    ...findInWords(command, ["command"], IN_OPTION),
    ...findInWords(resume, ["resume_command"], IN_OPTION),
    ...findInUrl(baseUrl, ["base_url"], "pass the key in the option apiKey of openSession"),
    ...mcp.flatMap((server, index) => (typeof server === "string" ? [] : findInServer(server, ["mcp", index]))),
  ];
  return found[0];
}

type InlineServer = Exclude<NonNullable<AgentDefinition["mcp"]>[number], string>;

function findInServer(server: InlineServer, path: FoundSecret["path"]): FoundSecret[] {
  const { command = [], env = {}, headers = {}, url = "", oauth } = server;
  const secret = oauth?.client_secret;
  return [
    ...findInWords(command, [...path, "command"], BY_VARIABLE),
    ...Object.entries(env).flatMap(([name, value]) =>
      isCredential(name, value) && !isReferenceOnly(value) ? [{ path: [...path, "env", name], fix: BY_VARIABLE }] : [],
    ),
    ...Object.entries(headers).flatMap(([name, value]) =>
      isReferenceOnly(value) ? [] : [{ path: [...path, "headers", name], fix: BY_VARIABLE }],
    ),
    ...findInUrl(url, [...path, "url"], BY_VARIABLE),
    ...(secret === undefined || isReferenceOnly(secret)
      ? []
      : [{ path: [...path, "oauth", "client_secret"], fix: BY_VARIABLE }]),
  ];
}

function findInWords(words: readonly string[], path: FoundSecret["path"], fix: string): FoundSecret[] {
  const index = maskWords(words).findIndex((word, position) => word !== words[position] && !isAddress(word));
  if (index !== -1) return [{ path: [...path, index], fix }];
  return words.flatMap((word, position) => (isAddress(word) ? findInUrl(word, [...path, position], fix) : []));
}

function isAddress(word: string): boolean {
  return /^https?:\/\//.test(word);
}

/** A user name or password before the host, and parameters of the query whose name suggests a credential. */
function findInUrl(url: string, path: FoundSecret["path"], fix: string): FoundSecret[] {
  const [address = "", query = ""] = url.split(/[?#]/, 2);
  const user = /^[\w+.-]+:\/\/([^/]*)@/.exec(address)?.[1];
  const isSecret =
    (user !== undefined && !user.split(":").every((part) => isReferenceOnly(part))) ||
    query.split("&").some((parameter) => {
      const [name = "", value = ""] = parameter.split("=", 2);
      return value !== "" && !isReferenceOnly(value) && isCredential(name, value);
    });
  return isSecret ? [{ path, fix }] : [];
}
