/** What the cases of the contract are made of: hosts that come and go on one turn, and effects that say what became of them. */
import assert from "node:assert/strict";
import type { Effect, EffectHost, EffectKey, EventBody, Performed, SessionEvent } from "../../domain/index.ts";

export interface EffectContractCase {
  /** A sentence. */
  readonly name: string;
  /** Throws where the host breaks its promise. Every scene that `open` gives is empty; it is closed here. */
  readonly run: (open: () => Promise<EffectScene>) => Promise<void>;
}

/** A session whose turns effects belong to. */
export interface EffectScene extends AsyncDisposable {
  readonly sessionId: string;
  /** As a process has it that goes on with the turn now. Of an earlier one, nobody hears any more. */
  host(process?: Process): Promise<EffectHost>;
  /** What hosts recorded, oldest first. */
  recorded(): Promise<readonly SessionEvent[]>;
}

export interface Process {
  /** Of the turn that is called `TURN` if not said. */
  readonly turnId?: string | undefined;
  /** So many commits are made, and each later one is refused with `BROKEN`. */
  readonly commits?: number | undefined;
}

export const TURN = "trn_0000000001aaaaaaaaaaaa";
export const BROKEN = new Error("nothing more is written");

export function inScene(name: string, play: (scene: EffectScene) => Promise<void>): EffectContractCase {
  return {
    name,
    async run(open) {
      await using scene = await open();
      await play(scene);
    },
  };
}

export interface Wanted extends Partial<Pick<Effect<unknown>, "repeatable" | "instant" | "parse">> {
  readonly key?: Partial<EffectKey> | undefined;
  readonly perform?: (() => Promise<Performed<unknown>>) | undefined;
}

/** An effect whose start, end and loss each leave a trace with its name, and which counts its runs. */
export function effectOf({ sessionId }: EffectScene, name: string, wanted: Wanted = {}) {
  const { key, repeatable = false, instant, perform, parse = (value: unknown) => value } = wanted;
  const runs = { count: 0 };
  const effect: Effect<unknown> = {
    key: { sessionId, turnId: TURN, step: 0, kind: "tool", id: name, ...key },
    repeatable,
    ...(instant !== undefined && { instant }),
    started: [prints(`${name} starts`)],
    perform: () => {
      runs.count += 1;
      return perform?.() ?? Promise.resolve({ value: `${name} done`, events: [prints(`${name} ends`)] });
    },
    lost: () => ({ value: `${name} lost`, events: [prints(`${name} is lost`)] }),
    parse,
  };
  return { effect, runs };
}

export function prints(text: string): EventBody {
  return { type: "notice", level: "info", code: "traced", message: text };
}

export async function traces(scene: EffectScene): Promise<string[]> {
  return (await scene.recorded()).map((event) => (event.type === "notice" ? event.message : event.type));
}

/** The process that runs it dies in the middle: it began, and nobody hears what came of it. */
export async function dieIn(host: EffectHost, effect: Effect<unknown>): Promise<void> {
  await new Promise<void>((begun, failed) => {
    const perform = (): Promise<never> => {
      begun();
      return new Promise(() => undefined);
    };
    host.run({ ...effect, perform }).catch(failed);
  });
}

export async function rejectsWith(error: unknown, work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, (thrown) => {
    assert.equal(thrown, error);
    return true;
  });
}
