/** The screen of a task: its header, its pipeline, and the tabs Conversation, Changes, Checks and Events. */
import { createEffect, createMemo, createSignal, Match, on, onCleanup, Show, Switch, type JSX } from "solid-js";
import { isEndedStatus } from "../../../src/domain/enums.ts";
import type { TaskView } from "../../../src/domain/task/view.ts";
import { visible } from "../format.ts";
import type { TaskTab } from "../routes.ts";
import { useServer } from "../server.tsx";
import { lazyScreen } from "../shell/lazy-screen.ts";
import { Link } from "../shell/link.tsx";
import "../styles/task.css";
import { Checks } from "./checks.tsx";
import { Header } from "./header.tsx";
import { Pipeline } from "./pipeline.tsx";
import { Sessions } from "./sessions.tsx";
import { listStageRuns } from "./stages.ts";
import { Tabs } from "./tabs.tsx";
import { TaskContext } from "./task-context.tsx";
import { openTaskLog } from "./task-log.ts";

const Changes = lazyScreen(async () => (await import("./changes/changes.tsx")).Changes);
const Events = lazyScreen(async () => (await import("./events.tsx")).Events);

interface TaskScreenProps {
  readonly id: string;
  readonly tab: TaskTab;
}

export function TaskScreen(props: TaskScreenProps): JSX.Element {
  const { roster } = useServer();
  return (
    <Show when={roster.isLoaded()} fallback={<main class="muted">Loading…</main>}>
      <Show when={props.id} keyed>
        {(id) => <KnownTask id={id} tab={props.tab} />}
      </Show>
    </Show>
  );
}

function KnownTask(props: TaskScreenProps): JSX.Element {
  const server = useServer();
  const { id } = props; // the caller makes a new one for another task
  const log = openTaskLog(server, id);
  const runs = createMemo(() => listStageRuns(log.events()));
  const [now, setNow] = createSignal(server.roster.now());
  const task = (): TaskView | undefined => server.roster.tasks[id];
  createEffect(() => {
    const status = task()?.status;
    setNow(server.roster.now());
    if (status === undefined || isEndedStatus(status)) return;
    const timer = setInterval(() => setNow(server.roster.now()), 1_000);
    onCleanup(() => clearInterval(timer));
  });
  createEffect(
    on([task, () => props.tab], ([known]) => {
      document.title = `${visible(known?.title ?? id)} · Rookery`; // after the frame has set one for the screen
    }),
  );
  return (
    <Show when={task()} fallback={<NoTask id={id} />}>
      {(known) => (
        <TaskContext.Provider value={{ id, task: known, log, runs, now }}>
          <main class="task" classList={{ "fills-window": props.tab === "conversation" }}>
            <Header tab={props.tab} />
            <Pipeline />
            <Tabs />
            <Show when={log.error()}>{(error) => <p role="alert">{error()}</p>}</Show>
            <Switch>
              <Match when={props.tab === "conversation"}>
                <Sessions />
              </Match>
              <Match when={props.tab === "changes"}>
                <Changes />
              </Match>
              <Match when={props.tab === "checks"}>
                <Checks />
              </Match>
              <Match when={props.tab === "events"}>
                <Events />
              </Match>
            </Switch>
          </main>
        </TaskContext.Provider>
      )}
    </Show>
  );
}

function NoTask(props: { readonly id: string }): JSX.Element {
  return (
    <main class="empty">
      <h1>There is no task {visible(props.id)}</h1>
      <p>
        It was removed, or the link is wrong. <Link to={{ screen: "roster" }}>See all tasks</Link>
      </p>
    </main>
  );
}
