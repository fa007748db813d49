/** Plays the steps of a script one after the other. */

import type { Step } from "../script.ts";
import type { Scene, Stage } from "../scene.ts";
import { CALLBACKS } from "./callbacks.ts";
import { SPEECH } from "./speech.ts";
import type { Steps } from "./steps.ts";

export type Players = {
  readonly [Name in keyof Steps]: (what: Steps[Name], scene: Scene) => Promise<void>;
};

const PLAYERS: Players = { ...SPEECH, ...CALLBACKS };

export interface SceneOptions {
  readonly sessionId: string | undefined;
  readonly signal: AbortSignal;
  readonly owed: AbortSignal;
}

export function openScene(stage: Stage, { sessionId, signal, owed }: SceneOptions): Scene {
  const scene: Scene = {
    stage,
    sessionId,
    signal,
    waiting: AbortSignal.any([signal, stage.gone]),
    owed: AbortSignal.any([owed, stage.gone]),
    play: (steps, session) => play(steps, session === undefined ? scene : { ...scene, sessionId: session }),
  };
  return scene;
}

async function play(steps: readonly Step[], scene: Scene): Promise<void> {
  for (const step of steps) {
    scene.signal.throwIfAborted();
    await playOne(step, scene);
  }
}

function playOne(step: Step, scene: Scene): Promise<void> {
  const [name, ...more] = Object.keys(step) as (keyof Steps)[];
  const player = name === undefined || more.length > 0 ? undefined : PLAYERS[name];
  if (name === undefined || player === undefined) throw new Error(`no such step: ${JSON.stringify(step)}`);
  const what = (step as Partial<Steps>)[name];
  return (player as (what: unknown, scene: Scene) => Promise<void>)(what, scene);
}
