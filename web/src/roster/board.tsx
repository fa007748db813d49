/** The board: the rows of the roster as one column per group. */
import { createSignal, For, Show, type JSX } from "solid-js";
import "../styles/roster.css";
import { GROUP_TITLES, GROUPS } from "./groups.ts";
import { RosterHead } from "./head.tsx";
import { Row } from "./row.tsx";
import { useRows } from "./use-rows.ts";

const MAX_CARDS = 50;

export function Board(props: { onNewTask(): void }): JSX.Element {
  const [search, setSearch] = createSignal("");
  const rows = useRows(search);
  return (
    <main>
      <RosterHead title="Board" search={search()} onSearch={setSearch} onNewTask={() => props.onNewTask()} />
      <div class="board" tabindex="0" role="group" aria-label="Columns">
        <For each={GROUPS}>
          {(group) => {
            const cards = () => rows().filter((row) => row.group === group);
            return (
              <section class="column" aria-labelledby={`column-${group}`}>
                <h2 id={`column-${group}`}>
                  {GROUP_TITLES[group]} <span class="muted small">{cards().length}</span>
                </h2>
                <ul>
                  <For each={cards().slice(0, MAX_CARDS)}>
                    {(row) => (
                      <li>
                        <Row row={row} />
                      </li>
                    )}
                  </For>
                </ul>
                <Show when={cards().length > MAX_CARDS}>
                  <p class="muted small">The roster has {cards().length - MAX_CARDS} more.</p>
                </Show>
              </section>
            );
          }}
        </For>
      </div>
    </main>
  );
}
