/** The title of the roster and the board, with the search and the buttons for a new task and for cleaning up. */
import { createMemo, createSignal, Show, Suspense, type JSX } from "solid-js";
import { isEndedStatus } from "../../../src/domain/enums.ts";
import { hasKeyboard } from "../keys/has-keyboard.ts";
import { useServer } from "../server.tsx";
import { ActionMenu } from "../shell/action-menu.tsx";
import { lazyScreen } from "../shell/lazy-screen.ts";
import { isNarrow } from "../shell/narrow.ts";

const CollectDialog = lazyScreen(async () => (await import("../collect/collect-dialog.tsx")).CollectDialog);

interface RosterHeadProps {
  readonly title: string;
  readonly search: string;
  onSearch(text: string): void;
  onNewTask(): void;
}

export function RosterHead(props: RosterHeadProps): JSX.Element {
  const { roster } = useServer();
  const [isCollecting, setCollecting] = createSignal(false);
  const hasUnusedWorktrees = createMemo(() =>
    Object.values(roster.tasks).some(
      ({ status, worktree }) => isEndedStatus(status) && worktree !== undefined && !worktree.removed,
    ),
  );
  return (
    <header class="roster-head">
      <h1>{props.title}</h1>
      <label>
        <span class="visually-hidden">Search tasks and sessions</span>
        <input
          type="search"
          id="search"
          placeholder={hasKeyboard ? "Search  /" : "Search"}
          value={props.search}
          onInput={({ currentTarget }) => props.onSearch(currentTarget.value)}
        />
      </label>
      <Show when={hasUnusedWorktrees() && !isNarrow()}>
        <CleanUpButton onClick={() => setCollecting(true)} />
      </Show>
      <button class="primary" onClick={() => props.onNewTask()}>
        New task
      </button>
      <Show when={hasUnusedWorktrees() && isNarrow()}>
        <ActionMenu>
          <CleanUpButton onClick={() => setCollecting(true)} />
        </ActionMenu>
      </Show>
      <Suspense>
        <Show when={isCollecting()}>
          <CollectDialog onClose={() => setCollecting(false)} />
        </Show>
      </Suspense>
    </header>
  );
}

function CleanUpButton(props: { onClick(): void }): JSX.Element {
  return <button onClick={() => props.onClick()}>Clean up…</button>;
}
