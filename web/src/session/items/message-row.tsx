/** A part of a message of the agent, as Markdown. */
import { createEffect, createMemo, Show, type JSX } from "solid-js";
import { renderMarkdown } from "../markdown/render.ts";
import { ForkButton } from "./fork-button.tsx";
import type { MessageItem } from "../transcript/items.ts";
import { countParts, partSource } from "../transcript/text-parts.ts";

export function MessageRow(props: { readonly item: MessageItem; readonly part: number }): JSX.Element {
  const source = createMemo(() => partSource(props.item.text, props.part));
  const isLast = (): boolean => props.part === countParts(props.item.text) - 1;
  return (
    <div class="message" classList={{ abandoned: props.item.state === "abandoned" }}>
      <MarkdownText source={source()} />
      <Show when={isLast() && props.item.turnId !== undefined && props.item.state === "complete"}>
        <p class="item-actions">
          <ForkButton label="Fork after this turn" turnId={props.item.turnId} seq={props.item.seq} />
        </p>
      </Show>
      <Show when={props.item.state === "abandoned" && isLast()}>
        <p class="muted small">The agent did not finish this message.</p>
      </Show>
    </div>
  );
}

export function MarkdownText(props: { readonly source: string }): JSX.Element {
  return (
    <div class="markdown" ref={(node) => createEffect(() => node.replaceChildren(...renderMarkdown(props.source)))} />
  );
}
