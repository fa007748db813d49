/** Builds the command line of Claude Code. */
import type { AgentSpec } from "../../domain/index.ts";
import type { Start } from "../program/index.ts";
import type { WrittenServers } from "./servers.ts";

const TWO_WAY = [
  "--print",
  "--input-format=stream-json",
  "--output-format=stream-json",
  "--verbose",
  "--include-partial-messages",
  "--permission-prompt-tool=stdio",
];

export interface ArgumentsOf {
  /** The program and the user's own arguments. They precede and override these. */
  readonly program: readonly string[];
  readonly agent: Pick<AgentSpec, "model" | "mode">;
  readonly native: Start["native"];
  /** The session id. For a new session Rookery chooses it, so the log has it before the program starts. */
  readonly nativeId: string;
  readonly given: Pick<WrittenServers, "file" | "twice">;
}

export function claudeArguments({ program, agent, native, nativeId, given }: ArgumentsOf): string[] {
  const { model, mode } = agent;
  // A second `--settings` replaces the first. The user's settings matter more than a duplicated server.
  const hasSettings = program.some((word) => word === "--settings" || word.startsWith("--settings="));
  const settings = JSON.stringify({ disabledMcpjsonServers: given.twice });
  return [
    ...TWO_WAY,
    ...sessionArguments(native, nativeId),
    ...(model === undefined ? [] : [`--model=${model}`]),
    ...(mode === undefined ? [] : [`--permission-mode=${mode}`]),
    ...(given.file === undefined ? [] : [`--mcp-config=${given.file}`]),
    ...(given.twice.length === 0 || hasSettings ? [] : [`--settings=${settings}`]),
  ];
}

function sessionArguments(native: Start["native"], nativeId: string): string[] {
  if (native === undefined) return [`--session-id=${nativeId}`];
  const resume = `--resume=${native.id}`;
  return native.as === "resume" ? [resume] : [resume, "--fork-session", `--session-id=${nativeId}`];
}
