/** The plan of the agent. */
import { For, Show, type JSX } from "solid-js";
import { visible } from "../../format.ts";
import type { PlanItem } from "../transcript/items.ts";

const MARKS = { pending: "○", in_progress: "◐", completed: "●" } as const;
const WORDS = { pending: "to do", in_progress: "in progress", completed: "done" } as const;
const MAX_ENTRIES = 100;

export function PlanRow(props: { readonly item: PlanItem }): JSX.Element {
  const done = (): number => props.item.entries.filter(({ status }) => status === "completed").length;
  return (
    <div class="plan">
      <p class="small muted">
        Plan, {done()} of {props.item.entries.length} done
      </p>
      <ul>
        <For each={props.item.entries.slice(0, MAX_ENTRIES)}>
          {(entry) => (
            <li class={entry.status}>
              <span aria-hidden="true">{MARKS[entry.status]}</span>
              <span class="visually-hidden">{WORDS[entry.status]}: </span>
              <span>{visible(entry.content.slice(0, 500))}</span>
            </li>
          )}
        </For>
      </ul>
      <Show when={props.item.entries.length > MAX_ENTRIES}>
        <p class="small muted">{props.item.entries.length - MAX_ENTRIES} more</p>
      </Show>
    </div>
  );
}
