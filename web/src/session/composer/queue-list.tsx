/** Input that the agent has not received yet, with buttons to withdraw it. */
import { For, Show, type JSX } from "solid-js";
import type { QueuedInput } from "../../../../src/domain/state.ts";
import { createAction } from "../../action.ts";
import { visible } from "../../format.ts";
import { newIdempotencyKey, sendOnce } from "../../send.ts";
import { useServer } from "../../server.tsx";
import { Problem } from "../../shell/problem.tsx";
import type { SessionModel } from "../model.ts";

interface QueueListProps {
  readonly model: SessionModel;
  /** Called with an input that the agent will not get. */
  onTakenBack(queued: QueuedInput): void;
}

export function QueueList(props: QueueListProps): JSX.Element {
  const { client } = useServer();
  const queue = (): readonly QueuedInput[] => props.model.state()?.queue ?? [];
  const takeBack = createAction(async (queued: QueuedInput) => {
    const path = { id: props.model.id, inputId: queued.inputId };
    await sendOnce(newIdempotencyKey(), (header) =>
      client.DELETE("/v1/sessions/{id}/inputs/{inputId}", { params: { path, header: { ...header } } }),
    );
    props.onTakenBack(queued);
  });
  return (
    <>
      <Show when={queue().length > 0}>
        <ul class="queue" aria-label="Waiting to be delivered">
          <For each={queue().slice(0, 20)}>
            {(queued) => (
              <li class="small">
                <span class="queued-text">
                  <span class="muted">{queued.deliver === "steer" ? "next step:" : "after this turn:"}</span>{" "}
                  {visible(preview(queued))}
                </span>
                <button
                  type="button"
                  class="plain small"
                  aria-label={`Take back: ${visible(preview(queued))}`}
                  disabled={takeBack.isRunning()}
                  onClick={() => void takeBack.run(queued)}
                >
                  Take back
                </button>
              </li>
            )}
          </For>
        </ul>
      </Show>
      <Problem text={takeBack.error()} />
    </>
  );
}

function preview({ input }: QueuedInput): string {
  return input
    .map((part) => (part.type === "text" ? part.text : (part.name ?? part.mediaType)))
    .join(" ")
    .slice(0, 200);
}
