/** The connection of a registered backend, with everything that it returns checked. */
import {
  NO_CAPABILITIES,
  RookeryError,
  isRookeryError,
  messageOf,
  type AgentConnection,
  type BackendContext,
  type BetweenTurnsContext,
  type Capabilities,
  type LimitReached,
  type OfferedCommand,
  type SessionState,
  type SessionTools,
  type TurnContext,
  type TurnOutcome,
} from "../../domain/index.ts";
import { settlesWithin } from "../../stdx/index.ts";
import type { Equipment } from "../equipment.ts";
import { ConversationMemory } from "../memory.ts";
import { checkedBetweenTurns, checkedTurn } from "./checked-contexts.ts";

export interface RegisteredConnectionOptions {
  /** The name of the backend. */
  readonly backend: string;
  readonly context: Pick<BackendContext, "sessionId" | "agent">;
  /** Undefined if the backend uses none of Rookery's tools. The connection owns it. */
  readonly equipment: Equipment | undefined;
  readonly timeLimits: { readonly closeMs: number };
}

type Method = (...args: readonly unknown[]) => unknown;

const METHODS = ["runTurn", "attach", "returned", "forget"] as const;
/** A program has fewer; a longer list is a mistake. */
const MAX_LISTED = 1_000;

export class RegisteredConnection implements AgentConnection {
  readonly resumesTurns: boolean;
  readonly #raw: Partial<AgentConnection>;
  readonly #methods: ReadonlyMap<string, Method>;
  readonly #options: RegisteredConnectionOptions;
  readonly #memory: ConversationMemory;
  #closing: Promise<void> | undefined;

  /** Throws if the value is not a connection. */
  constructor(raw: unknown, options: RegisteredConnectionOptions) {
    if (typeof raw !== "object" || raw === null) throw new Error("open() did not return a connection");
    this.#raw = raw;
    this.#options = options;
    this.#memory = new ConversationMemory(options.context.agent.name);
    this.#methods = readMethods(raw);
    this.resumesTurns = this.#raw.resumesTurns === true;
  }

  get capabilities(): Capabilities {
    const reported = readSafely(() => this.#raw.capabilities) as Readonly<Record<string, unknown>> | undefined;
    const known = Object.keys(NO_CAPABILITIES).map((name): [string, boolean] => [
      name,
      readSafely(() => reported?.[name]) === true,
    ]);
    return Object.fromEntries(known) as unknown as Capabilities;
  }

  get childMarker(): string | undefined {
    const marker = readSafely(() => this.#raw.childMarker);
    return typeof marker === "string" ? marker : undefined;
  }

  get activityCount(): number | undefined {
    const count = readSafely(() => this.#raw.activityCount);
    return typeof count === "number" ? count : undefined;
  }

  get tools(): SessionTools | undefined {
    return this.#options.equipment?.sessionTools;
  }

  get commands(): readonly OfferedCommand[] | undefined {
    return readList(() => this.#raw.commands)?.flatMap((command) => {
      const { name, description, hint } = (command ?? {}) as { readonly [Key in keyof OfferedCommand]?: unknown };
      if (typeof name !== "string" || typeof description !== "string") return [];
      return [{ name, description, ...(typeof hint === "string" && { hint }) }];
    });
  }

  get models(): readonly string[] | undefined {
    return readList(() => this.#raw.models)?.filter((model): model is string => typeof model === "string");
  }

  attach(betweenTurns: BetweenTurnsContext): void {
    this.#options.equipment?.attach(betweenTurns);
    const checked = checkedBetweenTurns(betweenTurns, this.#options.backend);
    try {
      this.#methods.get("attach")?.(checked);
    } catch (error) {
      const { message } = this.#failure("attach()", error);
      betweenTurns.record({ type: "notice", level: "warning", code: "agent_output_invalid", message });
    }
  }

  async returned(saved: Pick<SessionState, "toolChoices" | "pluginStates">): Promise<void> {
    await this.#call("returned", saved);
    await this.#options.equipment?.restore(saved);
    this.#memory.markMissed();
  }

  async forget(): Promise<void> {
    this.#memory.forget();
    await this.#call("forget");
  }

  async runTurn(turn: TurnContext): Promise<TurnOutcome | LimitReached> {
    const { equipment } = this.#options;
    return equipment === undefined ? this.#run(turn) : equipment.turn(turn, () => this.#run(turn));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #run(turn: TurnContext): Promise<TurnOutcome | LimitReached> {
    const { backend, context } = this.#options;
    let isDelivered = false;
    const deliver = () => {
      if (!isDelivered) this.#memory.markDelivered(turn);
      isDelivered = true;
    };
    const missedConversation: NonNullable<TurnContext["missedConversation"]> = async ({ resumed = false } = {}) => {
      if (isDelivered) return undefined;
      const { before } = await this.#memory.recall(turn, resumed ? "resumed" : "new");
      deliver();
      return before;
    };
    try {
      const checked = checkedTurn(turn, { backend, sessionId: context.sessionId, missedConversation });
      return (await this.#methods.get("runTurn")?.(checked)) as TurnOutcome; // the session checks the outcome
    } catch (error) {
      if (turn.signal.aborted) return { status: "cancelled" };
      throw this.#failure("runTurn()", error);
    } finally {
      deliver();
    }
  }

  async #close(): Promise<void> {
    try {
      await this.#call(Symbol.asyncDispose.toString());
    } finally {
      await this.#options.equipment?.[Symbol.asyncDispose]();
    }
  }

  /** Rejects with `agent_failed` if the method throws or takes too long. */
  async #call(name: string, ...args: readonly unknown[]): Promise<void> {
    const method = this.#methods.get(name);
    if (method === undefined) return;
    const { closeMs } = this.#options.timeLimits;
    const called = (async () => method(...args))();
    const isDone = await settlesWithin(closeMs, called).catch((error: unknown) => {
      throw this.#failure(`${name}()`, error);
    });
    if (!isDone) throw this.#failure(`${name}()`, new Error(`it did not finish within ${closeMs / 1_000} s`));
  }

  /** The backend's own `RookeryError` stays as it is: it has a code that the caller can act on. */
  #failure(where: string, error: unknown): RookeryError {
    if (isRookeryError(error)) return error;
    const message = `the backend ${this.#options.backend} failed in ${where}: ${messageOf(error)}`;
    return new RookeryError("agent_failed", message, { cause: error });
  }
}

/** Reads each method once and binds it. Throws if a required one is missing. */
function readMethods(raw: object): ReadonlyMap<string, Method> {
  const methods = new Map<string, Method>();
  const fields = raw as Readonly<Record<PropertyKey, unknown>>;
  for (const name of [...METHODS, Symbol.asyncDispose] as const) {
    const method: unknown = fields[name];
    if (method === undefined && name !== "runTurn" && name !== Symbol.asyncDispose) continue;
    if (typeof method !== "function") throw new Error(`${String(name)} of the connection is not a function`);
    methods.set(String(name), (...args) => Reflect.apply(method, raw, args) as unknown);
  }
  return methods;
}

function readList(read: () => unknown): unknown[] | undefined {
  const list = readSafely(read);
  return Array.isArray(list) ? list.slice(0, MAX_LISTED) : undefined;
}

/** A getter of foreign code may throw. */
function readSafely(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return undefined;
  }
}
