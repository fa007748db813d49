/** The roster before the first task or session: how to start one, and a demo that needs no key. */
import { Show, type JSX } from "solid-js";
import { createAction } from "../action.ts";
import { navigate } from "../routes.ts";
import { newIdempotencyKey, sendOnce } from "../send.ts";
import { useServer } from "../server.tsx";
import { Problem } from "../shell/problem.tsx";

export function EmptyRoster(props: { readonly isSearch: boolean }): JSX.Element {
  return (
    <div class="empty">
      <Show when={!props.isSearch} fallback={<p>No task or session has this in its title, folder or last line.</p>}>
        <h2>No tasks or sessions yet.</h2>
        <p>
          Start one with New task, or in a terminal: <code>rookery task start "PROMPT"</code>
        </p>
        <DemoButton />
      </Show>
    </div>
  );
}

function DemoButton(): JSX.Element {
  const { client } = useServer();
  const start = createAction(async () => {
    const task = await sendOnce(newIdempotencyKey(), (header) =>
      client.POST("/v1/demo", { params: { header: { ...header } } }),
    );
    navigate({ screen: "task", id: task.id, tab: "conversation" });
  });
  return (
    <>
      <p>
        <button class="demo" onClick={() => void start.run()} disabled={start.isRunning()}>
          {start.isRunning() ? "Starting…" : "Run the demo task"}
        </button>
      </p>
      <p class="muted small">
        Needs no key: the model is scripted. The agent, its tools, the git worktree and the log are real.
      </p>
      <Problem text={start.error()} />
    </>
  );
}
