/** Checks an agent against the protocol: starts it as often as needed, talks to it, and reports what was seen. */
import { randomBytes } from "node:crypto";
import { isAbsolute } from "node:path";
import { killMarked } from "../../stdx/index.ts";
import type { CheckTarget } from "./agent/process.ts";
import { CATALOGUE, CHECK_IDS, type CheckId } from "./catalogue.ts";
import { Findings } from "./findings.ts";
import { isObject, members, type Members } from "./object.ts";
import type { CheckReport } from "./report.ts";
import { basics } from "./scenarios/basics.ts";
import { cancel } from "./scenarios/cancel.ts";
import { closing } from "./scenarios/closing.ts";
import { content } from "./scenarios/content.ts";
import { deleting } from "./scenarios/deleting.ts";
import { errors } from "./scenarios/errors.ts";
import { load, resume } from "./scenarios/history.ts";
import { list } from "./scenarios/list.ts";
import { options as configOptions } from "./scenarios/options.ts";
import { version } from "./scenarios/version.ts";
import { openAgent, type Scene } from "./scene.ts";
import { loadAgentMessages } from "./schema/messages.ts";

export interface CheckOptions {
  /** Only these ids; the first conversation takes place all the same. */
  readonly only?: readonly number[];
  /** For each answer that is waited for. Default: 30 s. */
  readonly timeoutMs?: number;
  /** How long to look for what must not come. Default: 0.5 s. */
  readonly settleMs?: number;
  /** Default: harmless words. */
  readonly prompt?: string;
  /** Has to run long enough to be cancelled. */
  readonly slowPrompt?: string;
  /** The id of the authentication method to use. */
  readonly authenticate?: string;
  readonly signal?: AbortSignal;
}

/** Rejects where the agent cannot be started at all, and with the signal's reason where that was aborted. */
export async function checkAgent(target: CheckTarget, options: CheckOptions = {}): Promise<CheckReport> {
  const { only = CHECK_IDS, signal } = options;
  const unknown = only.find((id) => !(id in CATALOGUE));
  if (unknown !== undefined) throw new RangeError(`there is no check ${unknown}`);
  if (!isAbsolute(target.cwd)) throw new RangeError(`the folder must be an absolute path: ${target.cwd}`);
  signal?.throwIfAborted();
  const marker = `check-${randomBytes(6).toString("hex")}`;
  const scene: Scene = {
    target,
    marker,
    findings: new Findings(),
    messages: await loadAgentMessages(),
    timeoutMs: options.timeoutMs ?? 30_000,
    settleMs: options.settleMs ?? 500,
    prompt: options.prompt ?? "Say hello.",
    slowPrompt: options.slowPrompt ?? "Count from 1 to 500 in words, one number a line. Use no tools.",
    authenticate: options.authenticate,
    signal,
    patience: { ms: 2_000 },
  };
  try {
    return await run(scene, only);
  } finally {
    await killMarked(marker); // what left its group
  }
}

async function run(scene: Scene, only: readonly number[]): Promise<CheckReport> {
  const first = await firstConversation(scene);
  if (first !== undefined) {
    for (const { ids, offered, needsPrompt, play } of scenarios(first)) {
      if (!ids.some((id) => only.includes(id))) continue;
      if (!offered) ids.forEach((id) => scene.findings.notOffered(id));
      else if (needsPrompt && !first.promptWorks) ids.forEach((id) => scene.findings.unseen(id, "no prompt works"));
      else await play(scene);
    }
  }
  const results = scene.findings.results(only);
  const ok = results.every(({ status, level }) => status !== "fail" || level === "A");
  return { ...scene.findings.introduction, results, ok };
}

interface First {
  readonly capabilities: Members;
  readonly promptWorks: boolean;
}

/** Undefined where there was none, and nothing else can be checked. */
async function firstConversation(scene: Scene): Promise<First | undefined> {
  await using agent = await openAgent(scene);
  if (agent === undefined) return undefined;
  return { capabilities: agent.capabilities, promptWorks: await basics(scene, agent) };
}

interface Scenario {
  readonly ids: readonly CheckId[];
  readonly offered: boolean;
  readonly needsPrompt: boolean;
  readonly play: (scene: Scene) => Promise<void>;
}

function scenarios({ capabilities, promptWorks }: First): readonly Scenario[] {
  const session = members(capabilities, "sessionCapabilities");
  const prompt = members(capabilities, "promptCapabilities");
  const has = (capability: string): boolean => isObject(session[capability]);
  const takes = ["image", "audio", "embeddedContext"].some((kind) => prompt[kind] === true);
  return [
    { ids: [6], offered: true, needsPrompt: false, play: version },
    { ids: [11, 12], offered: true, needsPrompt: true, play: cancel },
    { ids: [17], offered: capabilities["loadSession"] === true, needsPrompt: true, play: load },
    { ids: [18], offered: has("resume"), needsPrompt: true, play: resume },
    { ids: [19], offered: has("list"), needsPrompt: false, play: list },
    { ids: [20], offered: has("delete"), needsPrompt: false, play: (scene) => deleting(scene, { promptWorks }) },
    { ids: [20], offered: has("close"), needsPrompt: false, play: (scene) => closing(scene, { promptWorks }) },
    { ids: [21, 22], offered: true, needsPrompt: false, play: configOptions },
    { ids: [23], offered: takes, needsPrompt: true, play: content },
    { ids: [24], offered: true, needsPrompt: false, play: errors },
  ];
}
