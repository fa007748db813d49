/** The agent that drives a session, and how another one takes its place. */
import {
  RookeryError,
  messageOf,
  type AgentConnection,
  type EventBody,
  type Overlay,
  type PermissionPolicy,
  type SessionDesk,
  type SessionState,
} from "../domain/index.ts";
import { patienceOf, type Patience } from "./patience.ts";

/** What a session is driven with. */
export type Settings = Pick<SessionState, "agent" | "backend" | "model" | "cwd" | "permissions">;

/** What someone wants otherwise than it was. */
export interface Changes {
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  readonly cwd?: string | undefined;
  readonly permissions?: PermissionPolicy | undefined;
}

/** Settings that can be had, and the way to the agent that goes with them. */
export interface Prepared {
  readonly settings: Settings;
  readonly connect: () => Promise<AgentConnection>;
  /** How long its agent is waited for. */
  readonly patience?: Parameters<typeof patienceOf>[0];
}

/** Finds what is wanted; a new session is empty but for its id. Rejects in words where something is missing. */
export type Prepare = (state: SessionState, changes: Changes) => Promise<Prepared>;

export class Driver implements AsyncDisposable {
  readonly #prepare: Prepare;
  #connection: AgentConnection | undefined;
  #patience: Patience;
  #missing: unknown;
  #desk: SessionDesk | undefined;
  #overlay: Overlay | undefined;

  private constructor(prepare: Prepare, connection: AgentConnection, { patience }: Prepared) {
    this.#prepare = prepare;
    this.#connection = connection;
    this.#patience = patienceOf(patience);
  }

  static async connect(prepare: Prepare, prepared: Prepared): Promise<Driver> {
    return new Driver(prepare, await prepared.connect(), prepared);
  }

  /** With the agent that drives. */
  get patience(): Patience {
    return this.#patience;
  }

  /** Whoever drives the session has this from here on, and whoever comes after. */
  attach(desk: SessionDesk): void {
    this.#desk = desk;
    this.#connection?.attach?.(desk);
  }

  /** It belongs to the session: whoever comes after has it too. Throws `tool_conflict`, and changes nothing then. */
  setOverlay(overlay: Overlay): void {
    this.connection.tools?.setOverlay(overlay);
    this.#overlay = overlay;
  }

  /** It was lost in a change that failed, and could not be had again. */
  get isLost(): boolean {
    return this.#connection === undefined;
  }

  /** Throws `agent_unavailable` where it is lost. */
  get connection(): AgentConnection {
    if (this.#connection !== undefined) return this.#connection;
    throw new RookeryError(
      "agent_unavailable",
      `the agent could not be started again (${messageOf(this.#missing)}): open the session again`,
      { cause: this.#missing },
    );
  }

  /** Resolves with what is to be recorded. Where it rejects, the session goes on as it was. */
  async change(state: SessionState, changes: Changes): Promise<Settings> {
    const { settings, connect, patience } = await this.#prepare(state, changes);
    if (!isSameAgent(state, settings)) {
      const next = await this.#ready(connect);
      await this.#drop();
      this.#use(next);
    } else if (settings.model !== state.model || settings.cwd !== state.cwd) {
      await this.#drop(); // first: a program's own session is not to be open twice
      try {
        this.#use(await this.#ready(connect));
      } catch (error) {
        await this.#goBack(state);
        throw error;
      }
    }
    this.#patience = patienceOf(patience);
    return settings;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.[Symbol.asyncDispose]();
  }

  /** With the overlay, or not at all. */
  async #ready(connect: Prepared["connect"]): Promise<AgentConnection> {
    const connection = await connect();
    try {
      if (this.#overlay !== undefined) connection.tools?.setOverlay(this.#overlay);
      return connection;
    } catch (error) {
      await Promise.allSettled([connection[Symbol.asyncDispose]()]);
      throw error;
    }
  }

  #use(connection: AgentConnection): void {
    this.#connection = connection;
    if (this.#desk !== undefined) connection.attach?.(this.#desk);
  }

  /** What cannot be ended now is found by its marker later, and is no reason to stay with it. */
  async #drop(): Promise<void> {
    await this[Symbol.asyncDispose]().catch(() => undefined);
  }

  async #goBack(state: SessionState): Promise<void> {
    try {
      const { connect } = await this.#prepare(state, {});
      this.#use(await this.#ready(connect));
    } catch (error) {
      this.#missing = error;
    }
  }
}

/** Does it know what was said before, and may it go on with a turn that was begun before? */
export function isSameAgent(before: Settings, after: Settings): boolean {
  return before.agent === after.agent && before.backend === after.backend;
}

/** What is recorded when a session goes on with other settings: nothing where they are the same. */
export function changeEvents(before: Settings, after: Settings): EventBody[] {
  const { backend, model, cwd, permissions } = after;
  const others = backend !== before.backend || model !== before.model || cwd !== before.cwd;
  const switched = after.agent !== before.agent;
  if (!switched && !others && permissions === before.permissions) return [];
  return [
    ...(switched ? [{ type: "agent.switched" as const, from: before.agent, to: after.agent }] : []),
    { type: "session.opened", reopened: true, backend, model, cwd, permissions },
  ];
}
