/** The agent of a live session: holds the connection to it, and switches to another agent. */
import {
  RookeryError,
  messageOf,
  type AgentConnection,
  type Overlay,
  type BetweenTurnsContext,
  type SessionState,
} from "../domain/index.ts";
import { isSameAgent, type AgentSettings, type NamedChanges } from "./agent-settings.ts";
import { resolveTimeLimits, type TurnTimeLimits } from "./time-limits.ts";

/** Validated settings, and the function that connects to their agent. */
export interface PreparedAgent {
  readonly settings: AgentSettings;
  readonly connect: () => Promise<AgentConnection>;
  /** Time limits of its turns. */
  readonly timeLimits?: Parameters<typeof resolveTimeLimits>[0];
  /** A fingerprint of the rest of the configuration. A kept connection with another fingerprint is not reused. */
  readonly fingerprint?: string | undefined;
}

/**
 * Resolves changes to settings and an agent. A new session has no state except its ID. Rejects with a message that
 * names what is missing.
 */
export type PrepareAgent = (state: SessionState, changes: NamedChanges) => Promise<PreparedAgent>;

/**
 * Connections of agents that the session has switched away from. Each may be a running program; beyond this number, the
 * oldest is closed.
 */
const MAX_KEPT_CONNECTIONS = 4;

interface HeldConnection {
  readonly connection: AgentConnection;
  readonly prepared: PreparedAgent;
}

export class SessionAgent implements AsyncDisposable {
  readonly #prepare: PrepareAgent;
  #active: HeldConnection | undefined;
  /** Connections that can be switched back to, the oldest first. */
  readonly #kept: HeldConnection[] = [];
  #timeLimits: TurnTimeLimits;
  #startFailure: unknown;
  #contextFor: ((agent: string) => BetweenTurnsContext) | undefined;
  #overlay: Overlay | undefined;

  private constructor(prepare: PrepareAgent, connection: AgentConnection, prepared: PreparedAgent) {
    this.#prepare = prepare;
    this.#active = { connection, prepared };
    this.#timeLimits = resolveTimeLimits(prepared.timeLimits);
  }

  static async connect(prepare: PrepareAgent, prepared: PreparedAgent): Promise<SessionAgent> {
    return new SessionAgent(prepare, await prepared.connect(), prepared);
  }

  /** The time limits of the current agent. */
  get timeLimits(): TurnTimeLimits {
    return this.#timeLimits;
  }

  /** Gives every agent of the session, current or later, a context for the time between turns. */
  attach(contextFor: (agent: string) => BetweenTurnsContext): void {
    this.#contextFor = contextFor;
    if (this.#active !== undefined) this.#attachTo(this.#active);
  }

  /**
   * The overlay belongs to the session, so every later agent gets it too. Throws `tool_conflict` and changes nothing.
   */
  setOverlay(overlay: Overlay): void {
    this.connection.tools?.setOverlay(overlay);
    this.#overlay = overlay;
  }

  /** True if a failed change closed the agent and it could not be started again. */
  get isLost(): boolean {
    return this.#active === undefined;
  }

  /** Throws `agent_unavailable` if the agent is lost. */
  get connection(): AgentConnection {
    if (this.#active !== undefined) return this.#active.connection;
    throw new RookeryError(
      "agent_unavailable",
      `the agent could not be restarted (${messageOf(this.#startFailure)}): open the session again`,
      { cause: this.#startFailure },
    );
  }

  /** Resolves with the settings to record. If it rejects, the session keeps its previous settings. */
  async change(state: SessionState, changes: NamedChanges): Promise<AgentSettings> {
    const prepared = await this.#prepare(state, changes);
    const { settings, timeLimits } = prepared;
    if (!isSameAgent(state, settings)) await this.#switchTo(state, prepared);
    else if (needsNewConnection(state, settings)) await this.#reopen(state, prepared);
    this.#timeLimits = resolveTimeLimits(timeLimits);
    return settings;
  }

  /**
   * Undoes a change that could not be recorded: returns to the settings in the log. If those are not available
   * anymore, the agent is lost, because another one must not answer in its place.
   */
  async revert(state: SessionState): Promise<void> {
    const current = this.#active?.prepared.settings;
    if (current === undefined) return;
    try {
      const prepared = await this.#prepare(state, {});
      if (!isSameAgent(current, state)) await this.#switchTo(state, prepared);
      else if (needsNewConnection(state, current)) await this.#reopen(state, prepared);
      this.#timeLimits = resolveTimeLimits(prepared.timeLimits);
    } catch (error) {
      await this.#dropActive();
      this.#startFailure = error;
    }
  }

  /** Makes every connection forget the conversation, because it was replaced. */
  async forget(): Promise<void> {
    const all = [...this.#kept, ...(this.#active === undefined ? [] : [this.#active])];
    await Promise.all(all.map(async ({ connection }) => connection.forget?.()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#kept.splice(0), ...(this.#active === undefined ? [] : [this.#active])];
    this.#active = undefined;
    const ends = await Promise.allSettled(all.map(({ connection }) => connection[Symbol.asyncDispose]()));
    const failed = ends.find((end) => end.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  async #switchTo(state: SessionState, prepared: PreparedAgent): Promise<void> {
    const previous = this.#active;
    const kept = await this.#takeKept(state, prepared);
    if (kept === undefined) this.#use({ prepared, connection: await this.#ready(prepared) });
    else this.#active = kept;
    if (previous !== undefined) this.#kept.push(previous);
    const { agent } = prepared.settings;
    const outdated = this.#kept.filter(({ prepared: { settings } }) => settings.agent === agent);
    await this.#closeConnections([
      ...outdated,
      ...this.#kept.filter((held) => !outdated.includes(held)).slice(0, -MAX_KEPT_CONNECTIONS),
    ]);
  }

  /** The kept connection of this agent, if a new one would be identical. */
  async #takeKept(state: SessionState, prepared: PreparedAgent): Promise<HeldConnection | undefined> {
    const held = this.#kept.find((kept) => isReusable(kept.prepared, prepared));
    if (held === undefined) return undefined;
    this.#applyOverlay(held.connection);
    await held.connection.returned?.(state);
    this.#kept.splice(this.#kept.indexOf(held), 1);
    return { ...held, prepared };
  }

  async #reopen(state: SessionState, prepared: PreparedAgent): Promise<void> {
    await this.#dropActive(); // close it first: a program's session must not be open twice
    try {
      this.#use({ prepared, connection: await this.#ready(prepared) });
    } catch (error) {
      await this.#reconnect(state);
      throw error;
    }
  }

  /** Connects and applies the overlay. Closes the connection if the overlay fails. */
  async #ready({ connect }: PreparedAgent): Promise<AgentConnection> {
    const connection = await connect();
    try {
      this.#applyOverlay(connection);
      return connection;
    } catch (error) {
      await Promise.allSettled([connection[Symbol.asyncDispose]()]);
      throw error;
    }
  }

  #applyOverlay({ tools }: AgentConnection): void {
    if (this.#overlay !== undefined) tools?.setOverlay(this.#overlay);
  }

  #use(held: HeldConnection): void {
    this.#active = held;
    this.#attachTo(held);
  }

  /** Called once per connection: a kept connection is already attached. */
  #attachTo({ connection, prepared }: HeldConnection): void {
    if (this.#contextFor !== undefined) connection.attach?.(this.#contextFor(prepared.settings.agent));
  }

  async #dropActive(): Promise<void> {
    const active = this.#active;
    this.#active = undefined;
    if (active !== undefined) await Promise.allSettled([active.connection[Symbol.asyncDispose]()]);
  }

  /** Ignores errors: a process that does not exit is found later by its marker. */
  async #closeConnections(outdated: readonly HeldConnection[]): Promise<void> {
    for (const held of outdated) this.#kept.splice(this.#kept.indexOf(held), 1);
    await Promise.allSettled(outdated.map(({ connection }) => connection[Symbol.asyncDispose]()));
  }

  async #reconnect(state: SessionState): Promise<void> {
    try {
      const prepared = await this.#prepare(state, {});
      this.#use({ prepared, connection: await this.#ready(prepared) });
    } catch (error) {
      this.#startFailure = error;
    }
  }
}

/** Call it with settings of the same agent. */
function needsNewConnection(before: AgentSettings, after: AgentSettings): boolean {
  return after.model !== before.model || after.cwd !== before.cwd || after.definition !== undefined;
}

function isReusable(one: PreparedAgent, other: PreparedAgent): boolean {
  const [a, b] = [one.settings, other.settings];
  return isSameAgent(a, b) && a.model === b.model && a.cwd === b.cwd && one.fingerprint === other.fingerprint;
}
