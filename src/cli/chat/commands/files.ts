/** `/diff`, `/output` and `/undo`. */
import { RookeryError } from "../../../domain/errors.ts";
import { git, gitTry } from "../../../worktrees/git.ts";
import { foldLines } from "../../diff/fold.ts";
import { formatPatch, formatPatchHeadings } from "../../diff/format-patch.ts";
import { openPager } from "../../diff/pager.ts";
import { escapeInvisible, stripControls } from "../../sanitize.ts";
import { wrapStyled } from "../../tui/styled-text.ts";
import { readBranch } from "../screen/branch.ts";
import type { ChatHost } from "../host.ts";
import { changesSince, chatGitOptions, restoreSnapshot, takeSnapshot } from "../snapshots.ts";

/** How many changes are listed before they are undone. */
const MAX_LISTED = 20;

const MAX_DIFF_BYTES = 8 * 1024 * 1024;

/**
 * Shows what differs from the last commit, including new files: above the prompt if it fits on the screen, otherwise in
 * the pager, and then the files above the prompt. Git runs with the policy for untrusted repositories, so that it starts
 * no diff driver of the repository.
 */
export async function showDiff(chat: ChatHost): Promise<void> {
  const { cwd, io, surface } = chat;
  if ((await readBranch(cwd)) === undefined) {
    throw new RookeryError("repository_missing", `${cwd} is not in a git repository`);
  }
  const now = await takeSnapshot(cwd, io.env); // undefined if that takes too long; then new files are left out
  const args = ["diff", ...PATCH_FLAGS, await findDiffBase(chat), ...(now === undefined ? [] : [now.tree])];
  const patch = await git(cwd, args, chatGitOptions(io.env), { truncateAt: MAX_DIFF_BYTES });
  if (patch === "") return chat.notice("no file differs from the last commit", "dim");
  const { paint } = surface;
  const { columns, rows } = surface.size;
  const lines = formatPatch(patch, { paint, columns });
  if (lines.length <= rows - FREE_ROWS) return chat.print(lines);
  await openInPager(chat, formatPatch(patch, { paint }).join("\n"));
  const headings = formatPatchHeadings(patch, { paint }).flatMap((line) => wrapStyled(line, columns, "    "));
  chat.print(foldLines(headings, { max: Math.max(1, rows - FREE_ROWS), hint: "/diff shows all" }));
}

/** The last commit, or the empty tree in a repository without a commit. */
async function findDiffBase({ cwd, io }: ChatHost): Promise<string> {
  const options = chatGitOptions(io.env);
  const { code } = await gitTry(cwd, ["rev-parse", "--verify", "--quiet", "HEAD"], options);
  return code === 0 ? "HEAD" : await git(cwd, ["hash-object", "-t", "tree", "--stdin"], options);
}

const PATCH_FLAGS = ["--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", "-U3", "-M"];

/** Shows the whole output of the last command that the agent ran. */
export async function showOutput(chat: ChatHost): Promise<void> {
  const { lastOutput } = chat.state;
  if (lastOutput === undefined) return chat.notice("no command has printed anything yet", "dim");
  await showText(chat, `${lastOutput.title}\n${stripControls(lastOutput.text)}`);
}

/** Rows of the screen that stay free if a text is printed. */
const FREE_ROWS = 6;

/** Prints a text that fits the screen, and opens a longer one in the pager. */
async function showText(chat: ChatHost, text: string): Promise<void> {
  const { columns, rows } = chat.surface.size;
  const lines = text.split("\n").flatMap((line) => wrapStyled(line.replaceAll("\t", "    "), columns));
  if (lines.length <= rows - FREE_ROWS) return chat.print(lines);
  await openInPager(chat, text);
}

async function openInPager({ io, surface }: ChatHost, text: string): Promise<void> {
  await surface.lend(() => openPager(io, `${text}\n`, new AbortController().signal));
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
  if (!(await chat.keys.confirm("Undo these changes? Commands that ran are not undone."))) return;
  await restoreSnapshot(snapshot, changes, chat.io.env);
  chat.notice(`undid the changes of ${changes.length} ${changes.length === 1 ? "file" : "files"}`, "dim");
}
