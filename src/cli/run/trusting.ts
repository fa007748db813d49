/** Asks the person at a terminal, once, whether what a repository brings may be used. */
import { trust, trustState } from "../../config/trust.ts";
import { isRookeryError } from "../../domain/errors.ts";
import { type Io, isAttended, say } from "../io.ts";
import { visible } from "../printable.ts";
import { confirm } from "./question.ts";

export async function trusting<T>(
  { io, cwd, signal }: { io: Io; cwd: string; signal: AbortSignal },
  open: () => Promise<T>,
): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!isRookeryError(error, "not_trusted") || !isAttended(io)) throw error;
    const state = await trustState(cwd, io.env);
    if (state.status !== "untrusted") throw error;
    const names = (files: readonly string[]) => files.map(visible).join(", ");
    const what = state.changed.length > 0 ? `changed: ${names(state.changed)}` : names(state.files);
    say(io, `${visible(state.root)} brings what can run commands and steer agents (${what})`);
    if (!(await confirm(io, "Trust it?", signal))) throw error;
    await trust(cwd, io.env);
    return await open();
  }
}
