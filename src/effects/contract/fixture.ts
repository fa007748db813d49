/** Fixtures for the effect contract: hosts that take over one turn after another, and effects that leave traces. */
import assert from "node:assert/strict";
import type { Effect, EffectHost, EffectKey, EventBody, Performed, SessionEvent } from "../../domain/index.ts";

export interface EffectContractCase {
  /** A sentence that completes "the host …". */
  readonly name: string;
  /** Throws if the host breaks the contract. `open` returns an empty fixture; the case closes it. */
  readonly run: (open: () => Promise<EffectFixture>) => Promise<void>;
}

/** A session in which the effects of a contract case run. */
export interface EffectFixture extends AsyncDisposable {
  readonly sessionId: string;
  /** Opens a host as a process does that takes over the turn. Earlier hosts are considered dead. */
  host(process?: EffectHostOptions): Promise<EffectHost>;
  /** The events that the hosts recorded, oldest first. */
  recorded(): Promise<readonly SessionEvent[]>;
}

export interface EffectHostOptions {
  /** The turn to run. Default: `DEFAULT_TURN_ID`. */
  readonly turnId?: string | undefined;
  /** How many commits succeed before all others reject with `STORE_FAILURE`. Default: no limit. */
  readonly commits?: number | undefined;
}

export const DEFAULT_TURN_ID = "trn_0000000001aaaaaaaaaaaa";
export const STORE_FAILURE = new Error("the store accepts no more commits");

export function defineEffectCase(name: string, play: (scene: EffectFixture) => Promise<void>): EffectContractCase {
  return {
    name,
    async run(open) {
      await using scene = await open();
      await play(scene);
    },
  };
}

export interface TracedEffectOptions extends Partial<Pick<Effect<unknown>, "repeatable" | "instant" | "parse">> {
  readonly key?: Partial<EffectKey> | undefined;
  readonly perform?: (() => Promise<Performed<unknown>>) | undefined;
}

/** Makes an effect that records an event with its name at its start, end and loss, and counts its runs. */
export function makeTracedEffect({ sessionId }: EffectFixture, name: string, wanted: TracedEffectOptions = {}) {
  const { key, repeatable = false, instant, perform, parse = (value: unknown) => value } = wanted;
  const runs = { count: 0 };
  const effect: Effect<unknown> = {
    key: { sessionId, turnId: DEFAULT_TURN_ID, step: 0, kind: "tool", id: name, ...key },
    repeatable,
    ...(instant !== undefined && { instant }),
    started: [traceNotice(`${name} starts`)],
    perform: () => {
      runs.count += 1;
      return perform?.() ?? Promise.resolve({ value: `${name} done`, events: [traceNotice(`${name} ends`)] });
    },
    lost: () => ({ value: `${name} lost`, events: [traceNotice(`${name} is lost`)] }),
    parse,
  };
  return { effect, runs };
}

export function traceNotice(text: string): EventBody {
  return { type: "notice", level: "info", code: "traced", message: text };
}

export async function readTraces(scene: EffectFixture): Promise<string[]> {
  return (await scene.recorded()).map((event) => (event.type === "notice" ? event.message : event.type));
}

/** Starts the effect and never finishes it, as if the process died while performing it. */
export async function startAndAbandon(host: EffectHost, effect: Effect<unknown>): Promise<void> {
  await new Promise<void>((begun, failed) => {
    const perform = (): Promise<never> => {
      begun();
      return new Promise(() => undefined);
    };
    host.run({ ...effect, perform }).catch(failed);
  });
}

export async function assertRejectsWithError(error: unknown, work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, (thrown) => {
    assert.equal(thrown, error);
    return true;
  });
}
