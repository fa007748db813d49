/** Checks that apply to every message of the agent, independent of the scenario. */
import { getResultObject } from "./agent/outcome.ts";
import type { ObservedMessage, CheckConnection } from "./agent/check-connection.ts";
import type { Findings } from "./findings.ts";
import { isJsonObject } from "../../wire/json-object.ts";
import { quoteJson } from "./quote.ts";
import { readSessionSettings, findUnofferedSetting } from "./session-settings.ts";

const UNOFFERED = /^(?:fs|terminal|elicitation)\//;

export function observeMessages(peer: CheckConnection, findings: Findings): void {
  let modes: ReadonlySet<unknown> | undefined;
  peer.listen((heard) => {
    if (heard.kind !== "answer" && UNOFFERED.test(heard.method)) {
      findings.fail(13, `the agent called ${heard.method}`);
    }
    const told = extractBody(heard);
    if (told === undefined) return;
    checkAuthentication(told, findings);
    const settings = readSessionSettings(told);
    if (settings.options?.some(({ type }) => type === "boolean")) {
      findings.fail(
        14,
        `the agent offers a boolean config option: ${quoteJson(settings.options.find(({ type }) => type === "boolean"))}`,
      );
    }
    modes = settings.modes?.offered ?? modes;
    const currentMode = settings.modes?.current ?? told["currentModeId"];
    const wrong = findUnofferedSetting(settings, currentMode, modes);
    if (wrong !== undefined) findings.fail(21, wrong);
    else if (settings.modes !== undefined || settings.options !== undefined) findings.pass(21);
  });
}

/** Returns the object that may contain settings: a result or an update. */
function extractBody(heard: ObservedMessage): Readonly<Record<string, unknown>> | undefined {
  if (heard.kind === "answer") return getResultObject(heard.outcome);
  if (heard.method !== "session/update" || !isJsonObject(heard.params)) return undefined;
  const update = heard.params["update"];
  return isJsonObject(update) ? update : undefined;
}

function checkAuthentication(told: Readonly<Record<string, unknown>>, findings: Findings): void {
  const methods = told["authMethods"];
  if (!("protocolVersion" in told)) return;
  const terminal = Array.isArray(methods) && methods.filter(isJsonObject).find(({ type }) => type === "terminal");
  if (terminal) findings.fail(15, `the agent offers the authentication method ${quoteJson(terminal)}`);
  else findings.pass(15);
}
