/** The tool with which the built-in agent gives tasks to others, who work on them at the same time. */
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
import { Allowance } from "./allowance.ts";
import { childIdOf } from "./id.ts";
import { describeTasks, inputSchema, parseTasks, wordsFor, type Task } from "./input.ts";
import { progressOf } from "./progress.ts";
import { resultOf, type Ended } from "./result.ts";
import { Slots } from "./slots.ts";

export const DELEGATE = "delegate";

/** Of a name that is said back. */
const MOST_NAME = 60;

export interface SubagentsOptions {
  readonly sessionId: string;
  readonly agent: string;
  readonly children: Children;
  readonly limits: SubagentLimits;
  /** The turn that runs, if one does. */
  readonly turn: () => TurnContext | undefined;
}

export interface Subagents extends ToolSource, AsyncDisposable {
  /** Ends what the turn began and nobody ended: after a crash, its call may never be made again. */
  settle(turn: TurnContext): Promise<void>;
}

export function subagentTools(options: SubagentsOptions): Subagents {
  const { limits, children, agent } = options;
  const slots = new Slots(limits.maxRunning);
  const allowance = new Allowance(limits, () => options.turn()?.subagents?.().usage);
  const calling = new Set<Promise<unknown>>();
  const spec = {
    name: DELEGATE,
    description: wordsFor(limits, children.agents, agent),
    inputSchema: inputSchema(),
    kind: "other" as const,
    readOnly: true, // by itself it does nothing: what children do passes their own gates
    repeatable: true, // children are found again by their ids
    concurrent: true,
    timeoutMs: Infinity, // each child has its own clocks
  };
  return {
    id: "subagents",
    list: () => [spec],
    describe: ({ input }) => describeTasks(input),
    async call({ toolId, input }, context) {
      const tasks = parseTasks(input);
      if (typeof tasks === "string") return refused(tasks);
      const refusal = refusalOf(options, tasks);
      if (refusal !== undefined) return refused(refusal);
      const turn = options.turn();
      if (turn === undefined) return refused("sub-agents can be begun only within a turn");
      const call = delegate({ ...options, slots, allowance, turn, context, toolId }, tasks);
      calling.add(call);
      return call.finally(() => calling.delete(call));
    },
    settle: (turn) => settleLeft(children, turn),
    [Symbol.asyncDispose]: async () => {
      await Promise.allSettled(calling); // they were cancelled with their turn
    },
  };
}

interface Delegation extends Omit<SubagentsOptions, "turn"> {
  readonly slots: Slots;
  readonly allowance: Allowance;
  readonly turn: TurnContext;
  readonly context: ToolContext;
  readonly toolId: string;
}

async function delegate(of: Delegation, tasks: readonly Task[]): Promise<ToolResult> {
  const { turn, context, sessionId, toolId, allowance } = of;
  const wanted = tasks.map((task, index) => {
    const id = childIdOf({ sessionId, turnId: turn.turnId, toolId, index, task });
    return { task, id, index, begun: turn.subagents?.().ofTurn.find(({ childSessionId }) => childSessionId === id) };
  });
  type Wanted = (typeof wanted)[number];
  const run = async ({ task, id, begun }: Wanted): Promise<Ended> => {
    using _slot = await of.slots.take(context.signal);
    if (begun === undefined) {
      const refusal = allowance.refusal();
      if (refusal !== undefined) return { task, id: undefined, end: limited(refusal) };
      await context.record({ type: "subagent.started", childSessionId: id, title: task.title, toolId });
    }
    const end = await driven(of, { ...task, id, ended: begun?.outcome });
    if (begun?.outcome === undefined) {
      turn.log.record(...childEnded(id, end.outcome, end.usage));
      await turn.log.commit();
    }
    allowance.settled(id); // what it used is in the log
    return { task, id, end };
  };
  // Those that were begun before a crash had their places then, and have them first now.
  const inTurn = [...wanted].sort((a, b) => Number(b.begun !== undefined) - Number(a.begun !== undefined));
  const runs = inTurn.map((one) => ({ index: one.index, ended: run(one) }));
  const settled = await Promise.allSettled(runs.map(({ ended }) => ended));
  const ends: Ended[] = [];
  for (const [place, { index }] of runs.entries()) {
    const one = settled[place];
    if (one?.status === "rejected") throw one.reason;
    if (one !== undefined) ends[index] = one.value;
  }
  context.signal.throwIfAborted();
  return resultOf(ends, allowance.wasMet);
}

async function driven(
  { children, turn, context, allowance }: Delegation,
  child: Task & Pick<Parameters<Children["run"]>[0], "id" | "ended">,
): ReturnType<Children["run"]> {
  const signal = AbortSignal.any([context.signal, allowance.signal]);
  const watcher = {
    saw: (event: Parameters<typeof progressOf>[1]) => {
      allowance.count(child.id, event);
      const words = progressOf(child, event);
      if (words !== undefined) context.progress(words);
    },
    permit: turn.permit.bind(turn),
    ask: turn.ask.bind(turn),
  };
  const running = children.run({ ...child, permissions: turn.permissions }, watcher, signal);
  return turn.away === undefined ? running : turn.away(running);
}

function refusalOf({ limits, children, agent: own }: SubagentsOptions, tasks: readonly Task[]): string | undefined {
  if (tasks.length > limits.maxWidth) {
    const fix = `give at most ${limits.maxWidth} in one call, and the others in a later one`;
    return new RookeryError("subagent_limit", `${tasks.length} tasks are too many: ${fix}`).message;
  }
  const unknown = tasks.find(({ agent = own }) => agent !== own && !children.agents.some(({ name }) => name === agent));
  if (unknown === undefined) return undefined;
  const names = [...new Set([own, ...children.agents.map(({ name }) => name)])].join(", ");
  const fix = `use one of ${names}, or leave it out; the user can add others under [agents.NAME] in rookery.toml`;
  return `there is no agent "${shown(unknown.agent)}" that you may give tasks to: ${fix}`;
}

function shown(name = ""): string {
  return name.slice(0, MOST_NAME).toWellFormed();
}

function refused(text: string): ToolResult {
  return { outcome: "failed", text };
}

function limited(message: string): Ended["end"] {
  return { outcome: { status: "failed", code: "subagent_limit", message }, text: "", usage: undefined };
}

async function settleLeft(children: Children, turn: TurnContext): Promise<void> {
  for (const { childSessionId, outcome } of turn.subagents?.().ofTurn ?? []) {
    if (outcome !== undefined) continue;
    const end = await children.settle(childSessionId);
    turn.log.record(...childEnded(childSessionId, end.outcome, end.usage));
  }
  await turn.log.commit();
}
