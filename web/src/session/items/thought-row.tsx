/** The row of a thought of the agent, folded. */
import { createMemo, Show, type JSX } from "solid-js";
import { formatDuration } from "../../format.ts";
import type { ThoughtItem } from "../transcript/items.ts";
import { countParts, joinParts, partSource } from "../transcript/text-parts.ts";
import { Fold, type FoldState } from "./fold.tsx";
import { MarkdownText } from "./message-row.tsx";
import { OutputText } from "./output-text.tsx";

export function ThoughtRow(props: FoldState & { readonly item: ThoughtItem }): JSX.Element {
  const ms = (): number => Date.parse(props.item.until) - Date.parse(props.item.at);
  const isShort = createMemo(() => countParts(props.item.text) === 1);
  return (
    <Fold
      class="thought"
      isOpen={props.isOpen}
      onToggle={(isOpen) => props.onToggle(isOpen)}
      summary={<span class="muted">{ms() >= 1_000 ? `Thought for ${formatDuration(ms())}` : "Thought"}</span>}
    >
      <Show when={isShort()} fallback={<OutputText text={joinParts(props.item.text)} label="Thinking" />}>
        <MarkdownText source={partSource(props.item.text, 0)} />
      </Show>
    </Fold>
  );
}
