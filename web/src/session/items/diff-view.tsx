/** A change of one file as a unified diff. */
import { createMemo, createSignal, For, Show, type JSX } from "solid-js";
import type { FileDiff } from "../../../../src/domain/events.ts";
import { visible } from "../../format.ts";
import { toDiffRows, type DiffRow } from "../diff-rows.ts";

/** More lines are shown on demand. */
const FIRST_ROWS = 60;
const MORE_ROWS = 400;

export function DiffView(props: { readonly diff: FileDiff }): JSX.Element {
  const [count, setCount] = createSignal(FIRST_ROWS);
  const change = createMemo(() => toDiffRows(props.diff));
  const shown = (): readonly DiffRow[] => change().rows.slice(0, count());
  return (
    <figure class="diff">
      <figcaption class="diff-head">
        <span class="mono">{visible(props.diff.path)}</span>
        <span class="small">
          <Show when={change().added > 0}>
            <span class="good">+{change().added}</span>
          </Show>{" "}
          <Show when={change().removed > 0}>
            <span class="bad">−{change().removed}</span>
          </Show>{" "}
          <span class="muted">{change().note}</span>
        </span>
      </figcaption>
      <Show when={shown().length > 0}>
        <div class="diff-lines wide" tabindex="0" role="group" aria-label={`Changes of ${visible(props.diff.path)}`}>
          <For each={shown()}>
            {(row) => (
              <div class={`diff-line ${row.kind}`}>
                <span class="diff-number" aria-hidden="true">
                  {row.number ?? ""}
                </span>
                <span class="diff-text">
                  {row.sign} {row.text}
                </span>
              </div>
            )}
          </For>
        </div>
      </Show>
      <Show when={change().rows.length > count()}>
        <button class="plain small" onClick={() => setCount((now) => now + MORE_ROWS)}>
          Show more ({(change().rows.length - count()).toLocaleString()} more lines)
        </button>
      </Show>
    </figure>
  );
}
