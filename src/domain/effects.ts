/** The port of durable effects: an effect of a turn runs once, and its outcome is kept in the journal. */
import type { EventBody } from "./events.ts";

export interface EffectHost {
  /**
   * Performs the effect, or returns its outcome from before a crash. If `perform` rejects, rejects with the same
   * error and journals no outcome.
   */
  run<T>(effect: Effect<T>): Promise<Settled<T>>;
  /**
   * True if the outcome from before a crash is known, so that nothing has to be prepared or asked. Implementations
   * that do not know return false.
   */
  isFinished(key: EffectKey): boolean;
}

export type Effect<T> = RepeatableEffect<T> | OneTimeEffect<T>;

/** An effect that may run again if its outcome is lost in a crash, such as a model call or a read. */
export interface RepeatableEffect<T> extends EffectBase<T> {
  readonly repeatable: true;
}

/** An effect that must not run twice. */
export interface OneTimeEffect<T> extends EffectBase<T> {
  readonly repeatable: false;
  /** The outcome if a process died while performing it, so that it may or may not have taken effect. */
  lost(): Performed<T>;
}

interface EffectBase<T> {
  readonly key: EffectKey;
  /** Events that are recorded once, with the start. */
  readonly started?: readonly EventBody[];
  /** True if `perform` only returns known data: start and outcome are committed together. */
  readonly instant?: boolean;
  /**
   * True if the outcome may be refused, because something else was recorded first: it is committed alone, and `run`
   * rejects with that error. Only for instant effects. Default: false.
   */
  readonly refusable?: boolean;
  perform(): Promise<Performed<T>>;
  /** Parses a journaled value. Throws if it is invalid. */
  parse(value: unknown): T;
}

export interface Performed<T> {
  /** Must be JSON. */
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
