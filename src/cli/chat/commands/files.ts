/** `/diff` and `/undo`. */
import { spawn } from "node:child_process";
import { RookeryError } from "../../../domain/errors.ts";
import { childEnvironment } from "../../../domain/child-environment.ts";
import { escapeInvisible } from "../../sanitize.ts";
import { readBranch } from "../branch.ts";
import type { ChatHost } from "../host.ts";
import { changesSince, restoreSnapshot } from "../snapshots.ts";

/** Changes that are listed before they are taken back. */
const MAX_LISTED = 20;

/** Gives the terminal to git, which uses the person's pager and settings. */
export async function showDiff(chat: ChatHost): Promise<void> {
  if ((await readBranch(chat.cwd)) === undefined) {
    throw new RookeryError("repository_missing", `${chat.cwd} is not in a git repository`);
  }
  const code = await chat.surface.lend(
    () =>
      new Promise<number | null>((resolve, reject) => {
        const child = spawn("git", ["diff", "HEAD"], {
          cwd: chat.cwd,
          env: childEnvironment(chat.io.env),
          stdio: "inherit",
        });
        child.once("error", reject);
        child.once("close", resolve);
      }),
  );
  if (code !== 0) throw new RookeryError("git_failed", "git could not show the changes; see its message above");
}

export async function undoChanges(chat: ChatHost): Promise<void> {
  const { snapshot } = chat.connection;
  if (snapshot === undefined) {
    throw new RookeryError(
      "repository_missing",
      "nothing can be undone: this chat has sent no prompt yet, or the directory is not in a git repository",
    );
  }
  if (chat.state.runningSince !== undefined) {
    throw new RookeryError("turn_in_progress", "the agent is working; interrupt it with Esc first");
  }
  const changes = await changesSince(snapshot, chat.io.env);
  if (changes.length === 0) return chat.notice("no file has changed since your last prompt", "dim");
  const listed = changes.slice(0, MAX_LISTED).map(({ path, status }) => `  ${status} ${escapeInvisible(path)}`);
  const more = changes.length > MAX_LISTED ? [`  … and ${changes.length - MAX_LISTED} more`] : [];
  chat.notice(["since your last prompt:", ...listed, ...more].join("\n"));
  if (!(await chat.keys.confirm("Take these changes back? Commands that ran are not undone."))) return;
  await restoreSnapshot(snapshot, changes, chat.io.env);
  chat.notice(`took back the changes of ${changes.length} ${changes.length === 1 ? "file" : "files"}`, "dim");
}
