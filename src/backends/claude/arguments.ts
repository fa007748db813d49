/** Builds the command line of Claude Code. */
import type { AgentSpec } from "../../domain/index.ts";
import type { ProgramStart } from "../program/index.ts";
import type { WrittenServers } from "./mcp-config.ts";

const STREAM_JSON_ARGUMENTS = [
  "--print",
  "--input-format=stream-json",
  "--output-format=stream-json",
  "--verbose",
  "--include-partial-messages",
  "--permission-prompt-tool=stdio",
];

export interface ClaudeArguments {
  /** The program and the user's own arguments. They precede and override these. */
  readonly program: readonly string[];
  readonly agent: Pick<AgentSpec, "model" | "mode">;
  readonly native: ProgramStart["native"];
  /** The session id. For a new session Rookery chooses it, so the log has it before the program starts. */
  readonly nativeId: string;
  readonly writtenServers: Pick<WrittenServers, "file" | "duplicates">;
}

export function buildClaudeArguments({ program, agent, native, nativeId, writtenServers }: ClaudeArguments): string[] {
  const { model, mode } = agent;
  // A second `--settings` replaces the first. The user's settings matter more than a duplicated server.
  const hasSettings = program.some((word) => word === "--settings" || word.startsWith("--settings="));
  const settings = JSON.stringify({ disabledMcpjsonServers: writtenServers.duplicates });
  return [
    ...STREAM_JSON_ARGUMENTS,
    ...buildSessionArguments(native, nativeId),
    ...(model === undefined ? [] : [`--model=${model}`]),
    ...(mode === undefined ? [] : [`--permission-mode=${mode}`]),
    ...(writtenServers.file === undefined ? [] : [`--mcp-config=${writtenServers.file}`]),
    ...(writtenServers.duplicates.length === 0 || hasSettings ? [] : [`--settings=${settings}`]),
  ];
}

function buildSessionArguments(native: ProgramStart["native"], nativeId: string): string[] {
  if (native === undefined) return [`--session-id=${nativeId}`];
  const resume = `--resume=${native.id}`;
  return native.as === "resume" ? [resume] : [resume, "--fork-session", `--session-id=${nativeId}`];
}
