/** Finds mistakes in a script before it is played: a step that is misspelt would otherwise only be missing. */

import type { Handling, Script, Step, Turn } from "./script.ts";
import { isStep } from "./steps/play.ts";

const KEYS: { readonly [Key in keyof Script]-?: true } = {
  initialize: true,
  auth: true,
  sessions: true,
  sessionsFile: true,
  sessionPrefix: true,
  modes: true,
  configOptions: true,
  models: true,
  pageSize: true,
  replay: true,
  onStart: true,
  prompts: true,
  otherwise: true,
  on: true,
  ids: true,
  record: true,
  process: true,
};

export function checkScript(script: Script): void {
  for (const key of Object.keys(script)) {
    if (!Object.hasOwn(KEYS, key)) throw new Error(`a script of an ACP agent has no ${key}`);
  }
  const { onStart = [], prompts = [], otherwise = [], on = {} } = script;
  if ("session/prompt" in on) throw new Error("what a prompt does is written in `prompts` and `otherwise`");
  const lists = [onStart, ...[...prompts, otherwise].flatMap(listsOf), ...Object.values(on).flat().flatMap(listsOf)];
  for (const list of lists) checkSteps(list);
}

function listsOf(turn: Turn | Handling): (readonly Step[])[] {
  if (isList(turn)) return [turn];
  const cancelled = "onCancel" in turn && typeof turn.onCancel === "object" ? listsOf(turn.onCancel) : [];
  return [turn.steps ?? [], turn.after ?? [], ...cancelled];
}

function isList(turn: Turn | Handling): turn is readonly Step[] {
  return Array.isArray(turn);
}

function checkSteps(steps: readonly Step[]): void {
  for (const step of steps) {
    if (!isStep(step)) throw new Error(`an ACP agent has no such step: ${JSON.stringify(step)}`);
    if ("in" in step) checkSteps(step.in.steps);
    if ("atOnce" in step) step.atOnce.forEach(checkSteps);
    if ("permission" in step) Object.values(step.permission.on ?? {}).forEach(checkSteps);
  }
}
