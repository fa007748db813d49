/** Validates a script before it runs, so that a misspelled step does not silently do nothing. */

import type { AcpHandling, AcpScript, AcpTurn } from "./script.ts";
import type { AcpStep } from "./steps/steps.ts";
import { isStep } from "./steps/play.ts";

const KEYS: { readonly [Key in keyof AcpScript]-?: true } = {
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

export function checkScript(script: AcpScript): void {
  for (const key of Object.keys(script)) {
    if (!Object.hasOwn(KEYS, key)) throw new Error(`unknown key ${key} in the script of an ACP agent`);
  }
  const { onStart = [], prompts = [], otherwise = [], on = {} } = script;
  if ("session/prompt" in on)
    throw new Error("the script handles session/prompt in `on`; use `prompts` and `otherwise` instead");
  const lists = [
    onStart,
    ...[...prompts, otherwise].flatMap(stepLists),
    ...Object.values(on).flat().flatMap(stepLists),
  ];
  for (const list of lists) checkSteps(list);
}

function stepLists(turn: AcpTurn | AcpHandling): (readonly AcpStep[])[] {
  if (isList(turn)) return [turn];
  const cancelled = "onCancel" in turn && typeof turn.onCancel === "object" ? stepLists(turn.onCancel) : [];
  return [turn.steps ?? [], turn.after ?? [], ...cancelled];
}

function isList(turn: AcpTurn | AcpHandling): turn is readonly AcpStep[] {
  return Array.isArray(turn);
}

function checkSteps(steps: readonly AcpStep[]): void {
  for (const step of steps) {
    if (!isStep(step)) throw new Error(`unknown step in the script of an ACP agent: ${JSON.stringify(step)}`);
    if ("in" in step) checkSteps(step.in.steps);
    if ("atOnce" in step) step.atOnce.forEach(checkSteps);
    if ("permission" in step) Object.values(step.permission.on ?? {}).forEach(checkSteps);
  }
}
