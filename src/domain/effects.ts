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
  /** Recorded with the start, once. */
  readonly started?: readonly EventBody[];
  /** `perform` only returns known facts, so that start and outcome are committed together. Default: false. */
  readonly instant?: boolean;
  perform(): Promise<Performed<T>>;
  /** Parses a journaled value. Throws if it is invalid. */
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
