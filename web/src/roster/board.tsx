/** The board: the rows of the roster as one column per group. */
import { createSignal, For, Show, type JSX } from "solid-js";
import "../styles/roster.css";
import { useServer } from "../server.tsx";
import { EmptyRoster } from "./empty-roster.tsx";
import { GROUP_TITLES, GROUPS, type Group, type RosterRow } from "./groups.ts";
import { RosterHead } from "./head.tsx";
import { Row } from "./row.tsx";
import { useRows } from "./use-rows.ts";

const MAX_CARDS = 50;

export function Board(props: { onNewTask(): void }): JSX.Element {
  const [search, setSearch] = createSignal("");
  const rows = useRows(search);
  const { roster } = useServer();
  const isEmpty = (): boolean => roster.isLoaded() && rows().length === 0;
  const cards = (group: Group): readonly RosterRow[] => rows().filter((row) => row.group === group);
  return (
    <main>
      <RosterHead title="Board" search={search()} onSearch={setSearch} onNewTask={() => props.onNewTask()} />
      <Show when={isEmpty()}>
        <EmptyRoster isSearch={search().trim() !== ""} />
      </Show>
      <div class="board-frame" hidden={isEmpty()}>
        <nav class="board-columns" aria-label="Columns">
          <For each={GROUPS}>
            {(group) => (
              <button onClick={() => showColumn(group)}>
                <strong>{cards(group).length}</strong> {GROUP_TITLES[group]}
              </button>
            )}
          </For>
        </nav>
        <div class="board" tabindex="0" role="group" aria-label="Board">
          <For each={GROUPS}>
            {(group) => (
              <section class="column" id={columnId(group)} aria-labelledby={`${columnId(group)}-title`}>
                <h2 id={`${columnId(group)}-title`}>
                  {GROUP_TITLES[group]} <span class="muted small">{cards(group).length}</span>
                </h2>
                <ul>
                  <For each={cards(group).slice(0, MAX_CARDS)}>
                    {(row) => (
                      <li>
                        <Row row={row} />
                      </li>
                    )}
                  </For>
                </ul>
                <Show when={cards(group).length === 0}>
                  <p class="nothing muted small">Nothing here.</p>
                </Show>
                <Show when={cards(group).length > MAX_CARDS}>
                  <p class="muted small">The roster has {cards(group).length - MAX_CARDS} more.</p>
                </Show>
              </section>
            )}
          </For>
        </div>
      </div>
    </main>
  );
}

function columnId(group: Group): string {
  return `column-${group}`;
}

/** For windows that do not show all columns. */
function showColumn(group: Group): void {
  document.getElementById(columnId(group))?.scrollIntoView({ block: "nearest", inline: "start" });
}
