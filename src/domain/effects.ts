/** The port of durable effects: what a turn does to the world runs once, and its outcome is remembered. */
import type { EventBody } from "./events.ts";

export interface EffectHost {
  /**
   * Performs the effect, or gives back what it came to before a crash. Rejects with what `perform` rejected with and
   * journals no outcome then.
   */
  run<T>(effect: Effect<T>): Promise<Settled<T>>;
  /**
   * Is it known what it came to before a crash? Then nothing has to be found out or asked for before it is run. A host
   * that cannot tell says no.
   */
  isFinished(key: EffectKey): boolean;
}

export interface Effect<T> {
  readonly key: EffectKey;
  /** May it run again where its outcome was lost? True for a model call or a read, false for what changes something. */
  readonly repeatable: boolean;
  /** Recorded with the start, once. */
  readonly started?: readonly EventBody[];
  /** `perform` does nothing but say what is known: start and outcome are committed as one. */
  readonly instant?: boolean;
  perform(): Promise<Performed<T>>;
  /** What it counts as where it was begun by a process that died, and may or may not have happened. */
  lost(): Performed<T>;
  /** Reads a journalled value back; throws where it is not one. */
  parse(value: unknown): T;
}

export interface Performed<T> {
  /** JSON. */
  readonly value: T;
  /** Committed together with the outcome: both or neither. */
  readonly events?: readonly EventBody[];
}

export interface Settled<T> {
  readonly how: "performed" | "replayed" | "lost";
  readonly value: T;
}

export interface EffectKey {
  readonly sessionId: string;
  readonly turnId: string;
  readonly step: number;
  readonly kind: "model" | "tool" | "wait" | "sleep" | "input";
  readonly id: string;
}

export function keyText({ turnId, step, kind, id }: EffectKey): string {
  return `${turnId}/${step}/${kind}/${id}`;
}
