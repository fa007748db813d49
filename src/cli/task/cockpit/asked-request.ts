/** A permission request in the cockpit: its details with the keys, as many lines as the screen has room for. */
import {
  type OpenDecision,
  type OpenReason,
  renderOpenDecision,
  renderOpenReason,
} from "../../questions/open-request.ts";
import { fitsLiveRegion, type LiveRequestStyle } from "../../questions/live-request.ts";
import { commandOf } from "../../questions/permission-keys.ts";
import type { ReasonStyle } from "../../questions/request-view.ts";
import type { PendingRequest } from "../../run/pending-request.ts";
import { toSingleLine } from "../../sanitize.ts";
import type { LiveRegion } from "../../tui/inline-screen.ts";
import { clipStyled } from "../../tui/styled-text.ts";

const ESCAPE_HINT = "Esc decides later";
/** The name of the task, the empty line above it, and the row that the inline screen keeps. */
const OTHER_ROWS = 3;

/** False if the request must be printed to the scrollback, so that the person can read all of it. */
export function fitsCockpit(request: PendingRequest, style: LiveRequestStyle): boolean {
  if (!fitsLiveRegion(request, style)) return false;
  const { lines } = renderOpenDecision({ request, isPrinted: false }, { ...style, escapeHint: ESCAPE_HINT });
  return lines.length <= style.rows - OTHER_ROWS;
}

export function renderAskedDecision(open: OpenDecision, style: LiveRequestStyle): LiveRegion {
  const region = renderOpenDecision(open, { ...style, escapeHint: ESCAPE_HINT });
  if (region.lines.length <= style.rows - OTHER_ROWS) return region;
  const { tool = "", prefix } = open.request;
  const always = prefix === undefined ? "always" : `always ${prefix} …`;
  const edit = commandOf(open.request) === undefined ? "reason" : "edit";
  const keys = open.isAlwaysAsked === true ? `a again: ${always}, Esc back` : `y n a, e ${edit}, Esc`;
  const lines = [`Allow ${toSingleLine(tool)}?`, keys];
  return { lines: lines.map((line) => clipStyled(line, style.width)), cursor: undefined };
}

/** Leaves out the details, and then what Enter does, if there is no room for them. */
export function renderAskedReason(open: OpenReason, style: LiveRequestStyle & ReasonStyle): LiveRegion {
  const room = style.rows - OTHER_ROWS;
  const region = renderOpenReason(open, style);
  if (region.lines.length <= room) return region;
  const { lines, cursor } = renderOpenReason({ ...open, isPrinted: true }, style);
  if (lines.length <= room) return { lines, cursor };
  return { lines: lines.slice(1, -1), cursor: cursor && { ...cursor, row: cursor.row - 1 } };
}
