/** Explains why Claude Code exited before it answered the handshake. */
import { messageOf, RookeryError } from "../../domain/index.ts";
import type { ProgramExit } from "../../programs/index.ts";
import { SessionLost, type ProgramStart } from "../program/index.ts";
import { LOGIN_FIX } from "./outcome.ts";

export interface FailedClaudeStart {
  readonly start: ProgramStart;
  /** Its last output on stdout and stderr. */
  readonly output: string;
  readonly exit: ProgramExit;
  readonly error: unknown;
}

export function explainClaudeExit({ start, output, exit, error }: FailedClaudeStart): Error {
  const { agent } = start.context;
  const said = [output, exit.stderr].filter((text) => text.trim() !== "").join("\n");
  if (start.native !== undefined && /no conversation found/i.test(said)) {
    return new SessionLost(`Claude Code has no session ${start.native.id} in this folder`);
  }
  if (/--permission-mode/.test(said) && /invalid/.test(said)) {
    const known = /choices are ([\w, ]+)/.exec(said)?.[1];
    const choice = known === undefined ? "" : `; valid modes: ${known}`;
    const message = `agent ${agent.name} has mode = "${agent.mode ?? ""}", which Claude Code does not support${choice}`;
    return new RookeryError("config_invalid", message);
  }
  if (/root\/sudo privileges/.test(said)) {
    const message = `agent ${agent.name} has mode = "${agent.mode ?? ""}", which Claude Code does not allow as root: use another mode or another user, or, inside a sandbox, set env = { IS_SANDBOX = "1" } under [agents.${agent.name}]`;
    return new RookeryError("config_invalid", message);
  }
  if (/please run \/login|not logged in/i.test(said)) {
    return new RookeryError("provider_auth", `Claude Code is not logged in: ${LOGIN_FIX}`);
  }
  const how = exit.signal === null ? `code ${exit.exitCode ?? "?"}` : exit.signal;
  const why = said.trim() || messageOf(error);
  return new RookeryError("agent_exited", `Claude Code exited with ${how} before it was ready: ${why}`);
}
