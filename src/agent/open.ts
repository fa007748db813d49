/** The built-in agent of one session: a model, its tools and its instructions. */
import type { AgentConnection, Budget, Capabilities } from "../domain/index.ts";
import type { Model } from "../providers/index.ts";
import type { AgentTools, Artifact } from "../tools/index.ts";
import { interpretTurn } from "./interpreter.ts";
import type { ModelPrice } from "./price.ts";
import { RETRY_LIMITS, type RetryLimits } from "./retry.ts";

export interface BuiltIn {
  readonly sessionId: string;
  readonly cwd: string;
  readonly model: Model;
  readonly system: string;
  readonly tools: Pick<AgentTools, "artifact">;
  readonly price: ModelPrice | undefined;
  /** Put in the environment of every child. */
  readonly marker: string;
  readonly retry?: RetryLimits | undefined;
  /** What people call it. */
  readonly name?: string | undefined;
  /** What it may use in this session. */
  readonly budget?: Budget | undefined;
  /** How long a tool may take, in seconds, by its name or the beginning of its name and a `*`. */
  readonly timeouts?: Readonly<Record<string, number>> | undefined;
}

/** With what it has to work with in one turn. */
export interface Acting extends BuiltIn {
  readonly retry: RetryLimits;
  readonly artifact: Artifact;
  /** Budgets that do not hold for the rest of this turn, by `raisedKey`. */
  readonly lifted: Set<string>;
  /** Of all calls so far. */
  readonly callIds: Set<string>;
  /** Called for whatever comes from the model. */
  readonly heard: () => void;
}

const CAPABILITIES: Capabilities = {
  resume: true,
  fork: true,
  permissions: true,
  questions: true,
  mcp: true,
  models: true,
  modes: false,
  interrupt: true,
  usage: true,
  cost: false, // computed from prices
};

export function openBuiltIn(agent: BuiltIn): AgentConnection {
  let heard = 0;
  const hear = (): void => {
    heard += 1;
  };
  return {
    resumesTurns: true,
    capabilities: CAPABILITIES,
    get heard() {
      return heard;
    },
    runTurn: (turn) => interpretTurn({ ...agent, retry: agent.retry ?? RETRY_LIMITS, heard: hear }, turn),
    [Symbol.asyncDispose]: () => Promise.resolve(), // whatever a turn opens, the turn closes
  };
}

export function systemPrompt(cwd: string, prompts: readonly string[], folders: readonly string[] = []): string {
  const beside = folders.length === 0 ? "" : `, but for ${folders.join(", ")}`;
  const own = [
    "You are a coding agent. You work in one folder and change it with the tools you are given.",
    `The working folder is ${cwd}. Paths are relative to it; the file tools reach nothing outside it${beside}.`,
    "Read a file before you change it. After a change, run what proves it. Say briefly what you did and what you saw.",
    "If a tool is refused, do not try to get the same effect in another way: say what you need and why.",
  ].join("\n");
  return [own, ...prompts].join("\n\n");
}
