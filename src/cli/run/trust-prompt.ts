/** Asks the person at the terminal once whether to trust a repository. */
import { trust, trustState } from "../../config/trust.ts";
import { isRookeryError } from "../../domain/errors.ts";
import { type Io, isPersonPresent, printNotice } from "../io.ts";
import { escapeInvisible } from "../sanitize.ts";
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
    if (!(await confirm(io, "Trust it?", signal))) throw error;
    await trust(cwd, io.env);
    return await open();
  }
}
