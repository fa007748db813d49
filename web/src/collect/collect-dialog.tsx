/** Removes the worktrees that hold no unmerged work, after listing which, and why the others are kept. */
import { createEffect, createMemo, createSignal, For, on, Show, type JSX } from "solid-js";
import type { CollectReport } from "../../../src/domain/task/view.ts";
import { createAction } from "../action.ts";
import { folderName, formatBytes, visible } from "../format.ts";
import { createReading } from "../reading.ts";
import { newIdempotencyKey, sendOnce } from "../send.ts";
import { useServer } from "../server.tsx";
import { Dialog } from "../shell/dialog.tsx";
import "../styles/collect.css";

export function CollectDialog(props: { onClose(): void }): JSX.Element {
  const { client, roster } = useServer();
  const [repository, setRepository] = createSignal("");
  const [done, setDone] = createSignal<CollectReport>();
  const repositories = createMemo(() => [...new Set(Object.values(roster.tasks).map((task) => task.repository))]);
  const collect = async (dryRun: boolean): Promise<CollectReport> => {
    const body = { dryRun, ...(repository() !== "" && { cwd: repository() }) };
    const report = await sendOnce(newIdempotencyKey(), (header) =>
      client.POST("/v1/tasks/collect", { params: { header: { ...header } }, body }),
    );
    return report as CollectReport; // `sendOnce` waits until it is complete
  };
  const plan = createReading(() => collect(true));
  createEffect(
    on(repository, () => {
      setDone(undefined);
      void plan.read();
    }),
  );
  const remove = createAction(async () => setDone(await collect(false)));
  const report = (): CollectReport | undefined => done() ?? (plan.isRunning() ? undefined : plan.value());
  const canRemove = (): boolean => done() === undefined && (report()?.removed.length ?? 0) > 0;
  return (
    <Dialog title="Clean up worktrees" onClose={() => props.onClose()}>
      {(close) => (
        <div class="collect">
          <p class="muted">
            A worktree can be removed if its task has ended and its changes are merged, or if it has none. Tasks and
            conversations stay in the roster.
          </p>
          <Show when={repositories().length > 1}>
            <label>
              <span class="small muted">Repository</span>
              <select
                disabled={remove.isRunning()}
                onChange={({ currentTarget }) => setRepository(currentTarget.value)}
              >
                <option value="">all</option>
                <For each={repositories()}>
                  {(path) => (
                    <option value={path} title={visible(path)}>
                      {visible(folderName(path))}
                    </option>
                  )}
                </For>
              </select>
            </label>
          </Show>
          <div aria-live="polite">
            <Show when={plan.isRunning()}>
              <p class="muted">Checking the worktrees…</p>
            </Show>
            <Show when={plan.error() ?? remove.error()}>
              {(error) => (
                <p class="bad" role="alert">
                  {visible(error())}
                </p>
              )}
            </Show>
            <Show when={report()}>{(known) => <Report report={known()} />}</Show>
          </div>
          <div class="actions">
            <button
              type="button"
              class="primary"
              disabled={!canRemove() || remove.isRunning()}
              onClick={() => void remove.run()}
            >
              {remove.isRunning()
                ? "Removing…"
                : canRemove()
                  ? `Remove ${countWorktrees(report()?.removed.length)}`
                  : "Remove"}
            </button>
            <button type="button" onClick={close}>
              {done() === undefined ? "Cancel" : "Close"}
            </button>
          </div>
        </div>
      )}
    </Dialog>
  );
}

function Report(props: { readonly report: CollectReport }): JSX.Element {
  const removedTitle = (): string => {
    const { dryRun, removed, freed } = props.report;
    const count = countWorktrees(removed.length);
    return dryRun
      ? `${count} can be removed, which frees ${formatBytes(freed)}`
      : `${count} removed, ${formatBytes(freed)} freed`;
  };
  return (
    <>
      <Show
        when={props.report.removed.length > 0}
        fallback={<p>{props.report.dryRun ? "No worktree can be removed." : "No worktree was removed."}</p>}
      >
        <section aria-label={props.report.dryRun ? "Can be removed" : "Removed"}>
          <h3 class={props.report.dryRun ? undefined : "good"}>{removedTitle()}</h3>
          <ul>
            <For each={props.report.removed}>
              {({ id, path, bytes }) => (
                <li title={visible(path)}>
                  <strong>{visible(id)}</strong> <span class="muted small">{formatBytes(bytes)}</span>
                </li>
              )}
            </For>
          </ul>
        </section>
      </Show>
      <Show when={props.report.kept.length > 0}>
        <section aria-label="Kept">
          <h3>Kept</h3>
          <ul>
            <For each={props.report.kept}>
              {({ id, path, why }) => (
                <li title={visible(path)}>
                  <strong>{visible(id)}</strong> <span class="muted small">{visible(why)}</span>
                </li>
              )}
            </For>
          </ul>
        </section>
      </Show>
    </>
  );
}

function countWorktrees(count = 0): string {
  return `${count} ${count === 1 ? "worktree" : "worktrees"}`;
}
