/** Everything that waits for an answer, in one list. */
import { For, onCleanup, Show, type JSX } from "solid-js";
import "../session/session.css";
import "../styles/inbox.css";
import { folderName, formatAge, visible } from "../format.ts";
import { useServer } from "../server.tsx";
import { RequestCard } from "../session/requests/request-card.tsx";
import { notificationChoice } from "../shell/attention.ts";
import { Link } from "../shell/link.tsx";
import { Problem } from "../shell/problem.tsx";
import { followAnswers } from "./answer-focus.ts";
import { openInbox, type OpenRequest } from "./model.ts";

export function Inbox(): JSX.Element {
  const inbox = openInbox();
  let list: HTMLUListElement | undefined;
  const focus = followAnswers(inbox.requests, () => list);
  addEventListener("keydown", selectFirst, { capture: true }); // before the shortcuts of the page: `n` is one of them
  onCleanup(() => removeEventListener("keydown", selectFirst, { capture: true }));
  return (
    <main class="inbox">
      <header class="roster-head">
        <h1>Inbox</h1>
        <Show when={inbox.requests().length > 0}>
          <p class="muted small key-hint">
            <kbd>j</kbd> <kbd>k</kbd> move · <kbd>y</kbd> allow · <kbd>a</kbd> allow for the session · <kbd>n</kbd> deny
            · <kbd>e</kbd> give a reason
          </p>
        </Show>
        <button aria-pressed={notificationChoice.isOn()} onClick={() => void notificationChoice.toggle()}>
          {notificationChoice.isOn() ? "Notifications on" : "Notify me"}
        </button>
      </header>
      <Problem text={notificationChoice.problem()} />
      <Problem text={inbox.problem()} />
      <Show when={inbox.isLoaded()} fallback={<p class="muted">Loading…</p>}>
        <ul ref={list} on:keydown={handleRequestKey}>
          <For each={inbox.requests()} fallback={<EmptyText />}>
            {(request) => (
              <li class="waiting">
                <Place request={request} />
                <RequestCard
                  sessionId={request.sessionId}
                  request={request}
                  onAnswer={(answer) => focus.onAnswer(request, answer)}
                />
              </li>
            )}
          </For>
        </ul>
      </Show>
    </main>
  );
}

/**
 * A key that answers selects the first request if none has the focus. It does not answer yet: the person may look at
 * another request, or the list may just have changed.
 */
function selectFirst(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || !["y", "a", "n", "e"].includes(event.key)) return;
  const isElsewhere = (event.target as Element).closest(".waiting, input, textarea, select, dialog") === null;
  if (!isElsewhere || document.querySelector("dialog[open]") !== null) return;
  const first = document.querySelector<HTMLElement>(".waiting .request-card button.primary");
  if (first === null) return;
  event.preventDefault();
  first.focus();
}

function EmptyText(): JSX.Element {
  return (
    <li class="empty" tabindex="-1">
      Nothing is waiting for an answer.
    </li>
  );
}

/**
 * `e` moves to the reason field of the request that has the focus. A question ignores `n`, which makes a new task
 * elsewhere.
 */
function handleRequestKey(event: KeyboardEvent): void {
  const target = event.target as Element;
  if (event.ctrlKey || event.metaKey || target.closest(".waiting") === null) return;
  if (!["e", "n"].includes(event.key) || target.matches("input, textarea, select")) return;
  event.preventDefault();
  if (event.key === "n") return;
  target.closest(".waiting")?.querySelector<HTMLInputElement>(".request-reason")?.focus();
}

function Place(props: { readonly request: OpenRequest }): JSX.Element {
  const { roster } = useServer();
  const session = () => roster.sessions[props.request.sessionId];
  const task = () => {
    const id = session()?.task;
    return id === undefined ? undefined : roster.tasks[id];
  };
  return (
    <p class="small muted place">
      <Show
        when={task()}
        fallback={
          <Link to={{ screen: "session", id: props.request.sessionId }}>
            {visible((session()?.title ?? "Session").slice(0, 120))}
          </Link>
        }
      >
        {(known) => (
          <Link to={{ screen: "task", id: known().id, tab: "conversation" }}>
            {visible(known().title.slice(0, 120))}
          </Link>
        )}
      </Show>
      {" · "}
      {visible(props.request.agent)} · {visible(folderName(task()?.repository ?? session()?.cwd ?? ""))} ·{" "}
      {formatAge(props.request.at, roster.now())}
    </p>
  );
}
