/** Opens the built-in agent of one session: a model, its tools and its instructions. */
import { ALL_CAPABILITIES, type AgentConnection, type Capabilities } from "../domain/index.ts";
import { interpretTurn } from "./interpreter.ts";
import { RETRY_LIMITS } from "./retry.ts";
import type { BuiltInAgentOptions } from "./turn-agent.ts";

/** Rookery computes the cost from prices. */
const CAPABILITIES: Capabilities = { ...ALL_CAPABILITIES, modes: false, cost: false };

export function openBuiltInAgent(agent: BuiltInAgentOptions): AgentConnection {
  let activityCount = 0;
  const onModelOutput = (): void => {
    activityCount += 1;
  };
  return {
    resumesTurns: true,
    capabilities: CAPABILITIES,
    get activityCount() {
      return activityCount;
    },
    runTurn: (turn) => interpretTurn({ ...agent, retry: agent.retry ?? RETRY_LIMITS, onModelOutput }, turn),
    [Symbol.asyncDispose]: () => Promise.resolve(), // each turn closes what it opens
  };
}

/** Puts the built-in instructions before the configured prompts. `folders` are allowed besides `cwd`. */
export function createSystemPrompt(cwd: string, prompts: readonly string[], folders: readonly string[] = []): string {
  const allowed = ["this directory", ...folders].join(", ");
  const instructions = [
    "You are a coding agent. You work in one directory and change it with your tools.",
    `The working directory is ${cwd}. Relative paths start there. The file tools can access only ${allowed}.`,
    "Read a file before you change it. After a change, run a command that verifies it. Briefly say what you did and what you observed.",
    "If a tool call is denied, do not try to get the same effect in another way. Say what you need and why.",
  ].join("\n");
  return [instructions, ...prompts].join("\n\n");
}
