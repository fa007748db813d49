/** The home screen: all tasks and sessions, grouped by what they need. */
import { createSignal, For, Show, type JSX } from "solid-js";
import "../styles/roster.css";
import { useServer } from "../server.tsx";
import { EmptyRoster } from "./empty-roster.tsx";
import { GROUP_TITLES, GROUPS, type Group, type RosterRow } from "./groups.ts";
import { RosterHead } from "./head.tsx";
import { Row } from "./row.tsx";
import { SearchResults } from "./search-results.tsx";
import { useRows } from "./use-rows.ts";

const MAX_SHOWN = 50;

export function Roster(props: { onNewTask(): void }): JSX.Element {
  const { roster } = useServer();
  const [search, setSearch] = createSignal("");
  const rows = useRows(search);
  return (
    <main>
      <RosterHead title="Roster" search={search()} onSearch={setSearch} onNewTask={() => props.onNewTask()} />
      <Show when={roster.isLoaded()} fallback={<p class="muted">Loading…</p>}>
        <Show when={rows().length > 0} fallback={<EmptyRoster isSearch={search().trim() !== ""} />}>
          <For each={GROUPS}>
            {(group) => <GroupSection group={group} rows={rows().filter((row) => row.group === group)} />}
          </For>
        </Show>
        <Show when={search().trim().length > 1}>
          <SearchResults text={search().trim()} />
        </Show>
      </Show>
    </main>
  );
}

function GroupSection(props: { readonly group: Group; readonly rows: readonly RosterRow[] }): JSX.Element {
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
