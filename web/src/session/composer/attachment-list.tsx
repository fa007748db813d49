/** The files that will be sent, with buttons to remove them. */
import { For, Show, type JSX } from "solid-js";
import { visible } from "../../format.ts";
import type { Attachments } from "./attachments.ts";

export function AttachmentList(props: { readonly attachments: Attachments }): JSX.Element {
  return (
    <Show when={props.attachments.list().length > 0}>
      <ul class="attachments" aria-label="Attachments">
        <For each={props.attachments.list()}>
          {(attachment) => (
            <li>
              <span>{visible(attachment.name)}</span>
              <Show when={attachment.problem}>{(text) => <span class="bad small">{text()}</span>}</Show>
              <Show when={attachment.part === undefined && attachment.problem === undefined}>
                <span class="muted small">sending…</span>
              </Show>
              <button
                type="button"
                class="plain small"
                aria-label={`Remove ${visible(attachment.name)}`}
                onClick={() => props.attachments.remove(attachment)}
              >
                ✕
              </button>
            </li>
          )}
        </For>
      </ul>
    </Show>
  );
}
