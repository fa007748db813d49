/** The title of the roster and the board, with the search and the button for a new task. */
import type { JSX } from "solid-js";

interface RosterHeadProps {
  readonly title: string;
  readonly search: string;
  onSearch(text: string): void;
  onNewTask(): void;
}

export function RosterHead(props: RosterHeadProps): JSX.Element {
  return (
    <header class="roster-head">
      <h1>{props.title}</h1>
      <label>
        <span class="visually-hidden">Search tasks and sessions</span>
        <input
          type="search"
          id="search"
          placeholder="Search  /"
          value={props.search}
          onInput={({ currentTarget }) => props.onSearch(currentTarget.value)}
        />
      </label>
      <button class="primary" onClick={() => props.onNewTask()}>
        New task
      </button>
    </header>
  );
}
