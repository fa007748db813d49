/** Passes the messages of an ACP agent to the running turn, and keeps its other output between turns for the next one. */
import type { OfferedCommand, EventBody } from "../../domain/index.ts";
import type { Gate, Noise, SessionOptions } from "../../acp/index.ts";
import { toOfferedCommands } from "../program/index.ts";
import { toNoiseEvents } from "./noise.ts";
import type { AcpTurnDriver } from "./turn.ts";

/** Output events kept between turns; further ones are dropped. */
const MAX_PENDING_EVENTS = 100;

export class AcpMessageRouter {
  readonly #agent: string;
  #turn: AcpTurnDriver | undefined;
  #pendingEvents: EventBody[] = [];
  #commands: readonly OfferedCommand[] = [];

  constructor(agent: string) {
    this.#agent = agent;
  }

  get turn(): AcpTurnDriver | undefined {
    return this.#turn;
  }

  /** The commands that the agent last reported, in a turn or between turns. */
  get commands(): readonly OfferedCommand[] {
    return this.#commands;
  }

  /** Records the output since the last turn. */
  startTurn(turn: AcpTurnDriver): void {
    this.#turn = turn;
    turn.record(...this.#pendingEvents.splice(0));
  }

  endTurn(): void {
    this.#turn = undefined;
  }

  readonly handlers: SessionOptions = {
    update: (item) => {
      this.#commands = readCommands(item.update) ?? this.#commands;
      return item.when === "turn" ? this.#turn?.update(item) : undefined;
    },
    permission: async (request) => this.#turn?.permission(request) ?? { outcome: { outcome: "cancelled" } },
    elicitation: async (request) => this.#turn?.elicitation(request) ?? { action: "cancel" },
  };

  readonly gate: Gate = async (request) =>
    this.#turn?.gate(request) ?? { allowed: false, message: "no turn is running" };

  readonly noise = (noise: Noise): void => {
    const events = toNoiseEvents(noise, this.#agent);
    if (this.#turn !== undefined) this.#turn.record(...events);
    else if (this.#pendingEvents.length < MAX_PENDING_EVENTS) this.#pendingEvents.push(...events);
  };
}

/** Returns undefined for another update, or for one without a list. */
function readCommands(update: unknown): OfferedCommand[] | undefined {
  const { sessionUpdate, availableCommands } = asFields(update);
  if (sessionUpdate !== "available_commands_update" || !Array.isArray(availableCommands)) return undefined;
  return toOfferedCommands(
    availableCommands.map((command: unknown) => {
      const { name, description, input } = asFields(command);
      return { name, description, hint: asFields(input)["hint"] };
    }),
  );
}

function asFields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
