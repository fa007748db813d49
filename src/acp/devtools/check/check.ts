/** Checks an agent against the protocol: starts it as often as needed, talks to it, and reports the findings. */
import { randomBytes } from "node:crypto";
import { isAbsolute } from "node:path";
import { killMarked } from "../../../stdx/index.ts";
import type { CheckTarget } from "./agent/process.ts";
import { CHECK_CATALOG, CHECK_IDS, type CheckId } from "./catalog.ts";
import { Findings } from "./findings.ts";
import { isJsonObject, getObjectMember, type JsonMembers } from "../../wire/json-object.ts";
import type { CheckReport } from "./report.ts";
import { checkBasics } from "./scenarios/basics.ts";
import { checkCancel } from "./scenarios/cancel.ts";
import { checkClose } from "./scenarios/close-session.ts";
import { checkContent } from "./scenarios/content.ts";
import { checkDelete } from "./scenarios/delete-session.ts";
import { checkErrorRecovery } from "./scenarios/error-recovery.ts";
import { checkLoad, checkResume } from "./scenarios/load-and-resume.ts";
import { checkList } from "./scenarios/list-sessions.ts";
import { checkConfigOptions as configOptions } from "./scenarios/config-options.ts";
import { checkUnknownVersion } from "./scenarios/unknown-version.ts";
import { openInitializedAgent, type CheckContext } from "./context.ts";
import { loadAgentMessageChecks } from "./schema/messages.ts";

export interface CheckOptions {
  /** Run only these checks. The first conversation always takes place. Default: all. */
  readonly only?: readonly number[];
  /** Time limit for each answer. Default: 30 s. */
  readonly timeoutMs?: number;
  /** How long to wait for messages that must not come. Default: 0.5 s. */
  readonly settleMs?: number;
  /** Default: a short greeting. */
  readonly prompt?: string;
  /** Has to run long enough to be cancelled. Default: counting to 500. */
  readonly slowPrompt?: string;
  /** The id of the authentication method to use. */
  readonly authenticate?: string;
  readonly signal?: AbortSignal;
}

/** Rejects if the agent cannot be started, and with the signal's reason if the signal fires. */
export async function checkAgent(target: CheckTarget, options: CheckOptions = {}): Promise<CheckReport> {
  const { only = CHECK_IDS, signal } = options;
  const unknown = only.find((id) => !(id in CHECK_CATALOG));
  if (unknown !== undefined) throw new RangeError(`there is no check ${unknown}`);
  if (!isAbsolute(target.cwd)) throw new RangeError(`the directory must be an absolute path: ${target.cwd}`);
  signal?.throwIfAborted();
  const marker = `check-${randomBytes(6).toString("hex")}`;
  const context: CheckContext = {
    target,
    marker,
    findings: new Findings(),
    messages: await loadAgentMessageChecks(),
    timeoutMs: options.timeoutMs ?? 30_000,
    settleMs: options.settleMs ?? 500,
    prompt: options.prompt ?? "Say hello.",
    slowPrompt: options.slowPrompt ?? "Count from 1 to 500, one number per line, spelled out. Use no tools.",
    authenticate: options.authenticate,
    signal,
    exitWait: { ms: 2_000 },
  };
  try {
    return await runScenarios(context, only);
  } finally {
    await killMarked(marker); // processes that left their group
  }
}

async function runScenarios(context: CheckContext, only: readonly number[]): Promise<CheckReport> {
  const first = await runFirstConversation(context);
  if (first !== undefined) {
    for (const { ids, offered, needsPrompt, play } of listScenarios(first)) {
      if (!ids.some((id) => only.includes(id))) continue;
      if (!offered) ids.forEach((id) => context.findings.notOffered(id));
      else if (needsPrompt && !first.promptWorks)
        ids.forEach((id) => context.findings.notSeen(id, "no prompt succeeded"));
      else await play(context);
    }
  }
  context.findings.notSeen(25, "no tool call named a file; use a prompt that makes the agent edit one");
  context.findings.notSeen(26, "the agent asked for no edit; use a prompt that makes it edit a file");
  const results = context.findings.results(only);
  const ok = results.every(({ status, level }) => status !== "fail" || level === "A");
  return { ...context.findings.identity, results, ok };
}

interface FirstConversation {
  readonly capabilities: JsonMembers;
  readonly promptWorks: boolean;
}

/** Undefined if the agent could not be initialized; then nothing else can be checked. */
async function runFirstConversation(context: CheckContext): Promise<FirstConversation | undefined> {
  await using agent = await openInitializedAgent(context);
  if (agent === undefined) return undefined;
  return { capabilities: agent.capabilities, promptWorks: await checkBasics(context, agent) };
}

interface Scenario {
  readonly ids: readonly CheckId[];
  readonly offered: boolean;
  readonly needsPrompt: boolean;
  readonly play: (context: CheckContext) => Promise<void>;
}

function listScenarios({ capabilities, promptWorks }: FirstConversation): readonly Scenario[] {
  const session = getObjectMember(capabilities, "sessionCapabilities");
  const prompt = getObjectMember(capabilities, "promptCapabilities");
  const has = (capability: string): boolean => isJsonObject(session[capability]);
  const takes = ["image", "audio", "embeddedContext"].some((kind) => prompt[kind] === true);
  return [
    { ids: [6], offered: true, needsPrompt: false, play: checkUnknownVersion },
    { ids: [11, 12], offered: true, needsPrompt: true, play: checkCancel },
    { ids: [17], offered: capabilities["loadSession"] === true, needsPrompt: true, play: checkLoad },
    { ids: [18], offered: has("resume"), needsPrompt: true, play: checkResume },
    { ids: [19], offered: has("list"), needsPrompt: false, play: checkList },
    { ids: [20], offered: has("delete"), needsPrompt: false, play: (context) => checkDelete(context, { promptWorks }) },
    { ids: [20], offered: has("close"), needsPrompt: false, play: (context) => checkClose(context, { promptWorks }) },
    { ids: [21, 22], offered: true, needsPrompt: false, play: configOptions },
    { ids: [23], offered: takes, needsPrompt: true, play: checkContent },
    { ids: [24], offered: true, needsPrompt: false, play: checkErrorRecovery },
  ];
}
