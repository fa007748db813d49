/** Input that the agent has not got yet. */
import { For, Show, type JSX } from "solid-js";
import type { QueuedInput } from "../../../../src/domain/state.ts";
import { visible } from "../../format.ts";
import type { SessionModel } from "../model.ts";

export function QueueList(props: { readonly model: SessionModel }): JSX.Element {
  const queue = (): readonly QueuedInput[] => props.model.state()?.queue ?? [];
  return (
    <Show when={queue().length > 0}>
      <ul class="queue" aria-label="Waiting to be delivered">
        <For each={queue().slice(0, 20)}>
          {(queued) => (
            <li class="small">
              <span class="muted">{queued.deliver === "steer" ? "next step:" : "after this turn:"}</span>{" "}
              {visible(preview(queued))}
            </li>
          )}
        </For>
      </ul>
    </Show>
  );
}

function preview({ input }: QueuedInput): string {
  return input
    .map((part) => (part.type === "text" ? part.text : (part.name ?? part.mediaType)))
    .join(" ")
    .slice(0, 200);
}
