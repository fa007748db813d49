/** The changes of a task: a tree of files, the diff, and the comments on it. */
import { createEffect, createMemo, createSignal, For, Match, on, onCleanup, Show, Switch, type JSX } from "solid-js";
import type { TaskDiff } from "../../../../src/domain/task/view.ts";
import { readWhenConnected } from "../../feed/read-when-connected.ts";
import { visible } from "../../format.ts";
import { createReading } from "../../reading.ts";
import { useServer } from "../../server.tsx";
import { isNarrow } from "../../shell/narrow.ts";
import "../../styles/changes.css";
import { readSessionDiff, readTaskDiff } from "../task-calls.ts";
import { useTask } from "../task-context.tsx";
import { openCommentStore } from "./comment-store.ts";
import { DiffView, type DiffHandle } from "./diff-view.tsx";
import { Counts } from "./diff-line.tsx";
import { FileList } from "./file-list.tsx";
import { parsePatch } from "./parse-patch.ts";
import { BRANCH_SCOPE, listScopes, type DiffScope } from "./scopes.ts";
import { SendComments } from "./send-comments.tsx";

const VIEW_NAME = "rookery-diff-view";
/** Changes that the agent makes while a person reads are shown only after the person asks for them. */
const CHANGES_FILES = new Set(["stage.ended", "task.ended", "merge.ended", "turn.ended"]);

export function Changes(): JSX.Element {
  const { client, feed } = useServer();
  const { id, task, log } = useTask();
  const store = openCommentStore(id);
  const [isSplit, setSplit] = createSignal(localStorage.getItem(VIEW_NAME) === "split");
  const [isStale, setStale] = createSignal(false);
  const [file, setFile] = createSignal<string>();
  const [scopeKey, setScopeKey] = createSignal(BRANCH_SCOPE.key);
  const scopes = createMemo(() => listScopes(task(), log.events()));
  const scope = (): DiffScope => scopes().find(({ key }) => key === scopeKey()) ?? BRANCH_SCOPE;
  const diff = createReading((): Promise<TaskDiff & { readonly commands?: number }> => {
    setStale(false);
    const { session, turn } = scope();
    return session === undefined ? readTaskDiff(client, id, true) : readSessionDiff(client, session, turn);
  });
  const patch = createMemo(() => parsePatch(diff.value()?.patch ?? ""));
  let view: DiffHandle | undefined;

  const hasWorktree = (): boolean => task().worktree !== undefined && task().worktree?.removed !== true;
  /** The changes of a session are in the log, even if the worktree is gone. */
  const canRead = (): boolean => hasWorktree() || scope().session !== undefined;
  createEffect(on([canRead, scopeKey], ([can]) => can && void diff.read()));
  readWhenConnected(feed, {
    read: () => void diff.read(),
    hasFailed: () => canRead() && diff.error() !== undefined,
    isSnapshot: false,
  });
  const isOwnSession = (session: string | undefined): boolean => task().sessions.some((each) => each.id === session);
  onCleanup(
    feed.listen((followed) => {
      const changed = followed.some(({ event }) => {
        const { taskId, sessionId } = event as { readonly taskId?: string; readonly sessionId?: string };
        return CHANGES_FILES.has(event.type) && (taskId === id || isOwnSession(sessionId));
      });
      if (!changed || !canRead()) return;
      if (patch().rows.length === 0) void diff.read();
      else setStale(true);
    }),
  );
  const chooseView = (next: "unified" | "split"): void => {
    localStorage.setItem(VIEW_NAME, next);
    setSplit(next === "split");
  };
  return (
    <section aria-label="Changes">
      <div class="toolbar">
        <Show when={diff.value()}>
          {(known) => (
            <span class="small" role="status">
              {scope().session === undefined ? summarize(known()) : summarizeSession(known())}{" "}
              <Counts additions={known().additions} deletions={known().deletions} />
            </span>
          )}
        </Show>
        <Show when={isStale()}>
          <span class="small warn">The agent has worked since.</span>
        </Show>
        <span class="gap" />
        <label>
          <span class="visually-hidden">Which changes</span>
          <select class="scope" value={scope().key} onChange={({ currentTarget }) => setScopeKey(currentTarget.value)}>
            <For each={scopes()}>{({ key, title }) => <option value={key}>{visible(title)}</option>}</For>
          </select>
        </label>
        <Show when={!isNarrow()}>
          <div class="segments" role="group" aria-label="View">
            <button type="button" aria-pressed={!isSplit()} onClick={() => chooseView("unified")}>
              Unified
            </button>
            <button type="button" aria-pressed={isSplit()} onClick={() => chooseView("split")}>
              Split
            </button>
          </div>
        </Show>
        <button type="button" disabled={diff.isRunning() || !canRead()} onClick={() => void diff.read()}>
          {diff.isRunning() ? "Reading…" : "Reload"}
        </button>
      </div>
      <SendComments store={store} patch={patch()} />
      <Show when={diff.error()}>
        {(error) => (
          <p class="bad" role="alert">
            The changes could not be read: {visible(error())}
          </p>
        )}
      </Show>
      <Switch>
        <Match when={!canRead()}>
          <p class="empty">
            {task().worktree === undefined
              ? "The task has no worktree yet. Its changes appear here when the agent works."
              : "The worktree was removed, and its changes with it."}
          </p>
        </Match>
        <Match when={diff.value()?.files.length === 0}>
          <p class="empty">
            {scope().session === undefined
              ? `No changes against ${visible(task().worktree?.base ?? "the base")}.`
              : "The log has no changes of files by tools here. Files that commands changed are in the branch."}
          </p>
        </Match>
        <Match when={diff.value()}>
          {(known) => (
            <>
              <Show when={known().truncated}>
                <p class="task-notice warn-surface">
                  The diff is too long to be shown whole. The files without a link are missing: see{" "}
                  <code>rookery task diff {id}</code>
                </p>
              </Show>
              <Show when={store.comments().length === 0}>
                <p class="muted small comment-hint">
                  To comment, choose a line number
                  <span class="key-hint">
                    , or press <kbd>c</kbd> on a line
                  </span>
                  .<Show when={!isNarrow()}> Comments go to the agent when you send them.</Show>
                </p>
              </Show>
              <div class="changes">
                <FileList
                  files={known().files}
                  patch={patch()}
                  current={file() ?? patch().files[0]?.path}
                  onChoose={(path) => view?.showFile(path)}
                />
                <DiffView
                  patch={patch()}
                  isSplit={isSplit() && !isNarrow()}
                  store={store}
                  onFile={setFile}
                  ref={(handle) => (view = handle)}
                />
              </div>
            </>
          )}
        </Match>
        <Match when={diff.isRunning()}>
          <p class="muted">Reading the changes…</p>
        </Match>
      </Switch>
    </section>
  );
}

function summarizeSession({ files, commands = 0 }: TaskDiff & { readonly commands?: number }): string {
  const without = commands === 0 ? "" : `, without what ${commands} ${commands === 1 ? "command" : "commands"} changed`;
  return `${files.length} ${files.length === 1 ? "file" : "files"}${without}`;
}

function summarize({ files, commits, uncommitted }: TaskDiff): string {
  const parts = [
    `${files.length} ${files.length === 1 ? "file" : "files"}`,
    `${commits.length} ${commits.length === 1 ? "commit" : "commits"}`,
    ...(uncommitted ? ["uncommitted changes"] : []),
  ];
  return parts.join(" · ");
}
