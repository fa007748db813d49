/** The conversation of a task: the sessions of its stages, the newest first. */
import { createSignal, For, Show, Suspense, type JSX } from "solid-js";
import { visible } from "../format.ts";
import { useServer } from "../server.tsx";
import { lazyScreen } from "../shell/lazy-screen.ts";
import { Link } from "../shell/link.tsx";
import { useTask } from "./task-context.tsx";

const Conversation = lazyScreen(async () => (await import("../session/conversation.tsx")).Conversation);

export function Sessions(): JSX.Element {
  const { roster } = useServer();
  const { task } = useTask();
  const [chosen, setChosen] = createSignal<string>();
  const shown = (): string | undefined => chosen() ?? task().sessions.at(-1)?.id;
  const titleOf = (id: string, stage: string): string => {
    const status = roster.sessions[id]?.status;
    return status === undefined ? stage : `${stage} (${status})`;
  };
  return (
    <Show
      when={shown()}
      fallback={<p class="empty">No agent has started yet. The conversation appears here as soon as one does.</p>}
    >
      {(id) => (
        <section class="task-conversation" aria-label="Sessions">
          <Show when={task().sessions.length > 1}>
            <div class="toolbar">
              <label>
                <span class="small muted">Stage</span>{" "}
                <select value={id()} onChange={({ currentTarget }) => setChosen(currentTarget.value)}>
                  <For each={task().sessions.toReversed()}>
                    {(session) => (
                      <option value={session.id} selected={session.id === id()}>
                        {visible(titleOf(session.id, session.stage))}
                      </option>
                    )}
                  </For>
                </select>
              </label>
              <Link to={{ screen: "session", id: id() }}>Open it alone</Link>
            </div>
          </Show>
          <Suspense fallback={<p class="muted">Loading…</p>}>
            <Conversation sessionId={id()} />
          </Suspense>
        </section>
      )}
    </Show>
  );
}
