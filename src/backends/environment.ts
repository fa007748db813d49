/** What a program gets of the environment: all but the secrets of providers that it has nothing to do with. */
import { isSecret } from "./secrets.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Whose secrets a program has to do with; `any` may use every provider. */
export type Family = "claude" | "codex" | "gemini" | "any" | "none";

const OWN: Record<Family, RegExp> = {
  claude: /^(ANTHROPIC_|CLAUDE_|AWS_BEARER_TOKEN_BEDROCK$)/i,
  codex: /^(OPENAI|CODEX|AZURE_OPENAI)_/i,
  gemini: /^(GEMINI|GOOGLE)_/i,
  any: /^/,
  none: /^(?!)/,
};

/**
 * `listed` are those that the user wants it to have all the same, by their names; `keys` those that the user says hold a
 * key, whatever they are called.
 */
export function programEnvironment(
  env: Environment,
  family: Family,
  listed: readonly string[] = [],
  keys: readonly string[] = [],
): Environment {
  const has = (name: string) => !isSecret(name, keys) || OWN[family].test(name) || listed.includes(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => has(name)));
}

/** By what an ACP agent is started with; one that nobody knows may be any provider's. */
export function familyOf(command: readonly string[]): Family {
  const words = command.join(" ").toLowerCase();
  const found = (["claude", "codex", "gemini"] as const).filter((family) => words.includes(family));
  return found.length === 1 ? (found[0] ?? "any") : "any";
}
