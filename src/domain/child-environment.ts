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

/**
 * Variables with which Claude Code 2.1.325 tells its children about their session, and `CLAUDE_CODE_SSE_PORT`, with which
 * an editor tells Claude Code about itself. A Claude Code that inherits them considers itself part of that session: it
 * keeps no history, for example. The user's own settings, such as `CLAUDE_CODE_MAX_OUTPUT_TOKENS`, are not among them.
 */
const OUTER_CLAUDE_VARIABLES: ReadonlySet<string> = new Set([
  "CLAUDECODE",
  "CLAUDE_PID",
  "CLAUDE_CODE_BRIDGE_SESSION_ID",
  "CLAUDE_CODE_CHILD_SESSION",
  "CLAUDE_CODE_ENTRYPOINT",
  "CLAUDE_CODE_EXECPATH",
  "CLAUDE_CODE_SESSION_ATTENDED",
  "CLAUDE_CODE_SESSION_ID",
  "CLAUDE_CODE_SSE_PORT",
]);

/** Variables that turn colors on. Node prints a warning to stderr if one is set together with `NO_COLOR`. */
const COLOR_VARIABLES = ["FORCE_COLOR", "CLICOLOR_FORCE"];

export interface ChildEnvironmentOptions {
  /** Default: `none`, which is right for commands, git and MCP servers. */
  readonly needs?: CredentialOwner | undefined;
  /** Names of variables that the user passes to the child. Secrets of Rookery stay withheld. */
  readonly pass?: readonly string[] | undefined;
  /** Names of variables that contain a key although their names do not suggest it. */
  readonly keys?: readonly string[] | undefined;
}

/**
 * Returns the part of `env` that a child gets: everything except Rookery's own secrets, the credentials that it does not
 * need, and the variables of a Claude Code that runs Rookery. Idempotent, so it can be applied again right before a child
 * is started.
 */
export function childEnvironment(
  env: EnvironmentVariables,
  options: ChildEnvironmentOptions = {},
): EnvironmentVariables {
  const { needs = "none", pass = [], keys = [] } = options;
  const isPassed = (name: string, value: string | undefined): boolean => {
    if (isRookerySecret(name) || OUTER_CLAUDE_VARIABLES.has(name)) return false;
    if (isTelemetrySecret(name, value)) return pass.includes(name);
    if (pass.includes(name) || NEEDED[needs].test(name)) return true;
    return !keys.includes(name) && !isWithheldCredential(name, value);
  };
  return Object.fromEntries(Object.entries(env).filter(([name, value]) => isPassed(name, value)));
}

/**
 * Returns the environment of an agent's program: that of a child, with `NO_COLOR=1`, because its output is parsed and
 * kept, not shown on its terminal. If `options.pass` names a variable about colors, none of them is changed.
 */
export function programEnvironment(
  env: EnvironmentVariables,
  options: ChildEnvironmentOptions = {},
): EnvironmentVariables {
  const { pass = [] } = options;
  const childEnv = childEnvironment(env, options);
  if (["NO_COLOR", ...COLOR_VARIABLES].some((name) => pass.includes(name))) return childEnv;
  const plain = Object.entries(childEnv).filter(([name]) => !COLOR_VARIABLES.includes(name));
  return { ...Object.fromEntries(plain), NO_COLOR: "1" };
}

/** Removes Rookery's own secrets from its environment, so that they reach no child and no configuration. */
export function withoutRookerySecrets(env: EnvironmentVariables): EnvironmentVariables {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isRookerySecret(name)));
}
