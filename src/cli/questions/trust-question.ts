/** Asks once whether to trust a repository, and then opens the session again. */
import { trust, trustState } from "../../config/trust.ts";
import { listTrustedActions } from "../../config/trusted-actions.ts";
import { isRookeryError } from "../../domain/errors.ts";
import type { EnvironmentVariables } from "../../stdx/environment.ts";
import { formatTrustedActions } from "../run/trust-prompt.ts";
import { escapeInvisible } from "../sanitize.ts";

export interface TrustQuestion {
  readonly cwd: string;
  readonly env: EnvironmentVariables;
  readonly ask: (what: string) => Promise<boolean>;
}

/** Rejects with `not_trusted` if the person refuses. */
export async function withTrustQuestion<T>({ cwd, env, ask }: TrustQuestion, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!isRookeryError(error, "not_trusted")) throw error;
    const state = await trustState(cwd, env);
    if (state.status !== "untrusted") throw error;
    const names = (files: readonly string[]): string => files.map(escapeInvisible).join(", ");
    const what = state.changed.length > 0 ? `changed: ${names(state.changed)}` : names(state.files);
    const heading = `${escapeInvisible(state.root)} has files that can run commands and steer agents (${what}).`;
    const actions = formatTrustedActions(await listTrustedActions(cwd).catch(() => []));
    if (!(await ask(`${heading}\n${actions}`.trimEnd()))) throw error;
    await trust(cwd, env);
    return await open();
  }
}
