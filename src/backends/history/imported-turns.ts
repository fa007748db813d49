/** Makes turns and their events of a program's history, with the times at which they happened. */
import { newId, type EventBody, type ImportedEvent, type InputPart, type TurnOutcome } from "../../domain/index.ts";
import { TurnRecorder } from "../program/turn-recorder.ts";

interface OpenTurn {
  readonly id: string;
  readonly recorder: TurnRecorder;
  readonly openTools: Set<string>;
}

export class ImportedTurns {
  readonly #now: number;
  #events: ImportedEvent[] = [];
  #time: number;
  #turn: OpenTurn | undefined;

  /** `startedAt` is the time of events without a valid one. */
  constructor(startedAt: string, now = Date.now()) {
    this.#now = now;
    this.#time = Math.min(parseTime(startedAt) ?? now, now);
  }

  /** Sets the time of the following events. Ignores a time that is not valid, before the last one, or in the future. */
  setTime(at: unknown): void {
    const time = parseTime(at);
    if (time !== undefined && time > this.#time && time <= this.#now) this.#time = time;
  }

  /** The time of the following events, in ISO 8601. */
  get time(): string {
    return new Date(this.#time).toISOString();
  }

  get hasTurn(): boolean {
    return this.#turn !== undefined;
  }

  /** Whether a call of the open turn has no result. */
  get hasOpenTools(): boolean {
    return (this.#turn?.openTools.size ?? 0) > 0;
  }

  /** The recorder of the open turn. Starts a turn without input if there is none. */
  get recorder(): TurnRecorder {
    return (this.#turn ?? this.start([])).recorder;
  }

  /** End the open turn first. */
  start(input: readonly InputPart[]): OpenTurn {
    const id = newId("trn", this.#time);
    const openTools = new Set<string>();
    const record = (...bodies: EventBody[]): void => {
      for (const body of bodies) {
        if (body.type === "tool.started") openTools.add(body.toolId);
        if (body.type === "tool.ended") openTools.delete(body.toolId);
        this.#add(body, id);
      }
    };
    this.#turn = { id, openTools, recorder: new TurnRecorder({ log: { record } }) };
    this.#add({ type: "turn.started", input: [...input] }, id);
    return this.#turn;
  }

  /** Does nothing if no turn is open. */
  end(outcome: TurnOutcome): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    turn.recorder.endMessageIfAny();
    const cancelled = outcome.status === "cancelled";
    for (const toolId of [...turn.openTools]) {
      turn.recorder.endTool(toolId, {
        outcome: cancelled ? "cancelled" : "unknown",
        text: cancelled ? "cancelled with its turn" : "the history has no result of this call",
      });
    }
    this.#turn = undefined;
    this.#add({ type: "turn.ended", outcome }, turn.id);
  }

  /** Adds a warning, outside of turns. */
  warn(code: string, message: string): void {
    this.#add({ type: "notice", level: "warning", code, message }, undefined);
  }

  /** Returns the events since the last call. */
  take(): ImportedEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #add(body: EventBody, turnId: string | undefined): void {
    this.#events.push({ at: this.time, turnId, body });
  }
}

/** The outcome of a turn whose program ended before the turn did. */
export const INTERRUPTED_OUTCOME: TurnOutcome = {
  status: "failed",
  code: "interrupted",
  message: "the program ended before this turn did",
};

/** The earliest time that counts: no program is older. */
const MIN_TIME = Date.parse("2020-01-01T00:00:00Z");

function parseTime(at: unknown): number | undefined {
  const time = typeof at === "string" ? Date.parse(at) : Number.NaN;
  return time >= MIN_TIME ? time : undefined;
}
