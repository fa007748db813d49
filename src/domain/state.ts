/** What a session is now: a fold over its events, and nothing else may change it. */
import { budgetsAfter, NO_BUDGETS, raisedKey, type SessionBudgets } from "./budget.ts";
import { unknownEvent } from "./errors.ts";
import type { EventOf, InputPart, PermissionPolicy, SessionEvent, ToolKind, TurnOutcome } from "./events.ts";
import { addUsage, NO_USAGE, type Usage } from "./usage.ts";
import { NO_WORK, workAfter, type WorkState } from "./work.ts";

/** `copying`: it is being made from another, or whoever made it died. `parked`: its turn waits for a time. */
export type SessionStatus = "idle" | "running" | "waiting" | "closed" | "copying" | "parked";

export interface SessionState {
  readonly id: string;
  readonly head: number;
  readonly agent: string;
  readonly backend: string;
  readonly model: string | undefined;
  readonly cwd: string;
  readonly title: string | undefined;
  readonly parent: string | undefined;
  /** How deep it is below the session that a person began; 0 is that one, or a fork. */
  readonly depth: number;
  readonly task: string | undefined;
  /** What the agent's program calls this session, if it has sessions of its own. */
  readonly nativeId: string | undefined;
  /** What the program called the session that this one was forked from, until it has one for this. */
  readonly forkOf: string | undefined;
  readonly permissions: PermissionPolicy;
  /** What each agent had when it last drove the session, by their names. */
  readonly agents: Readonly<
    Record<string, { readonly backend: string; readonly model: string | undefined; readonly modelChosen?: boolean }>
  >;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly closed: boolean;
  readonly copying: boolean;
  readonly turns: number;
  readonly turn: RunningTurn | undefined;
  readonly lastOutcome: TurnOutcome | undefined;
  /** Whose outcome that is. */
  readonly lastTurnId: string | undefined;
  readonly queue: readonly QueuedInput[];
  /** Requests of the running turn, answered or not, until it ends or is parked; and those that no turn made, until they are answered. */
  readonly requests: readonly Request[];
  readonly requestCount: number;
  /** Which tools a person wants or does not, by name. */
  readonly toolChoices: Readonly<Record<string, boolean>>;
  /** What plugins want to find again, by their ids. */
  readonly pluginStates: Readonly<Record<string, { readonly version: string; readonly state: unknown }>>;
  /** Tools that a person allowed for the rest of the session. */
  readonly grants: readonly string[];
  /** Those of the running turn, until it ends; and those that no turn began. */
  readonly tools: readonly RunningTool[];
  /** Those that the running turn began, ended or not, until it ends. */
  readonly subagents: readonly Subagent[];
  readonly usage: Usage;
  /** The part of it that children have used. */
  readonly usageOfSubagents: Usage;
  /** The same by the names of the agents. */
  readonly usageByAgent: Readonly<Record<string, Usage>>;
  readonly budgets: SessionBudgets;
  readonly work: WorkState;
}

export interface RunningTurn {
  readonly id: string;
  readonly startedSeq: number;
  readonly startedAt: string;
  readonly input: readonly InputPart[];
  /** Waits until then. */
  readonly parkedUntil: string | undefined;
  /** How often it was parked. */
  readonly parks: number;
  readonly usage: Usage;
}

export interface QueuedInput {
  readonly inputId: string;
  readonly input: readonly InputPart[];
  readonly deliver: "steer" | "follow_up";
}

export interface Request {
  readonly requestId: string;
  readonly turnId: string | undefined;
  readonly toolId: string | undefined;
  readonly tool: string | undefined;
  readonly title: string;
  readonly answer: EventOf<"permission.resolved"> | EventOf<"question.answered"> | undefined;
}

export interface RunningTool {
  readonly toolId: string;
  readonly turnId: string | undefined;
  readonly name: string;
  readonly kind: ToolKind;
}

/** A child that the session's agent began. */
export interface Subagent {
  readonly childSessionId: string;
  readonly turnId: string | undefined;
  /** Undefined while it runs. */
  readonly outcome: TurnOutcome | undefined;
}

export function emptyState(id: string): SessionState {
  return {
    id,
    head: 0,
    agent: "",
    backend: "",
    model: undefined,
    cwd: "",
    title: undefined,
    parent: undefined,
    depth: 0,
    task: undefined,
    nativeId: undefined,
    forkOf: undefined,
    permissions: "ask",
    agents: {},
    createdAt: "",
    updatedAt: "",
    closed: false,
    copying: false,
    turns: 0,
    turn: undefined,
    lastOutcome: undefined,
    lastTurnId: undefined,
    queue: [],
    requests: [],
    requestCount: 0,
    toolChoices: {},
    pluginStates: {},
    grants: [],
    tools: [],
    subagents: [],
    usage: NO_USAGE,
    usageOfSubagents: NO_USAGE,
    usageByAgent: {},
    budgets: NO_BUDGETS,
    work: NO_WORK,
  };
}

export function statusOf(state: SessionState): SessionStatus {
  if (state.copying) return "copying";
  if (state.closed) return "closed";
  if (state.turn === undefined) return "idle";
  if (state.turn.parkedUntil !== undefined) return "parked";
  return state.requests.some(isWaitedForByTurn) ? "waiting" : "running";
}

export function applyAll(state: SessionState, events: readonly SessionEvent[]): SessionState {
  return events.reduce(apply, state);
}

/** Throws `log_corrupt` if the event is not one that this program knows: it was damaged in the file. */
export function apply(before: SessionState, event: SessionEvent): SessionState {
  try {
    const after = changed(before, event);
    const works = statusOf(after) === "running";
    const work = workAfter(before.work, event, { works, lastAt: before.updatedAt });
    return work === before.work ? after : { ...after, work };
  } catch (cause) {
    throw unknownEvent(`event ${event.seq} of session ${event.sessionId}`, cause);
  }
}

function changed(before: SessionState, event: SessionEvent): SessionState {
  const state = { ...before, head: event.seq, updatedAt: event.at };
  switch (event.type) {
    case "session.opened":
      return {
        ...state,
        agent: event.agent,
        backend: event.backend,
        model: event.model,
        cwd: event.cwd,
        title: event.title ?? state.title,
        parent: event.parent ?? state.parent,
        depth: event.depth ?? state.depth,
        task: event.task ?? state.task,
        nativeId: event.backend === state.backend ? state.nativeId : undefined,
        forkOf: event.forkOf ?? (event.backend === state.backend ? state.forkOf : undefined),
        permissions: event.permissions,
        agents: {
          ...state.agents,
          [event.agent]: {
            backend: event.backend,
            model: event.model,
            ...(event.modelChosen === true && { modelChosen: true }),
          },
        },
        createdAt: state.createdAt || event.at,
        copying: event.copying ?? false,
      };
    case "session.closed":
      return { ...state, closed: true, queue: [], requests: state.requests.filter((request) => !isOfNoTurn(request)) };
    case "agent.switched":
      return { ...state, agent: event.to, nativeId: undefined, forkOf: undefined };
    case "agent.connected":
      return { ...state, nativeId: event.nativeId ?? state.nativeId, forkOf: undefined };
    case "turn.started":
      return {
        ...state,
        turns: state.turns + 1,
        turn: { id: event.turnId ?? "", startedSeq: event.seq, startedAt: event.at, input: event.input, ...FRESH },
        queue: state.queue.filter((queued) => queued.inputId !== event.inputId),
      };
    case "turn.parked":
      return inTurn(
        { ...state, requests: state.requests.filter(isOfNoTurn) }, // the agent begins anew, and may name its calls as before
        (turn) => ({ parkedUntil: event.until, parks: turn.parks + 1 }),
      );
    case "turn.continued":
      return inTurn(state, () => ({ parkedUntil: undefined }));
    case "turn.ended":
      return {
        ...state,
        turn: undefined,
        lastOutcome: event.outcome,
        lastTurnId: event.turnId,
        requests: state.requests.filter(isOfNoTurn),
        tools: state.tools.filter(isOfNoTurn),
        subagents: [],
      };
    case "input.queued":
      return { ...state, queue: [...state.queue, queuedInput(event)] };
    case "input.delivered":
      return { ...state, queue: state.queue.filter((queued) => queued.inputId !== event.inputId) };
    case "conversation.replaced": // what waited was said to the old one, and a program's own session is of it
      return { ...state, queue: [], nativeId: undefined, forkOf: undefined };
    case "tool.started":
      return { ...state, tools: [...state.tools, startedTool(event)] };
    case "tool.ended":
      return { ...state, tools: state.tools.filter((tool) => tool.toolId !== event.toolId) };
    case "permission.requested":
      return asked(state, event, { toolId: event.toolId, tool: event.tool, title: event.title });
    case "question.asked":
      return asked(state, event, { toolId: undefined, tool: undefined, title: event.message });
    case "permission.resolved":
      return answered({ ...state, grants: grantsAfter(state, event) }, event);
    case "question.answered":
      return answered(state, event);
    case "tool.chosen":
      return { ...state, toolChoices: { ...state.toolChoices, [event.tool]: event.enabled } };
    case "plugin.saved": {
      const saved = { version: event.version, state: event.state };
      return { ...state, pluginStates: { ...state.pluginStates, [event.plugin]: saved } };
    }
    case "usage.reported": {
      const earlier = Object.hasOwn(state.usageByAgent, event.agent) ? state.usageByAgent[event.agent] : undefined;
      const ofAgent = addUsage(earlier ?? NO_USAGE, event); // an agent may be called "constructor"
      const usage = addUsage(state.usage, event);
      const usageByAgent = { ...state.usageByAgent, [event.agent]: ofAgent };
      const isOfChild = event.childSessionId !== undefined;
      const usageOfSubagents = isOfChild ? addUsage(state.usageOfSubagents, event) : state.usageOfSubagents;
      return inTurn(
        { ...state, usage, usageByAgent, usageOfSubagents },
        (turn) => (turn.id === event.turnId ? { usage: addUsage(turn.usage, event) } : {}), // else of another agent beside it
      );
    }
    case "budget.set":
      return { ...state, budgets: budgetsAfter(state.budgets, event) };
    case "budget.raised": {
      const raised = { ...state.budgets.raised, [raisedKey(event.of, event.unit, event.agent)]: event.to };
      return { ...state, budgets: { ...state.budgets, raised } };
    }
    case "subagent.started": {
      const { childSessionId, turnId } = event;
      return { ...state, subagents: [...state.subagents, { childSessionId, turnId, outcome: undefined }] };
    }
    case "subagent.ended":
      return { ...state, subagents: state.subagents.map((child) => endedChild(child, event)) };
    case "message.delta":
    case "message.completed":
    case "thought.delta":
    case "tool.updated":
    case "plan.updated":
    case "mcp.status":
    case "process.started":
    case "process.exited":
    case "output.text":
    case "agent.raw":
    case "context.compacted":
    case "limit.reached":
    case "notice":
      return state;
  }
}

/** Of a turn that has just begun. */
const FRESH = { parkedUntil: undefined, parks: 0, usage: NO_USAGE };

function inTurn(state: SessionState, change: (turn: RunningTurn) => Partial<RunningTurn>): SessionState {
  return state.turn === undefined ? state : { ...state, turn: { ...state.turn, ...change(state.turn) } };
}

function asked(
  state: SessionState,
  event: EventOf<"permission.requested"> | EventOf<"question.asked">,
  about: Pick<Request, "toolId" | "tool" | "title">,
): SessionState {
  const request = { requestId: event.requestId, turnId: event.turnId, answer: undefined, ...about };
  return { ...state, requests: [...state.requests, request], requestCount: state.requestCount + 1 };
}

function queuedInput({ inputId, input, deliver = "follow_up" }: EventOf<"input.queued">): QueuedInput {
  return { inputId, input, deliver };
}

function startedTool({ toolId, turnId, name, kind }: EventOf<"tool.started">): RunningTool {
  return { toolId, turnId, name, kind };
}

function endedChild(child: Subagent, { childSessionId, outcome }: EventOf<"subagent.ended">): Subagent {
  return child.childSessionId === childSessionId && child.outcome === undefined ? { ...child, outcome } : child;
}

function isOfNoTurn({ turnId }: Request | RunningTool): boolean {
  return turnId === undefined;
}

function isWaitedForByTurn(request: Request): boolean {
  return request.answer === undefined && !isOfNoTurn(request);
}

/** The first answer counts; a later one to the same request changes nothing. */
function answered(
  state: SessionState,
  event: EventOf<"permission.resolved"> | EventOf<"question.answered">,
): SessionState {
  const requests = state.requests.flatMap((request) => {
    if (request.requestId !== event.requestId || request.answer !== undefined) return [request];
    return isOfNoTurn(request) ? [] : [{ ...request, answer: event }];
  });
  return { ...state, requests };
}

function grantsAfter(state: SessionState, event: EventOf<"permission.resolved">): readonly string[] {
  if (event.decision !== "allow" || event.scope !== "session") return state.grants;
  const request = state.requests.find(({ requestId, answer }) => requestId === event.requestId && answer === undefined);
  if (request?.tool === undefined || state.grants.includes(request.tool)) return state.grants;
  return [...state.grants, request.tool];
}
