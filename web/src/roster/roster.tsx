/** The home screen: all tasks and sessions, grouped by what they need. */
import { createMemo, createSignal, For, Show, type JSX } from "solid-js";
import "../styles/roster.css";
import { useServer } from "../server.tsx";
import { GROUP_TITLES, GROUPS, isTopLevel, matchesSearch, sessionRow, taskRow, type RosterRow } from "./groups.ts";
import { Row } from "./row.tsx";

const MAX_SHOWN = 50;

export function Roster(): JSX.Element {
  const { roster } = useServer();
  const [search, setSearch] = createSignal("");
  const rows = createMemo((): RosterRow[] => {
    const tasks = Object.values(roster.tasks).filter(Boolean).map(taskRow);
    const sessions = Object.values(roster.sessions)
      .filter((each) => each && isTopLevel(each))
      .map(sessionRow);
    const all = [...tasks, ...sessions].filter((row) => matchesSearch(row, search()));
    return all.sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
  });
  return (
    <main>
      <header class="roster-head">
        <h1>Roster</h1>
        <label>
          <span class="visually-hidden">Search tasks and sessions</span>
          <input
            type="search"
            placeholder="Search"
            value={search()}
            onInput={({ currentTarget }) => setSearch(currentTarget.value)}
          />
        </label>
      </header>
      <Show when={roster.isLoaded()} fallback={<p class="muted">Loading…</p>}>
        <Show
          when={rows().length > 0}
          fallback={<p class="empty">{search() === "" ? "No tasks or sessions yet." : "Nothing matches."}</p>}
        >
          <For each={GROUPS}>
            {(group) => <GroupSection group={group} rows={rows().filter((row) => row.group === group)} />}
          </For>
        </Show>
      </Show>
    </main>
  );
}

function GroupSection(props: {
  readonly group: (typeof GROUPS)[number];
  readonly rows: readonly RosterRow[];
}): JSX.Element {
  const [isWhole, setWhole] = createSignal(false);
  const shown = (): readonly RosterRow[] => (isWhole() ? props.rows : props.rows.slice(0, MAX_SHOWN));
  return (
    <Show when={props.rows.length > 0}>
      <section class="group" aria-labelledby={`group-${props.group}`}>
        <h2 id={`group-${props.group}`}>
          {GROUP_TITLES[props.group]} <span class="muted small">{props.rows.length}</span>
        </h2>
        <ul class="rows">
          <For each={shown()}>
            {(row) => (
              <li>
                <Row row={row} />
              </li>
            )}
          </For>
        </ul>
        <Show when={props.rows.length > shown().length}>
          <button class="plain small" onClick={() => setWhole(true)}>
            Show all {props.rows.length}
          </button>
        </Show>
      </section>
    </Show>
  );
}
