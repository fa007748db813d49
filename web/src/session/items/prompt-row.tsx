/** The row of a prompt that a person sent to the agent. */
import { createMemo, createSignal, For, Show, type JSX } from "solid-js";
import type { BlobPart } from "../../../../src/domain/events.ts";
import { visible } from "../../format.ts";
import type { PromptItem } from "../transcript/items.ts";
import { BlobView } from "./blob-view.tsx";
import { ForkButton } from "./fork-button.tsx";

/** Long prompts are pasted files. */
const MAX_SHOWN = 3_000;

export function PromptRow(props: { readonly item: PromptItem }): JSX.Element {
  const [isWhole, setWhole] = createSignal(false);
  const text = createMemo(() =>
    props.item.input
      .map((part) => (part.type === "text" ? part.text : ""))
      .filter((part) => part !== "")
      .join("\n"),
  );
  const blobs = (): BlobPart[] => props.item.input.filter((part) => part.type === "blob");
  const shown = (): string => visible(isWhole() ? text().slice(0, MAX_WHOLE) : text().slice(0, MAX_SHOWN));
  return (
    <div class="prompt">
      <Show when={props.item.isSteered}>
        <p class="muted small">Sent while the agent worked</p>
      </Show>
      <Show when={text() !== ""}>
        <p class="prompt-text">{shown()}</p>
      </Show>
      <Show when={text().length > MAX_SHOWN && !isWhole()}>
        <button class="plain small" onClick={() => setWhole(true)}>
          Show all {text().length.toLocaleString()} characters
        </button>
      </Show>
      <For each={blobs()}>{(blob) => <BlobView blob={blob} />}</For>
      <Show when={!props.item.isSteered}>
        <p class="item-actions">
          <ForkButton label="Fork before this" seq={props.item.seq} draft={text()} />
        </p>
      </Show>
    </div>
  );
}

const MAX_WHOLE = 200_000;
