/** Finds secrets in the definition of an agent, which the log would keep. */
import type { AgentDefinition } from "./agent-table.ts";
import { isCredential } from "./credentials.ts";
import { containsSecret, isReferenceOnly, maskWords } from "./mask-secrets.ts";

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
  const { env = {}, command = [], resume_command: resume = [], mcp = [], prompts: _, ...others } = definition;
  const found = [
    ...Object.entries(env).flatMap(([name, value]) =>
      isCredential(name, value) ? [{ path: ["env", name], fix: IN_OPTION }] : [],
    ),
    ...findInWords(command, ["command"], IN_OPTION),
    ...findInWords(resume, ["resume_command"], IN_OPTION),
    ...findInTexts(others.base_url, ["base_url"], "pass the key in the option apiKey of openSession"),
    ...mcp.flatMap((server, index) => (typeof server === "string" ? [] : findInServer(server, ["mcp", index]))),
    ...findInTexts({ env, ...others }, [], IN_OPTION),
  ];
  return found[0];
}

type InlineServer = Exclude<NonNullable<AgentDefinition["mcp"]>[number], string>;

function findInServer(server: InlineServer, path: FoundSecret["path"]): FoundSecret[] {
  const { command = [], env = {}, headers = {}, oauth } = server;
  const secret = oauth?.client_secret;
  return [
    ...findInWords(command, [...path, "command"], BY_VARIABLE),
    ...Object.entries(env).flatMap(([name, value]) =>
      isCredential(name, value) && !isReferenceOnly(value) ? [{ path: [...path, "env", name], fix: BY_VARIABLE }] : [],
    ),
    ...Object.entries(headers).flatMap(([name, value]) =>
      isReferenceOnly(value) ? [] : [{ path: [...path, "headers", name], fix: BY_VARIABLE }],
    ),
    ...(secret === undefined || isReferenceOnly(secret)
      ? []
      : [{ path: [...path, "oauth", "client_secret"], fix: BY_VARIABLE }]),
    ...findInTexts(server, path, BY_VARIABLE),
  ];
}

function findInWords(words: readonly string[], path: FoundSecret["path"], fix: string): FoundSecret[] {
  const index = maskWords(words).findIndex((word, position) => word !== words[position] && !isAddress(word));
  return index === -1 ? findInTexts(words, path, fix) : [{ path: [...path, index], fix }];
}

function isAddress(word: string): boolean {
  return /^https?:\/\//.test(word);
}

/** Searches all texts of a value. */
function findInTexts(value: unknown, path: FoundSecret["path"], fix: string): FoundSecret[] {
  if (typeof value === "string") return containsSecret(value) ? [{ path, fix }] : [];
  if (Array.isArray(value)) return value.flatMap((item, index) => findInTexts(item, [...path, index], fix));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => findInTexts(inner, [...path, key], fix));
}
