/** Sends all comments as one prompt to the agent. */
import { createMemo, createSignal, For, Show, type JSX } from "solid-js";
import { isEndedStatus } from "../../../../src/domain/enums.ts";
import { createAction } from "../../action.ts";
import { visible } from "../../format.ts";
import { useServer } from "../../server.tsx";
import { sendToTask } from "../task-calls.ts";
import { useTask } from "../task-context.tsx";
import { findOutdated, formatCommentsPrompt, type LineComment } from "./comments.ts";
import type { CommentStore } from "./comment-store.ts";
import type { Patch } from "./parse-patch.ts";

interface SendCommentsProps {
  readonly store: CommentStore;
  readonly patch: Patch;
}

export function SendComments(props: SendCommentsProps): JSX.Element {
  const { client } = useServer();
  const { task } = useTask();
  const [sentNotice, setSentNotice] = createSignal<string>();
  const comments = (): readonly LineComment[] => props.store.comments();
  const count = (): string => `${comments().length} ${comments().length === 1 ? "comment" : "comments"}`;
  const isEnded = (): boolean => isEndedStatus(task().status);
  const canSend = (): boolean => isEnded() || ["running", "waiting"].includes(task().status);
  const send = createAction(async () => {
    setSentNotice(undefined);
    const sent = comments();
    const notice = isEnded() ? `Sent ${count()}: the task is resumed.` : `Sent ${count()} to the agent.`;
    await sendToTask(client, task(), formatCommentsPrompt(sent));
    props.store.remove(sent.map(({ id }) => id)); // not those that were written in the meantime
    setSentNotice(notice);
  });
  const outdated = createMemo(() => findOutdated(comments(), props.patch));
  return (
    <>
      <Show when={comments().length > 0}>
        <div class="comment-bar">
          <button
            type="button"
            class="primary"
            disabled={send.isRunning() || !canSend()}
            onClick={() => void send.run()}
          >
            {send.isRunning() ? "Sending…" : `Send ${count()}`}
          </button>
          <span class="muted small">
            {isEnded()
              ? "All go to the agent as one prompt, which resumes the task."
              : canSend()
                ? "All go to the running agent as one prompt."
                : `The task is ${task().status}. Send them when its agent works or has ended.`}
          </span>
          <Show when={outdated().length > 0}>
            <details>
              <summary class="small warn">{outdated().length} on lines that this view does not have</summary>
              <ul>
                <For each={outdated()}>
                  {(comment) => (
                    <li class="comment">
                      <p class="mono small muted">
                        {visible(comment.path)}:{comment.line} {visible(comment.quote)}
                      </p>
                      <p>{visible(comment.text)}</p>
                      <button type="button" class="plain small" onClick={() => props.store.remove([comment.id])}>
                        Delete
                      </button>
                    </li>
                  )}
                </For>
              </ul>
            </details>
          </Show>
        </div>
      </Show>
      <p role="status" class="good small sent">
        {sentNotice()}
      </p>
      <Show when={send.error() ?? props.store.problem()}>
        {(error) => (
          <p class="bad" role="alert">
            {visible(error())}
          </p>
        )}
      </Show>
    </>
  );
}
