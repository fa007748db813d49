/**
 * A permission request with the keyboard focus, in the live region: with its choices, or with the line for a reason.
 */
import type { Answer } from "../../session/method-types.ts";
import type { PendingRequest } from "../run/pending-request.ts";
import { toSingleLine } from "../sanitize.ts";
import type { LiveRegion } from "../tui/inline-screen.ts";
import { clipStyled, styledWidth } from "../tui/styled-text.ts";
import { type LiveRequestStyle, renderLiveRequest } from "./live-request.ts";
import { renderDecision, renderQuestionLine, renderReason, type ReasonStyle } from "./request-view.ts";

export interface OpenRequest {
  readonly request: PendingRequest;
  /** True if the details were printed to the scrollback, because they do not fit the screen. */
  readonly isPrinted: boolean;
}

export interface OpenDecision extends OpenRequest {
  /** Whether the person has pressed `a` once. Default: false. */
  readonly isAlwaysAsked?: boolean | undefined;
}

export interface OpenReason extends OpenRequest {
  /** Whether the text is another command, not a reason. */
  readonly isCommand: boolean;
}

/** `escapeHint`: what Esc does. Default: it interrupts. */
export function renderOpenDecision(
  open: OpenDecision,
  style: LiveRequestStyle & { readonly escapeHint?: string },
): LiveRegion {
  const question = renderLiveRequest(open, style);
  const { isAlwaysAsked } = open;
  return { lines: renderDecision(open.request, { ...style, isAlwaysAsked, question }), cursor: undefined };
}

export function renderOpenReason(open: OpenReason, style: LiveRequestStyle & ReasonStyle): LiveRegion {
  const above = renderLiveRequest(open, style);
  const { lines, cursor } = renderReason(open.isCommand, style);
  return { lines: [...above, ...lines], cursor: cursor && { ...cursor, row: cursor.row + above.length } };
}

/** One line for the scrollback. For terminals on which the log does not show what the call did. */
export function formatDecidedRequest(
  request: PendingRequest,
  answer: Extract<Answer, { readonly decision: string }>,
  { width, paint }: Pick<LiveRequestStyle, "width" | "paint">,
): string {
  const outcome = ` — ${toSingleLine(describeDecision(answer), Math.floor(width / 2))}`;
  const question = renderQuestionLine(request, { width: Math.max(1, width - styledWidth(outcome)), paint });
  return clipStyled(`${question}${paint("dim", outcome)}`, width);
}

function describeDecision(answer: Extract<Answer, { readonly decision: string }>): string {
  if (answer.decision === "allow" && answer.prefix !== undefined) return `always allowed: ${answer.prefix} …`;
  if (answer.decision === "allow") return answer.scope === "session" ? "always allowed" : "allowed";
  const { message = "" } = answer;
  return message === "" ? "denied" : `denied: ${message}`;
}
