/** Decides permission requests with single keys, and with what the person types in place of a key. */
import { matchesKey } from "@mariozechner/pi-tui/dist/keys.js";
import { readCommandInput } from "../../domain/shell-command.ts";
import type { Answer } from "../../session/method-types.ts";
import type { PendingRequest } from "../run/pending-request.ts";

/** `edit`: the person gives a reason for a denial, or another command. `diff`: opens the whole diff. */
export type DecisionKey = { readonly answer: Answer } | { readonly edit: true } | { readonly diff: true };

/**
 * Returns undefined for another key. `prefix`: the prefix of the command that `a` always allows; `A` allows every call
 * of the tool. Default: both keys allow every call.
 */
export function parseDecisionKey(typed: string, prefix?: string): DecisionKey | undefined {
  const data = typed.toLowerCase();
  if (matchesKey(data, "y")) return { answer: { decision: "allow", scope: "once" } };
  if (prefix !== undefined && matchesKey(typed, "a"))
    return { answer: { decision: "allow", scope: "session", prefix } };
  if (matchesKey(data, "a")) return { answer: { decision: "allow", scope: "session" } };
  if (matchesKey(data, "n")) return { answer: { decision: "deny" } };
  if (matchesKey(data, "d")) return { diff: true };
  return matchesKey(data, "e") ? { edit: true } : undefined;
}

/** The command that the request is about. */
export function commandOf({ input }: PendingRequest): string | undefined {
  const command = readCommandInput(input);
  return typeof command === "string" ? command : command?.join(" ");
}

/**
 * Turns what the person typed into an answer: "yes" allows, everything else is a denial that the agent can act on.
 * `isCommand`: whether it is another command. Default: it is one if it starts with the same program.
 */
export function answerFromText(request: PendingRequest, typed: string, isCommand?: boolean): Answer {
  const command = commandOf(request);
  if (isCommand !== true && /^yes[.!]?$/i.test(typed)) return { decision: "allow", scope: "once" };
  if (typed === "" || typed === command || /^no[.!]?$/i.test(typed)) return { decision: "deny" };
  const isInstead = isCommand ?? (command !== undefined && isVariantOf(typed, command));
  return { decision: "deny", message: isInstead ? `Run this command instead: ${typed}` : typed };
}

/** True if it starts with the same program. */
function isVariantOf(typed: string, command: string): boolean {
  return typed.trim().split(/\s/)[0] === command.trim().split(/\s/)[0];
}
