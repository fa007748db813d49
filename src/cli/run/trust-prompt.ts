/** Opens a session. If the repository is not trusted, asks the person at the terminal once, and opens it again. */
import { trust, trustState } from "../../config/trust.ts";
import { isRookeryError } from "../../domain/errors.ts";
import { type Io, isPersonPresent, printNotice } from "../io.ts";
import { escapeInvisible } from "../sanitize.ts";
import { listTrustedActions, type TrustedAction } from "../../config/trusted-actions.ts";
import { formatCount } from "../format.ts";
import { canAskWithKeys } from "../questions/question-terminal.ts";
import { confirm } from "./ask-line.ts";

export async function withTrustPrompt<T>(
  { io, cwd, signal }: { io: Io; cwd: string; signal: AbortSignal },
  open: () => Promise<T>,
): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!isRookeryError(error, "not_trusted") || !isPersonPresent(io)) throw error;
    const state = await trustState(cwd, io.env);
    if (state.status !== "untrusted") throw error;
    const names = (files: readonly string[]) => files.map(escapeInvisible).join(", ");
    const what = state.changed.length > 0 ? `changed: ${names(state.changed)}` : names(state.files);
    printNotice(io, `${escapeInvisible(state.root)} has files that can run commands and steer agents (${what})`);
    io.stderr.write(formatTrustedActions(await listTrustedActions(cwd).catch(() => [])));
    if (!(await askToTrust(io, signal))) throw error;
    await trust(cwd, io.env);
    return await open();
  }
}

async function askToTrust(io: Io, signal: AbortSignal): Promise<boolean> {
  if (!canAskWithKeys(io)) return confirm(io, "Trust it?", signal);
  const { confirmWithKeys } = await import("../questions/ask-with-keys.ts");
  return confirmWithKeys({ io }, "Trust it?", signal);
}

const MAX_ACTIONS = 20;
const MAX_ACTION_LENGTH = 300;

/** Lists what would run, one per line, so that the decision needs no other window. */
export function formatTrustedActions(actions: readonly TrustedAction[]): string {
  if (actions.length === 0) return "";
  const shown = actions.slice(0, MAX_ACTIONS).map(({ where, what }) => {
    const text = escapeInvisible(what);
    const cut = text.length > MAX_ACTION_LENGTH ? `${text.slice(0, MAX_ACTION_LENGTH)}…` : text;
    return `  ${escapeInvisible(where)}: ${cut}\n`;
  });
  const more = actions.length - shown.length;
  return `This would run:\n${shown.join("")}${more > 0 ? `  … and ${formatCount(more)} more; read the files\n` : ""}`;
}
