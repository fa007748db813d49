/** One line that is not a message: a warning, or a change of the session. */
import { Show, type JSX } from "solid-js";
import { visible } from "../../format.ts";
import type { NoticeItem } from "../transcript/items.ts";

const MAX_LENGTH = 2_000;

export function NoticeRow(props: { readonly item: NoticeItem }): JSX.Element {
  return (
    <p class={`notice ${props.item.level}`}>
      <Show when={props.item.level !== "info"}>
        <span class="visually-hidden">{props.item.level}: </span>
      </Show>
      {visible(props.item.text.slice(0, MAX_LENGTH))}
      <Show when={props.item.count > 1}>
        <span class="muted"> (×{props.item.count})</span>
      </Show>
    </p>
  );
}
