/** Checks that apply to every message of the agent, independent of the scenario. */
import { getResultObject } from "./agent/outcome.ts";
import type { ObservedMessage, CheckConnection } from "./agent/check-connection.ts";
import type { Findings } from "./findings.ts";
import { isJsonObject } from "../../wire/json-object.ts";
import { quoteJson } from "./quote.ts";
import { ToolCallObserver } from "./tool-paths.ts";
import { readSessionSettings, findUnofferedSetting } from "./session-settings.ts";

const UNOFFERED = /^(?:fs|terminal|elicitation)\//;

export function observeMessages(peer: CheckConnection, findings: Findings): void {
  let modes: ReadonlySet<unknown> | undefined;
  const calls = new ToolCallObserver(findings);
  peer.listen((message) => {
    calls.observe(message);
    if (message.kind !== "answer" && UNOFFERED.test(message.method)) {
      findings.fail(13, `the agent called ${message.method}`);
    }
    const body = extractBody(message);
    if (body === undefined) return;
    checkAuthentication(body, findings);
    const settings = readSessionSettings(body);
    if (settings.options?.some(({ type }) => type === "boolean")) {
      findings.fail(
        14,
        `the agent offers a boolean config option: ${quoteJson(settings.options.find(({ type }) => type === "boolean"))}`,
      );
    }
    modes = settings.modes?.offered ?? modes;
    const currentMode = settings.modes?.current ?? body["currentModeId"];
    const wrong = findUnofferedSetting(settings, currentMode, modes);
    if (wrong !== undefined) findings.fail(21, wrong);
    else if (settings.modes !== undefined || settings.options !== undefined) findings.pass(21);
  });
}

/** Returns the object that may contain settings: a result or an update. */
function extractBody(message: ObservedMessage): Readonly<Record<string, unknown>> | undefined {
  if (message.kind === "answer") return getResultObject(message.outcome);
  if (message.method !== "session/update" || !isJsonObject(message.params)) return undefined;
  const update = message.params["update"];
  return isJsonObject(update) ? update : undefined;
}

function checkAuthentication(body: Readonly<Record<string, unknown>>, findings: Findings): void {
  const methods = body["authMethods"];
  if (!("protocolVersion" in body)) return;
  const terminal = Array.isArray(methods) && methods.filter(isJsonObject).find(({ type }) => type === "terminal");
  if (terminal) findings.fail(15, `the agent offers the authentication method ${quoteJson(terminal)}`);
  else findings.pass(15);
}
