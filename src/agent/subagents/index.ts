/** The `delegate` tool: the built-in agent gives tasks to sub-agents, which run concurrently. */
import {
  childEnded,
  RookeryError,
  type Children,
  type SubagentLimits,
  type ToolContext,
  type ToolResult,
  type ToolSource,
  type TurnContext,
} from "../../domain/index.ts";
import { SubagentBudget } from "./subagent-budget.ts";
import { deriveChildId } from "./child-id.ts";
import {
  describeTasks,
  createDelegateSchema,
  parseTasks,
  describeDelegateTool,
  type SubagentTask,
} from "./task-input.ts";
import { formatChildProgress } from "./child-progress.ts";
import { createDelegateResult, type FinishedTask } from "./delegate-result.ts";
import { Semaphore } from "../semaphore.ts";

export const DELEGATE_TOOL_NAME = "delegate";

/** Maximum length of an agent name in an error message. */
const MAX_NAME_LENGTH = 60;

export interface SubagentsOptions {
  readonly sessionId: string;
  readonly agent: string;
  readonly children: Children;
  readonly limits: SubagentLimits;
  /** Returns the running turn, if any. */
  readonly turn: () => TurnContext | undefined;
}

export interface Subagents extends ToolSource, AsyncDisposable {
  /** Ends children that the turn started and that have not ended. After a crash their call may never be made again. */
  settle(turn: TurnContext): Promise<void>;
}

export function createSubagentTools(options: SubagentsOptions): Subagents {
  const { limits, children, agent } = options;
  const slots = new Semaphore(limits.maxRunning);
  const budget = new SubagentBudget(limits, () => options.turn()?.subagents?.().usage);
  const calling = new Set<Promise<unknown>>();
  const spec = {
    name: DELEGATE_TOOL_NAME,
    description: describeDelegateTool(limits, children.agents, agent),
    inputSchema: createDelegateSchema(),
    kind: "other" as const,
    readOnly: true, // it changes nothing itself, and children ask for their own permissions
    repeatable: true, // children are found again by their ids
    concurrent: true,
    timeoutMs: Infinity, // each child has its own time limits
  };
  return {
    id: "subagents",
    list: () => [spec],
    describe: ({ input }) => describeTasks(input),
    async call({ toolId, input }, context) {
      const tasks = parseTasks(input);
      if (typeof tasks === "string") return failedResult(tasks);
      const refusal = checkTasks(options, tasks);
      if (refusal !== undefined) return failedResult(refusal);
      const turn = options.turn();
      if (turn === undefined) return failedResult("sub-agents can be started only during a turn");
      const call = delegate({ ...options, slots, budget, turn, context, toolId }, tasks);
      calling.add(call);
      return call.finally(() => calling.delete(call));
    },
    settle: (turn) => settleUnfinished(children, turn),
    [Symbol.asyncDispose]: async () => {
      await Promise.allSettled(calling); // the end of the turn cancelled them
    },
  };
}

interface Delegation extends Omit<SubagentsOptions, "turn"> {
  readonly slots: Semaphore;
  readonly budget: SubagentBudget;
  readonly turn: TurnContext;
  readonly context: ToolContext;
  readonly toolId: string;
}

async function delegate(delegation: Delegation, tasks: readonly SubagentTask[]): Promise<ToolResult> {
  const { turn, context, sessionId, toolId, budget } = delegation;
  const planned = tasks.map((task, index) => {
    const id = deriveChildId({ sessionId, turnId: turn.turnId, toolId, index, task });
    return { task, id, index, started: turn.subagents?.().ofTurn.find(({ childSessionId }) => childSessionId === id) };
  });
  type PlannedTask = (typeof planned)[number];
  const run = async ({ task, id, started }: PlannedTask): Promise<FinishedTask> => {
    using _slot = await delegation.slots.acquire(context.signal);
    if (started === undefined) {
      const refusal = budget.refusal();
      if (refusal !== undefined) return { task, id: undefined, end: createLimitEnd(refusal) };
      await context.record({ type: "subagent.started", childSessionId: id, title: task.title, toolId });
    }
    const end = await runSubagent(delegation, { ...task, id, ended: started?.outcome });
    if (started?.outcome === undefined) {
      turn.log.record(...childEnded(id, end.outcome, end.usage));
      await turn.log.commit();
    }
    budget.removeChild(id); // its usage is in the log now
    return { task, id, end };
  };
  // Children that started before a crash had slots then, and get theirs first now.
  const startOrder = [...planned].sort((a, b) => Number(b.started !== undefined) - Number(a.started !== undefined));
  const runs = startOrder.map((one) => ({ index: one.index, ended: run(one) }));
  const settled = await Promise.allSettled(runs.map(({ ended }) => ended));
  const ends: FinishedTask[] = [];
  for (const [position, { index }] of runs.entries()) {
    const one = settled[position];
    if (one?.status === "rejected") throw one.reason;
    if (one !== undefined) ends[index] = one.value;
  }
  context.signal.throwIfAborted();
  return createDelegateResult(ends, budget.isUsedUp);
}

async function runSubagent(
  { children, turn, context, budget }: Delegation,
  child: SubagentTask & Pick<Parameters<Children["run"]>[0], "id" | "ended">,
): ReturnType<Children["run"]> {
  const signal = AbortSignal.any([context.signal, budget.signal]);
  const watcher = {
    saw: (event: Parameters<typeof formatChildProgress>[1]) => {
      budget.count(child.id, event);
      const line = formatChildProgress(child, event);
      if (line !== undefined) context.progress(line);
    },
    permit: turn.permit.bind(turn),
    ask: turn.ask.bind(turn),
  };
  const running = children.run({ ...child, permissions: turn.permissions }, { watcher, signal });
  return turn.pauseStallCheck === undefined ? running : turn.pauseStallCheck(running);
}

function checkTasks(
  { limits, children, agent: ownName }: SubagentsOptions,
  tasks: readonly SubagentTask[],
): string | undefined {
  if (tasks.length > limits.maxWidth) {
    const fix = `pass at most ${limits.maxWidth} in one call, and the rest in later calls`;
    return new RookeryError("subagent_limit", `${tasks.length} tasks are too many for one call: ${fix}`).message;
  }
  const unknown = tasks.find(
    ({ agent = ownName }) => agent !== ownName && !children.agents.some(({ name }) => name === agent),
  );
  if (unknown === undefined) return undefined;
  const names = [...new Set([ownName, ...children.agents.map(({ name }) => name)])].join(", ");
  const fix = `use one of ${names}, or omit \`agent\`; the user can add agents under [agents.NAME] in rookery.toml`;
  return `there is no agent "${truncateName(unknown.agent)}" to delegate to: ${fix}`;
}

function truncateName(name = ""): string {
  return name.slice(0, MAX_NAME_LENGTH).toWellFormed();
}

function failedResult(text: string): ToolResult {
  return { outcome: "failed", text };
}

function createLimitEnd(message: string): FinishedTask["end"] {
  return { outcome: { status: "failed", code: "subagent_limit", message }, text: "", usage: undefined };
}

async function settleUnfinished(children: Children, turn: TurnContext): Promise<void> {
  for (const { childSessionId, outcome } of turn.subagents?.().ofTurn ?? []) {
    if (outcome !== undefined) continue;
    const end = await children.settle(childSessionId);
    turn.log.record(...childEnded(childSessionId, end.outcome, end.usage));
  }
  await turn.log.commit();
}
