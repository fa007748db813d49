/** Plays the steps of a script one after the other. */

import type { Step } from "../script.ts";
import type { Entry } from "../record.ts";
import type { Scene, Stage } from "../scene.ts";
import { CALLBACKS } from "./callbacks.ts";
import { FAULTS } from "./faults.ts";
import { GATES } from "./gates.ts";
import { MCP } from "./mcp/index.ts";
import { SPEECH } from "./speech.ts";
import type { Steps } from "./steps.ts";

export type Players = {
  readonly [Name in keyof Steps]: (what: Steps[Name], scene: Scene) => Promise<void>;
};

const PLAYERS: Players = { ...SPEECH, ...CALLBACKS, ...MCP, ...GATES, ...FAULTS };

export interface SceneOptions {
  readonly sessionId: string | undefined;
  readonly signal: AbortSignal;
  readonly owed: AbortSignal;
}

export function openScene(stage: Stage, { sessionId, signal, owed }: SceneOptions): Scene {
  const around = {
    stage,
    signal,
    waiting: AbortSignal.any([signal, stage.gone]),
    owed: AbortSignal.any([owed, stage.gone]),
    heard: { since: stage.record.entries.length, taken: new Set<Entry>() },
  };
  const sceneOf = (session: string | undefined): Scene => ({
    ...around,
    sessionId: session,
    play: (steps, other = session) => play(steps, sceneOf(other)),
  });
  return sceneOf(sessionId);
}

/** Whether a step has one name, and a known one. */
export function isStep(step: object): step is Step {
  const [name = "", ...more] = Object.keys(step);
  return more.length === 0 && Object.hasOwn(PLAYERS, name);
}

async function play(steps: readonly Step[], scene: Scene): Promise<void> {
  for (const step of steps) {
    scene.signal.throwIfAborted();
    const [[name, what] = ["", undefined]] = Object.entries(step);
    await (PLAYERS[name as keyof Steps] as (what: unknown, scene: Scene) => Promise<void>)(what, scene);
  }
}
