/** Decides permission requests with single keys. */
import { matchesKey } from "@mariozechner/pi-tui/dist/keys.js";
import type { Answer } from "../../session/method-types.ts";
import type { Paint } from "../paint.ts";
import { formatRequestDetails, formatRequester, type PendingRequest } from "../run/pending-request.ts";
import { toSingleLine } from "../sanitize.ts";
import { wrapStyled } from "../tui/styled-text.ts";

/** `edit`: the person gives a reason for a denial, or another command. `diff`: opens the whole diff. */
export type DecisionKey = { readonly answer: Answer } | { readonly edit: true } | { readonly diff: true };

/** Returns undefined for another key. */
export function parseDecisionKey(typed: string): DecisionKey | undefined {
  const data = typed.toLowerCase();
  if (matchesKey(data, "y")) return { answer: { decision: "allow", scope: "once" } };
  if (matchesKey(data, "a")) return { answer: { decision: "allow", scope: "session" } };
  if (matchesKey(data, "n")) return { answer: { decision: "deny" } };
  if (matchesKey(data, "d")) return { diff: true };
  return matchesKey(data, "e") ? { edit: true } : undefined;
}

/** The request completely, for the scrollback. */
export function renderRequest(request: PendingRequest, { width, paint }: { width: number; paint: Paint }): string[] {
  const tool = toSingleLine(request.tool ?? "", 100);
  const heading = `${paint("yellow", "?")} ${paint("bold", tool)}${formatRequester(request.from)}`;
  const details = formatRequestDetails(request, { paint, columns: width, hint: "d opens all of them" });
  return [heading, ...details].flatMap((line) => wrapStyled(line, width, "    "));
}

/** The keys, for the live region. */
export function renderDecision(
  request: PendingRequest,
  { width, paint, escapeHint = "Esc interrupts" }: { width: number; paint: Paint; escapeHint?: string },
): string[] {
  const tool = toSingleLine(request.tool ?? "", 60);
  const key = (name: string, text: string): string => `${paint("bold", name)} ${text}`;
  const edit = commandOf(request) === undefined ? "no, with a reason" : "no, suggest another command";
  const keys = [key("y", "yes"), key("n", "no"), key("a", `always ${tool} in this session`), key("e", edit)];
  if ((request.diffs ?? []).length > 0) keys.push(key("d", "whole diff"));
  return wrapStyled(`${paint("yellow", "?")} Allow ${tool}? ${keys.join(" · ")} · ${escapeHint}`, width, "  ");
}

/** The label of the line in which a person says why, or which command instead. */
export function reasonLabel(request: PendingRequest): string {
  return commandOf(request) === undefined ? "reason: " : "run instead: ";
}

/** The command that the request is about. */
export function commandOf({ input }: PendingRequest): string | undefined {
  if (typeof input !== "object" || input === null || !("command" in input)) return undefined;
  return typeof input.command === "string" ? input.command : undefined;
}

/** Turns what the person typed into a denial that the agent can act on. */
export function denyWithReason(request: PendingRequest, typed: string): Answer {
  const command = commandOf(request);
  if (typed === "" || typed === command) return { decision: "deny" };
  const isCommand = command !== undefined && isVariantOf(typed, command);
  return { decision: "deny", message: isCommand ? `Run this command instead: ${typed}` : typed };
}

/** True if it starts with the same program. */
function isVariantOf(typed: string, command: string): boolean {
  return typed.trim().split(/\s/)[0] === command.trim().split(/\s/)[0];
}
