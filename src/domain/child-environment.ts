/** Builds the environment of every child that Rookery starts. `docs/adr/0042-withhold-credentials-from-children.md` */
import type { EnvironmentVariables } from "../stdx/index.ts";
import { isRookerySecret, isTelemetrySecret, isWithheldCredential } from "./credentials.ts";

/** The vendor whose credentials a child needs. `any`: those of every provider. */
export type CredentialOwner = "claude" | "codex" | "gemini" | "any" | "none";

/** Claude Code also reaches its models through Bedrock, Vertex AI and Azure (2.1.325). */
const NEEDED: Readonly<Record<CredentialOwner, RegExp>> = {
  claude: /^(ANTHROPIC_|CLAUDE_|AWS_|GOOGLE_APPLICATION_CREDENTIALS$|AZURE_CLIENT_)/i,
  codex: /^(OPENAI|CODEX|AZURE_OPENAI)_/i,
  gemini: /^(GEMINI|GOOGLE)_/i,
  any: /^/,
  none: /^(?!)/,
};

export interface ChildEnvironmentOptions {
  /** Default: `none`, which is right for commands, git and MCP servers. */
  readonly needs?: CredentialOwner | undefined;
  /** Names of variables that the user passes to the child. Secrets of Rookery stay withheld. */
  readonly pass?: readonly string[] | undefined;
  /** Names of variables that contain a key although their names do not suggest it. */
  readonly keys?: readonly string[] | undefined;
}

/**
 * Returns the part of `env` that a child gets: everything except Rookery's own secrets and the credentials that it does
 * not need. Idempotent, so it can be applied again right before a child is started.
 */
export function childEnvironment(
  env: EnvironmentVariables,
  options: ChildEnvironmentOptions = {},
): EnvironmentVariables {
  const { needs = "none", pass = [], keys = [] } = options;
  const isPassed = (name: string, value: string | undefined): boolean => {
    if (isRookerySecret(name)) return false;
    if (isTelemetrySecret(name, value)) return pass.includes(name);
    if (pass.includes(name) || NEEDED[needs].test(name)) return true;
    return !keys.includes(name) && !isWithheldCredential(name, value);
  };
  return Object.fromEntries(Object.entries(env).filter(([name, value]) => isPassed(name, value)));
}

/** Removes Rookery's own secrets from its environment, so that they reach no child and no configuration. */
export function withoutRookerySecrets(env: EnvironmentVariables): EnvironmentVariables {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isRookerySecret(name)));
}
