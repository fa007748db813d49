/** Opens the session of `rookery run`, with everything that a person at the terminal sees while the agent starts. */
import type { OpenSessionOptions, Rookery } from "../../rookery.ts";
import type { Session } from "../../session/session.ts";
import { type Io, printNotice } from "../io.ts";
import { escapeInvisible } from "../sanitize.ts";
import { waitForAgentStart } from "./agent-start.ts";
import { withAgentSuggestions } from "./agent-suggestions.ts";
import { withTrustPrompt } from "./trust-prompt.ts";

export interface RunSessionOptions {
  readonly io: Io;
  readonly rookery: Rookery;
  readonly json: boolean;
  /** The working directory of the session. */
  readonly cwd: string;
  /** The name of the agent, for the spinner. */
  readonly agent: string | undefined;
  readonly session: OpenSessionOptions;
}

/**
 * Shows a spinner while the agent starts. Asks whether to trust the repository if the agent needs that. If the agent has no
 * key, the error names agents that are ready. Resolves with undefined after an interrupt.
 */
export async function openRunSession(options: RunSessionOptions): Promise<Session | undefined> {
  const { io, rookery, json, cwd, agent } = options;
  let untrusted: readonly string[] = [];
  const open = async (): Promise<Session> => {
    untrusted = await findUntrustedInstructions(io, cwd); // here, because interrupts are handled until the session is open
    return withAgentSuggestions({ env: io.env, cwd }, () => rookery.openSession(options.session));
  };
  const session = await waitForAgentStart({
    io,
    rookery,
    json,
    label: `starting ${agent ?? "the agent"}`,
    open: (signal, withSpinner) => withTrustPrompt({ io, cwd, signal }, () => withSpinner(open)),
  });
  if (session?.state.backend === "api" && !json) noteUntrustedInstructions(io, untrusted);
  return session;
}

async function findUntrustedInstructions(io: Io, cwd: string): Promise<readonly string[]> {
  const { readInstructions } = await import("../../config/instructions.ts");
  return (await readInstructions(cwd, io.env).catch(() => ({ untrusted: [] }))).untrusted;
}

/** Opening does not fail for them, because the agent can work without the instructions of the repository. */
function noteUntrustedInstructions(io: Io, untrusted: readonly string[]): void {
  if (untrusted.length === 0) return;
  const names = untrusted.map(escapeInvisible).join(", ");
  printNotice(io, `the agent does not get ${names} until you trust the repository; review it, then run: rookery trust`);
}
