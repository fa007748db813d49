/** Applies events to the state of a session, in time linear in the number of events, regardless of how much is open. */
import { budgetsAfter, raisedKey } from "./budget.ts";
import type { CommandGrant } from "./command-prefix.ts";
import { unknownEvent } from "./errors.ts";
import type { EventOf, SessionEvent } from "./events.ts";
import type { SessionStatus } from "./enums.ts";
import { KeyedList } from "./keyed-list.ts";
import {
  isOfNoTurn,
  isWaitedForByTurn,
  type QueuedInput,
  type Request,
  type RunningTool,
  type RunningTurn,
  type SessionState,
  type Subagent,
} from "./state.ts";
import { addUsage, NO_USAGE, type Usage } from "./usage.ts";
import { workAfter } from "./work.ts";

export function apply(before: SessionState, event: SessionEvent): SessionState {
  return applyAll(before, [event]);
}

export function applyAll(before: SessionState, events: readonly SessionEvent[]): SessionState {
  if (events.length === 0) return before;
  const fold = new SessionFold(before);
  for (const event of events) fold.add(event);
  return fold.state;
}

type Lists = Pick<SessionState, "queue" | "requests" | "tools" | "subagents">;
type Fields = { -readonly [Key in Exclude<keyof SessionState, keyof Lists>]: SessionState[Key] };
type AnswerEvent = EventOf<"permission.resolved"> | EventOf<"question.answered">;

/** Folds events into a state. Use it instead of `applyAll` to read a log page by page. */
export class SessionFold {
  readonly #fields: Fields;
  readonly #queue: KeyedList<QueuedInput>;
  readonly #requests: KeyedList<Request>;
  readonly #tools: KeyedList<RunningTool>;
  readonly #subagents: KeyedList<Subagent>;
  /** The number of requests that the turn waits for. */
  #waiting: number;

  constructor({ queue, requests, tools, subagents, ...fields }: SessionState) {
    this.#fields = fields;
    this.#queue = new KeyedList(queue, { keyOf: ({ inputId }) => inputId, isOpen: () => true });
    this.#requests = new KeyedList(requests, {
      keyOf: ({ requestId }) => requestId,
      isOpen: ({ answer }) => answer === undefined,
    });
    this.#tools = new KeyedList(tools, { keyOf: ({ toolId }) => toolId, isOpen: () => true });
    this.#subagents = new KeyedList(subagents, {
      keyOf: ({ childSessionId }) => childSessionId,
      isOpen: ({ outcome }) => outcome === undefined,
    });
    this.#waiting = requests.filter(isWaitedForByTurn).length;
  }

  get head(): number {
    return this.#fields.head;
  }

  get usage(): Usage {
    return this.#fields.usage;
  }

  get cwd(): string {
    return this.#fields.cwd;
  }

  /** The state after the events added so far. Later events do not change it. */
  get state(): SessionState {
    return {
      ...this.#fields,
      queue: this.#queue.toArray(),
      requests: this.#requests.toArray(),
      tools: this.#tools.toArray(),
      subagents: this.#subagents.toArray(),
    };
  }

  /** Throws `log_corrupt` if this version does not know the event. Do not use the fold after that. */
  add(event: SessionEvent): void {
    const fields = this.#fields;
    const lastAt = fields.updatedAt;
    fields.head = event.seq;
    fields.updatedAt = event.at;
    try {
      this.#change(event);
      fields.work = workAfter(fields.work, event, { works: this.#status() === "running", lastAt });
    } catch (cause) {
      throw unknownEvent(`event ${event.seq} of session ${event.sessionId}`, cause);
    }
  }

  /** Like `sessionStatus`, without scanning the requests. */
  #status(): SessionStatus {
    const { copying, closed, turn } = this.#fields;
    if (copying) return "copying";
    if (closed) return "closed";
    if (turn === undefined) return "idle";
    if (turn.parkedUntil !== undefined) return "parked";
    return this.#waiting > 0 ? "waiting" : "running";
  }

  #change(event: SessionEvent): void {
    const fields = this.#fields;
    switch (event.type) {
      case "session.opened":
        this.#open(event);
        break;
      case "session.closed":
        fields.closed = true;
        this.#queue.keep(() => false);
        this.#requests.keep((request) => !isOfNoTurn(request));
        break;
      case "agent.switched":
        fields.agent = event.to;
        fields.nativeId = undefined;
        fields.forkOf = undefined;
        break;
      case "agent.defined":
        fields.definitions = { ...fields.definitions, [event.definition.name]: event.definition };
        break;
      case "agent.connected":
        fields.nativeId = event.nativeId ?? fields.nativeId;
        fields.forkOf = undefined;
        break;
      case "turn.started":
        fields.turns += 1;
        fields.turn = {
          id: event.turnId ?? "",
          startedSeq: event.seq,
          startedAt: event.at,
          input: event.input,
          ...NEW_TURN,
        };
        if (event.inputId !== undefined) this.#queue.remove(event.inputId);
        break;
      case "turn.parked":
        this.#forgetRequestsOfTurn(); // the agent starts again, and may reuse the IDs of its calls
        this.#inTurn((turn) => ({ parkedUntil: event.until, parks: turn.parks + 1 }));
        break;
      case "turn.continued":
        this.#inTurn(() => ({ parkedUntil: undefined }));
        break;
      case "turn.cancel_requested":
        this.#inTurn((turn) => (turn.id === event.turnId ? { cancelRequested: true } : {}));
        break;
      case "turn.ended":
        fields.turn = undefined;
        fields.lastOutcome = event.outcome;
        fields.lastTurnId = event.turnId;
        this.#forgetRequestsOfTurn();
        this.#tools.keep(isOfNoTurn);
        this.#subagents.keep(() => false);
        break;
      case "input.queued": {
        const { inputId, input, deliver = "follow_up" } = event;
        this.#queue.add({ inputId, input, deliver });
        break;
      }
      case "input.delivered":
      case "input.withdrawn":
        this.#queue.remove(event.inputId);
        break;
      case "conversation.replaced": // queued inputs and the program's session belong to the old conversation
        this.#queue.keep(() => false);
        fields.nativeId = undefined;
        fields.forkOf = undefined;
        break;
      case "tool.started": {
        const { toolId, turnId, name, kind } = event;
        this.#tools.add({ toolId, turnId, name, kind });
        break;
      }
      case "tool.ended":
        this.#tools.remove(event.toolId);
        break;
      case "permission.requested":
        this.#ask(event, { toolId: event.toolId, tool: event.tool, title: event.title });
        break;
      case "question.asked":
        this.#ask(event, { toolId: undefined, tool: undefined, title: event.message });
        break;
      case "permission.resolved":
        this.#grant(event);
        this.#answer(event);
        break;
      case "question.answered":
        this.#answer(event);
        break;
      case "permission.revoked":
        this.#revoke(event);
        break;
      case "tool.chosen":
        fields.toolChoices = { ...fields.toolChoices, [event.tool]: event.enabled };
        break;
      case "plugin.saved": {
        const saved = { version: event.version, state: event.state };
        fields.pluginStates = { ...fields.pluginStates, [event.plugin]: saved };
        break;
      }
      case "usage.reported":
        this.#use(event);
        break;
      case "budget.set":
        fields.budgets = budgetsAfter(fields.budgets, event);
        break;
      case "budget.raised": {
        const raised = { ...fields.budgets.raised, [raisedKey(event.of, event.unit, event.agent)]: event.to };
        fields.budgets = { ...fields.budgets, raised };
        break;
      }
      case "subagent.started": {
        const { childSessionId, turnId } = event;
        this.#subagents.add({ childSessionId, turnId, outcome: undefined });
        break;
      }
      case "subagent.ended":
        this.#subagents.change(event.childSessionId, (child) => ({ ...child, outcome: event.outcome }));
        break;
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
        break;
      default:
        event satisfies never;
        throw new TypeError(`unknown type ${JSON.stringify((event as SessionEvent).type)}`);
    }
  }

  #open(event: EventOf<"session.opened">): void {
    const fields = this.#fields;
    const isSameBackend = event.backend === fields.backend;
    const { agent, backend, model } = event;
    const chosen = event.modelChosen === true && { modelChosen: true };
    fields.nativeId = isSameBackend ? fields.nativeId : undefined;
    fields.forkOf = event.forkOf ?? (isSameBackend ? fields.forkOf : undefined);
    fields.agent = agent;
    fields.backend = backend;
    fields.model = model;
    if (event.cwd !== fields.cwd) fields.commandGrants = []; // the same words run something else there
    fields.cwd = event.cwd;
    fields.title = event.title ?? fields.title;
    fields.parent = event.parent ?? fields.parent;
    fields.depth = event.depth ?? fields.depth;
    fields.task = event.task ?? fields.task;
    fields.permissions = event.permissions;
    fields.agents = { ...fields.agents, [agent]: { backend, model, ...chosen } };
    fields.createdAt = fields.createdAt || event.at;
    fields.copying = event.copying ?? false;
  }

  #use(event: EventOf<"usage.reported">): void {
    const fields = this.#fields;
    const { usageByAgent } = fields;
    const ofAgent = Object.hasOwn(usageByAgent, event.agent) ? usageByAgent[event.agent] : undefined; // the name may be "constructor"
    fields.usage = addUsage(fields.usage, event);
    fields.usageByAgent = { ...usageByAgent, [event.agent]: addUsage(ofAgent ?? NO_USAGE, event) };
    if (event.childSessionId !== undefined) fields.usageOfSubagents = addUsage(fields.usageOfSubagents, event);
    // Otherwise the usage belongs to another agent, outside of the turn.
    this.#inTurn((turn) => (turn.id === event.turnId ? { usage: addUsage(turn.usage, event) } : {}));
  }

  #inTurn(change: (turn: RunningTurn) => Partial<RunningTurn>): void {
    const { turn } = this.#fields;
    if (turn !== undefined) this.#fields.turn = { ...turn, ...change(turn) };
  }

  #ask(
    event: EventOf<"permission.requested"> | EventOf<"question.asked">,
    about: Pick<Request, "toolId" | "tool" | "title">,
  ): void {
    const request = { requestId: event.requestId, turnId: event.turnId, answer: undefined, ...about };
    this.#requests.add(request);
    this.#fields.requestCount += 1;
    if (isWaitedForByTurn(request)) this.#waiting += 1;
  }

  /** The first answer counts; a later one changes nothing. */
  #answer(event: AnswerEvent): void {
    this.#requests.change(event.requestId, (request) => {
      if (isOfNoTurn(request)) return undefined;
      this.#waiting -= 1;
      return { ...request, answer: event };
    });
  }

  #grant(event: EventOf<"permission.resolved">): void {
    if (event.decision !== "allow" || event.scope !== "session") return;
    const tool = this.#requests.find(event.requestId)?.tool;
    const { grants, commandGrants } = this.#fields;
    const { prefix } = event;
    if (tool === undefined) return;
    if (prefix === undefined) {
      if (!grants.includes(tool)) this.#fields.grants = [...grants, tool];
    } else if (!commandGrants.some((grant) => grant.tool === tool && grant.prefix === prefix)) {
      this.#fields.commandGrants = [...commandGrants, { tool, prefix }];
    }
  }

  /** Without a prefix, the agent asks again before any call of the tool. */
  #revoke({ tool, prefix }: EventOf<"permission.revoked">): void {
    const fields = this.#fields;
    const isRevoked = (grant: CommandGrant): boolean =>
      grant.tool === tool && (prefix === undefined || grant.prefix === prefix);
    fields.commandGrants = fields.commandGrants.filter((grant) => !isRevoked(grant));
    if (prefix === undefined) fields.grants = fields.grants.filter((each) => each !== tool);
  }

  #forgetRequestsOfTurn(): void {
    this.#requests.keep(isOfNoTurn);
    this.#waiting = 0;
  }
}

/** The fields of a new turn. */
const NEW_TURN = { parkedUntil: undefined, parks: 0, usage: NO_USAGE, cancelRequested: false };
