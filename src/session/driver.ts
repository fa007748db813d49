/** The agents that drive a session, one at a time: how another takes the place of one, and gives it back. */
import {
  RookeryError,
  messageOf,
  type AgentConnection,
  type EventBody,
  type Overlay,
  type PermissionPolicy,
  type BetweenTurnsContext,
  type SessionState,
} from "../domain/index.ts";
import { resolveTimeLimits, type TurnTimeLimits } from "./time-limits.ts";

/** What a session is driven with. */
export type DriverSettings = Pick<SessionState, "agent" | "backend" | "model" | "cwd" | "permissions"> & {
  /** Somebody asked for that model. */
  readonly modelChosen?: true;
};

/** What someone wants otherwise than it was. */
export interface Changes {
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  readonly cwd?: string | undefined;
  readonly permissions?: PermissionPolicy | undefined;
}

/** Settings that can be had, and the way to the agent that goes with them. */
export interface PreparedAgent {
  readonly settings: DriverSettings;
  readonly connect: () => Promise<AgentConnection>;
  /** How long its agent is waited for. */
  readonly patience?: Parameters<typeof resolveTimeLimits>[0];
  /** What else the agent is made from: a connection that was made from something else is not used again. */
  readonly madeFrom?: string | undefined;
}

/** Finds what is wanted; a new session is empty but for its id. Rejects in words where something is missing. */
export type PrepareAgent = (state: SessionState, changes: Changes) => Promise<PreparedAgent>;

/** Of agents that were switched away from. Each may be a program that runs: past this the one that left first is ended. */
const MAX_KEPT_CONNECTIONS = 4;

interface HeldConnection {
  readonly connection: AgentConnection;
  readonly prepared: PreparedAgent;
}

export class Driver implements AsyncDisposable {
  readonly #prepare: PrepareAgent;
  #active: HeldConnection | undefined;
  /** Those that wait to be switched back to, the one that left first in front. */
  readonly #kept: HeldConnection[] = [];
  #patience: TurnTimeLimits;
  #missing: unknown;
  #deskOf: ((agent: string) => BetweenTurnsContext) | undefined;
  #overlay: Overlay | undefined;

  private constructor(prepare: PrepareAgent, connection: AgentConnection, prepared: PreparedAgent) {
    this.#prepare = prepare;
    this.#active = { connection, prepared };
    this.#patience = resolveTimeLimits(prepared.patience);
  }

  static async connect(prepare: PrepareAgent, prepared: PreparedAgent): Promise<Driver> {
    return new Driver(prepare, await prepared.connect(), prepared);
  }

  /** With the agent that drives. */
  get patience(): TurnTimeLimits {
    return this.#patience;
  }

  /** Whoever drives the session has a desk of its own from here on, and whoever comes after. */
  attach(deskOf: (agent: string) => BetweenTurnsContext): void {
    this.#deskOf = deskOf;
    if (this.#active !== undefined) this.#seat(this.#active);
  }

  /** It belongs to the session: whoever comes after has it too. Throws `tool_conflict`, and changes nothing then. */
  setOverlay(overlay: Overlay): void {
    this.connection.tools?.setOverlay(overlay);
    this.#overlay = overlay;
  }

  /** It was lost in a change that failed, and could not be had again. */
  get isLost(): boolean {
    return this.#active === undefined;
  }

  /** Throws `agent_unavailable` where it is lost. */
  get connection(): AgentConnection {
    if (this.#active !== undefined) return this.#active.connection;
    throw new RookeryError(
      "agent_unavailable",
      `the agent could not be started again (${messageOf(this.#missing)}): open the session again`,
      { cause: this.#missing },
    );
  }

  /** Resolves with what is to be recorded. Where it rejects, the session goes on as it was. */
  async change(state: SessionState, changes: Changes): Promise<DriverSettings> {
    const prepared = await this.#prepare(state, changes);
    const { settings, patience } = prepared;
    if (!isSameAgent(state, settings)) await this.#switchTo(state, prepared);
    else if (settings.model !== state.model || settings.cwd !== state.cwd) await this.#reopen(state, prepared);
    this.#patience = resolveTimeLimits(patience);
    return settings;
  }

  /**
   * Takes back a change that could not be recorded: goes on with the settings that the log names. If they cannot be had
   * any more, the agent is lost, because another one must not answer in its place.
   */
  async revert(state: SessionState): Promise<void> {
    const current = this.#active?.prepared.settings;
    if (current === undefined) return;
    try {
      const prepared = await this.#prepare(state, {});
      if (!isSameAgent(current, state)) await this.#switchTo(state, prepared);
      else if (current.model !== state.model || current.cwd !== state.cwd) await this.#reopen(state, prepared);
      this.#patience = resolveTimeLimits(prepared.patience);
    } catch (error) {
      await this.#dropActive();
      this.#missing = error;
    }
  }

  /** The conversation is another: none of them is to go on with what it remembers of the old one. */
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
    const left = this.#active;
    const back = await this.#return(state, prepared);
    if (back === undefined) this.#use({ prepared, connection: await this.#ready(prepared) });
    else this.#active = back;
    if (left !== undefined) this.#kept.push(left);
    const { agent } = prepared.settings;
    const useless = this.#kept.filter(({ prepared: { settings } }) => settings.agent === agent); // other than it is now
    await this.#end([...useless, ...this.#kept.filter((held) => !useless.includes(held)).slice(0, -MAX_KEPT_CONNECTIONS)]);
  }

  /** The connection that this agent had before, if it is as it would be made now. */
  async #return(state: SessionState, prepared: PreparedAgent): Promise<HeldConnection | undefined> {
    const held = this.#kept.find((kept) => isReusable(kept.prepared, prepared));
    if (held === undefined) return undefined;
    this.#overlayOn(held.connection);
    await held.connection.returned?.(state);
    this.#kept.splice(this.#kept.indexOf(held), 1);
    return { ...held, prepared };
  }

  async #reopen(state: SessionState, prepared: PreparedAgent): Promise<void> {
    await this.#dropActive(); // first: a program's own session is not to be open twice
    try {
      this.#use({ prepared, connection: await this.#ready(prepared) });
    } catch (error) {
      await this.#goBack(state);
      throw error;
    }
  }

  /** With the overlay, or not at all. */
  async #ready({ connect }: PreparedAgent): Promise<AgentConnection> {
    const connection = await connect();
    try {
      this.#overlayOn(connection);
      return connection;
    } catch (error) {
      await Promise.allSettled([connection[Symbol.asyncDispose]()]);
      throw error;
    }
  }

  #overlayOn({ tools }: AgentConnection): void {
    if (this.#overlay !== undefined) tools?.setOverlay(this.#overlay);
  }

  #use(held: HeldConnection): void {
    this.#active = held;
    this.#seat(held);
  }

  /** Once for each: one that comes back has its desk already. */
  #seat({ connection, prepared }: HeldConnection): void {
    if (this.#deskOf !== undefined) connection.attach?.(this.#deskOf(prepared.settings.agent));
  }

  async #dropActive(): Promise<void> {
    const active = this.#active;
    this.#active = undefined;
    if (active !== undefined) await Promise.allSettled([active.connection[Symbol.asyncDispose]()]);
  }

  /** What cannot be ended now is found by its marker later, and is no reason to stay with it. */
  async #end(useless: readonly HeldConnection[]): Promise<void> {
    for (const held of useless) this.#kept.splice(this.#kept.indexOf(held), 1);
    await Promise.allSettled(useless.map(({ connection }) => connection[Symbol.asyncDispose]()));
  }

  async #goBack(state: SessionState): Promise<void> {
    try {
      const prepared = await this.#prepare(state, {});
      this.#use({ prepared, connection: await this.#ready(prepared) });
    } catch (error) {
      this.#missing = error;
    }
  }
}

/** Does it know what was said before, and may it go on with a turn that was begun before? */
export function isSameAgent(before: DriverSettings, after: DriverSettings): boolean {
  return before.agent === after.agent && before.backend === after.backend;
}

function isReusable(one: PreparedAgent, other: PreparedAgent): boolean {
  const [a, b] = [one.settings, other.settings];
  return isSameAgent(a, b) && a.model === b.model && a.cwd === b.cwd && one.madeFrom === other.madeFrom;
}

/** What is recorded when a session goes on with other settings: nothing where they are the same. */
export function changeEvents(before: DriverSettings, after: DriverSettings): EventBody[] {
  const { backend, model, modelChosen, cwd, permissions } = after;
  const others = backend !== before.backend || model !== before.model || cwd !== before.cwd;
  const switched = after.agent !== before.agent;
  if (!switched && !others && permissions === before.permissions) return [];
  return [
    ...(switched ? [{ type: "agent.switched" as const, from: before.agent, to: after.agent }] : []),
    { type: "session.opened", reopened: true, backend, model, ...(modelChosen && { modelChosen }), cwd, permissions },
  ];
}
