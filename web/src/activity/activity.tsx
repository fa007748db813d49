/** Everything that happened, newest first, from the feed of all sessions and tasks. */
import { createMemo, createSignal, For, onCleanup, Show, type JSX } from "solid-js";
import "../styles/activity.css";
import { readWhenConnected } from "../feed/read-when-connected.ts";
import { formatAge, visible } from "../format.ts";
import { hasKeyboard } from "../keys/has-keyboard.ts";
import { dataOf, messageOf } from "../request.ts";
import { Problem } from "../shell/problem.tsx";
import { useServer } from "../server.tsx";
import { Link } from "../shell/link.tsx";
import { describeEvent, type ActivityEntry } from "./describe.ts";

const PAGE = 2_000;
const MAX_ENTRIES = 2_000;
const MAX_TITLE = 100;

export function Activity(): JSX.Element {
  const { client, feed, roster } = useServer();
  const [entries, setEntries] = createSignal<readonly ActivityEntry[]>([]);
  const [oldest, setOldest] = createSignal<number>();
  const [search, setSearch] = createSignal("");
  const [problem, setProblem] = createSignal<string>();

  const add = (more: readonly ActivityEntry[]): void => {
    const known = new Set(entries().map(({ position }) => position));
    const all = [...entries(), ...more.filter(({ position }) => !known.has(position))];
    setEntries(all.sort((a, b) => b.position - a.position).slice(0, MAX_ENTRIES));
  };

  async function loadBefore(end: number): Promise<void> {
    const after = Math.max(0, end - PAGE);
    try {
      const { events } = await dataOf(client.GET("/v1/events", { params: { query: { after, limit: end - after } } }));
      add(events.flatMap(({ position, event }) => describeEvent(position, event as never) ?? []));
      setOldest(after);
      setProblem(undefined);
    } catch (error) {
      setProblem(messageOf(error));
    }
  }

  onCleanup(
    feed.listen((events) => add(events.flatMap(({ position, event }) => describeEvent(position, event) ?? []))),
  );
  readWhenConnected(feed, { read: () => void loadNewest(), hasFailed: () => problem() !== undefined });

  async function loadNewest(): Promise<void> {
    try {
      const { head } = await dataOf(client.GET("/v1/events", { params: { query: { limit: 0 } } }));
      await loadBefore(head);
    } catch (error) {
      setProblem(messageOf(error));
    }
  }
  /** The title of the task or session of the entry. Its id if it was removed. */
  const titleOf = ({ route }: ActivityEntry): string => {
    const title = route.screen === "task" ? roster.tasks[route.id]?.title : roster.sessions[route.id]?.title;
    return (title ?? route.id).slice(0, MAX_TITLE);
  };
  const shown = createMemo(() => {
    const words = search().toLowerCase().split(/\s+/);
    return entries().filter((entry) => {
      const all = `${titleOf(entry)} ${entry.agent ?? ""} ${entry.text} ${entry.type}`.toLowerCase();
      return words.every((word) => all.includes(word));
    });
  });
  const emptyText = (): string => {
    const first = oldest();
    if (first === undefined) return "Loading…";
    if (first > 0) return "Nothing here. Show older entries, or change the filter.";
    return search().trim() === ""
      ? "Nothing has happened yet. What tasks and sessions do appears here."
      : "No entry matches.";
  };
  return (
    <main>
      <header class="roster-head">
        <h1>Activity</h1>
        <label>
          <span class="visually-hidden">Filter the activity</span>
          <input
            type="search"
            id="search"
            placeholder={hasKeyboard ? "Filter  /" : "Filter"}
            value={search()}
            onInput={({ currentTarget }) => setSearch(currentTarget.value)}
          />
        </label>
      </header>
      <Problem text={problem()} />
      <ol class="activity">
        <For each={shown()} fallback={<li class="muted">{emptyText()}</li>}>
          {(entry) => (
            <li id={`event-${entry.position}`}>
              <time datetime={entry.at} title={new Date(entry.at).toLocaleString()}>
                {formatAge(entry.at, roster.now())}
              </time>
              <span>
                <Link to={entry.route}>{visible(titleOf(entry))}</Link>{" "}
                <span class={entry.tone}>
                  {visible(entry.agent === undefined ? entry.text : `${entry.agent} ${entry.text}`)}
                </span>
              </span>
              <a
                class="permalink muted"
                href={`#event-${entry.position}`}
                aria-label={`Link to event ${entry.position}`}
              >
                #{entry.position}
              </a>
            </li>
          )}
        </For>
      </ol>
      <Show when={(oldest() ?? 0) > 0}>
        <button onClick={() => void loadBefore(oldest() ?? 0)}>Show older</button>
      </Show>
    </main>
  );
}
