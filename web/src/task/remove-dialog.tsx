/** Removes a task after saying what would be lost. */
import { createSignal, For, Match, Show, Switch, type JSX } from "solid-js";
import { isRookeryError } from "../../../src/client/index.ts";
import type { TaskDiff, TaskView } from "../../../src/domain/task/view.ts";
import { createAction } from "../action.ts";
import { visible } from "../format.ts";
import { createReading } from "../reading.ts";
import { messageOf } from "../request.ts";
import { navigate } from "../routes.ts";
import { useServer } from "../server.tsx";
import { Dialog } from "../shell/dialog.tsx";
import { predictMerge, readTaskDiff, removeTask } from "./task-calls.ts";
import { useTask } from "./task-context.tsx";

const MAX_LISTED = 8;

export function RemoveDialog(props: { onClose(): void }): JSX.Element {
  const { client } = useServer();
  const { id, task } = useTask();
  const [refusal, setRefusal] = createSignal<string>();
  const loss = createReading(readLosses);
  void loss.read();
  const remove = createAction(async (force: boolean) => {
    try {
      await removeTask(client, id, force);
    } catch (error) {
      if (!force && isRookeryError(error, "worktree_unmerged")) return void setRefusal(messageOf(error));
      throw error;
    }
    navigate({ screen: "roster" });
  });
  const losses = (): readonly string[] => [loss.value() ?? [], refusal() ?? []].flat();
  return (
    <Dialog title={`Remove ${visible(task().title)}`} onClose={() => props.onClose()}>
      {(close) => (
        <>
          <Switch
            fallback={
              <p>All of its work is merged. The task leaves the roster, and its worktree and branch are deleted.</p>
            }
          >
            <Match when={loss.isRunning()}>
              <p class="muted">Looking for work that would be lost…</p>
            </Match>
            <Match when={loss.error()}>
              {(error) => <p role="alert">What would be lost is unknown: {visible(error())}</p>}
            </Match>
            <Match when={losses().length > 0}>
              <p class="bad">This cannot be undone. You would lose</p>
              <ul class="losses">
                <For each={losses()}>{(each) => <li>{visible(each)}</li>}</For>
              </ul>
            </Match>
          </Switch>
          <Show when={remove.error()}>
            {(error) => (
              <p class="bad" role="alert">
                Not removed: {visible(error())}
              </p>
            )}
          </Show>
          <div class="actions">
            <button
              type="button"
              class="danger"
              disabled={remove.isRunning() || loss.isRunning()}
              onClick={() => void remove.run(losses().length > 0)}
            >
              {remove.isRunning() ? "Removing…" : losses().length > 0 ? "Remove and lose this work" : "Remove"}
            </button>
            <button type="button" onClick={close}>
              Keep it
            </button>
          </div>
        </>
      )}
    </Dialog>
  );

  async function readLosses(): Promise<readonly string[]> {
    if (task().worktree === undefined || task().worktree?.removed === true) return [];
    const diff = await readTaskDiff(client, id, false);
    const unmerged = await countUnmerged(diff);
    return describeLosses(task(), diff, unmerged);
  }

  /** Commits that are in no other branch. The server refuses to remove if this misses some. */
  async function countUnmerged(diff: TaskDiff): Promise<number> {
    if (diff.commits.length === 0) return 0;
    const report = await predictMerge(client, id, {}).catch(() => undefined);
    return report?.outcome === "nothing" || report?.already === true ? 0 : diff.commits.length;
  }
}

function describeLosses({ worktree }: TaskView, diff: TaskDiff, unmerged: number): readonly string[] {
  const subjects = diff.commits.slice(0, MAX_LISTED).map(({ commit, subject }) => `${commit.slice(0, 9)} ${subject}`);
  const more = unmerged > MAX_LISTED ? `, and ${unmerged - MAX_LISTED} more` : "";
  const commits = `${unmerged} ${unmerged === 1 ? "commit" : "commits"} of ${worktree?.branch ?? "its branch"} that ${unmerged === 1 ? "is" : "are"} not merged: ${subjects.join("; ")}${more}`;
  return [
    ...(unmerged > 0 ? [commits] : []),
    ...(diff.uncommitted ? [`uncommitted changes in ${worktree?.path ?? "its worktree"}`] : []),
  ];
}
