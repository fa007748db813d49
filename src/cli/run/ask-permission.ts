/** Asks for a permission in lines, on terminals that cannot redraw them. */
import type { Answer } from "../../session/method-types.ts";
import { formatDiffs } from "../diff/format-diff.ts";
import { choosePager, openPager } from "../diff/pager.ts";
import { formatCount } from "../format.ts";
import { type Io, hasColor } from "../io.ts";
import { ansiPaint, plainPaint } from "../paint.ts";
import { toSingleLine } from "../sanitize.ts";
import { askLine } from "./ask-line.ts";
import { type PendingRequest, formatRequestDetails, formatRequester } from "./pending-request.ts";

/** Number of lines that fit on a small screen. */
const MAX_VISIBLE_LINES = 20;

/** Prints all details again after the pager, because they may have scrolled away, but not after a wrong answer. */
export async function askPermissionInLines(io: Io, asked: PendingRequest, signal: AbortSignal): Promise<Answer> {
  const { diffs = [] } = asked;
  const tool = toSingleLine(asked.tool ?? "", 100);
  const pager = choosePager(io.env);
  const paint = hasColor({ env: io.env, stdout: io.stderr }) ? ansiPaint : plainPaint;
  const hint = `d opens them in ${toSingleLine(pager, 60)}`;
  const lines = formatRequestDetails(asked, { paint, columns: io.stderr.columns, hint });
  const isFolded = lines.some((line) => line.endsWith(hint));
  const isLong = !isFolded && lines.length > MAX_VISIBLE_LINES;
  const many = isLong ? `, all ${formatCount(lines.length)} lines above` : "";
  const whose = formatRequester(asked.from);
  const { prefix } = asked;
  const always =
    prefix === undefined
      ? [`[a]lways ${tool} in this session`]
      : [`[a]lways ${prefix} … in this session`, `[every] ${tool}`];
  const choices = ["[y]es", ...always, "[n]o", ...(isFolded ? ["[d]iff"] : [])];
  const ask = `Allow ${tool}${whose}${many}? ${choices.join(", ")} `;
  const whole = [`${tool}${whose}:`, ...lines, ask].join("\n");
  for (let shown = whole; ;) {
    const typed = await askLine(io, shown, signal);
    shown = whole;
    if (diffs.length > 0 && ["d", "diff"].includes(typed?.trim().toLowerCase() ?? "")) {
      await openPager(io, `${formatDiffs(diffs, { paint }).join("\n")}\n`, signal);
      continue;
    }
    const answer = parseDecision(typed, prefix);
    if (answer !== undefined) return answer;
    const unknown = toSingleLine(typed ?? "", 40);
    const choices = "type y (yes, once), a (always in this session), n (no) or n and a reason";
    io.stderr.write(`${unknown === "" ? "no answer" : `"${unknown}" is not an answer`}: ${choices}\n`);
    shown = ask;
  }
}

/**
 * Returns undefined for an unknown answer. A closed input means no. A reason may follow a no: `n use npm test`.
 * `prefix`: the words that `a` allows; `every` allows every call of the tool. Default: `a` does that.
 */
export function parseDecision(typed: string | undefined, prefix?: string): Answer | undefined {
  const word = typed?.trim().toLowerCase() ?? "no";
  const [, message] = /^no?[\s,:]+(.+)$/i.exec(typed?.trim() ?? "") ?? [];
  if (message !== undefined) return { decision: "deny", message };
  if (["y", "yes"].includes(word)) return { decision: "allow", scope: "once" };
  if (["a", "always"].includes(word))
    return { decision: "allow", scope: "session", ...(prefix !== undefined && { prefix }) };
  if (word === "every" && prefix !== undefined) return { decision: "allow", scope: "session" };
  return ["n", "no"].includes(word) ? { decision: "deny" } : undefined;
}
