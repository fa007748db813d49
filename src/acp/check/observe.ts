/** What is looked for in everything that an agent sends, whatever is being checked just then. */
import { resultOf } from "./agent/outcome.ts";
import type { Heard, Peer } from "./agent/peer.ts";
import type { Findings } from "./findings.ts";
import { isObject } from "./object.ts";
import { quoted } from "./quote.ts";
import { settingsIn, unofferedSettings } from "./settings.ts";

const UNOFFERED = /^(?:fs|terminal|elicitation)\//;

export function observe(peer: Peer, findings: Findings): void {
  let modes: ReadonlySet<unknown> | undefined;
  peer.listen((heard) => {
    if (heard.kind !== "answer" && UNOFFERED.test(heard.method)) {
      findings.fail(13, `the agent called ${heard.method}`);
    }
    const told = whatItTells(heard);
    if (told === undefined) return;
    checkAuthentication(told, findings);
    const settings = settingsIn(told);
    if (settings.options?.some(({ type }) => type === "boolean")) {
      findings.fail(14, `a boolean config option: ${quoted(settings.options.find(({ type }) => type === "boolean"))}`);
    }
    modes = settings.modes?.offered ?? modes;
    const currentMode = settings.modes?.current ?? told["currentModeId"];
    const wrong = unofferedSettings(settings, currentMode, modes);
    if (wrong !== undefined) findings.fail(21, wrong);
    else if (settings.modes !== undefined || settings.options !== undefined) findings.pass(21);
  });
}

/** The object in which settings may be: a result, or an update. */
function whatItTells(heard: Heard): Readonly<Record<string, unknown>> | undefined {
  if (heard.kind === "answer") return resultOf(heard.outcome);
  if (heard.method !== "session/update" || !isObject(heard.params)) return undefined;
  const update = heard.params["update"];
  return isObject(update) ? update : undefined;
}

function checkAuthentication(told: Readonly<Record<string, unknown>>, findings: Findings): void {
  const methods = told["authMethods"];
  if (!("protocolVersion" in told)) return;
  const terminal = Array.isArray(methods) && methods.filter(isObject).find(({ type }) => type === "terminal");
  if (terminal) findings.fail(15, `the authentication method ${quoted(terminal)}`);
  else findings.pass(15);
}
