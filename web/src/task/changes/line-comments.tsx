/** The comments below a line of a diff, and the box for a new one. */
import { createSignal, For, onMount, Show, type JSX } from "solid-js";
import { visible } from "../../format.ts";
import { MAX_COMMENT_LENGTH, type LineComment } from "./comments.ts";
import type { CommentStore } from "./comment-store.ts";

/** A comment that a person writes. Kept outside of the row, because a row that is scrolled away is removed. */
export interface CommentDraft {
  readonly key: string;
  /** The comment that it changes, or a new one with an empty text. */
  readonly comment: LineComment;
  /** What was written so far. */
  text: string;
}

interface LineCommentsProps {
  readonly comments: readonly LineComment[];
  readonly draft: CommentDraft | undefined;
  readonly store: CommentStore;
  onDraft(draft: CommentDraft | undefined): void;
  readonly lineKey: string;
}

export function LineComments(props: LineCommentsProps): JSX.Element {
  return (
    <div class="line-comments" role="gridcell">
      <For each={props.comments}>
        {(comment) => (
          <Show when={props.draft?.comment.id !== comment.id}>
            <div class="comment">
              <p>{visible(comment.text)}</p>
              <div class="actions">
                <button
                  type="button"
                  class="plain small"
                  onClick={() => props.onDraft({ key: props.lineKey, comment, text: comment.text })}
                >
                  Edit
                </button>
                <button type="button" class="plain small" onClick={() => props.store.remove([comment.id])}>
                  Delete
                </button>
              </div>
            </div>
          </Show>
        )}
      </For>
      <Show when={props.draft}>
        {(draft) => <CommentBox draft={draft()} store={props.store} onDraft={(next) => props.onDraft(next)} />}
      </Show>
    </div>
  );
}

interface CommentBoxProps {
  readonly draft: CommentDraft;
  readonly store: CommentStore;
  onDraft(draft: CommentDraft | undefined): void;
}

function CommentBox(props: CommentBoxProps): JSX.Element {
  const [text, setText] = createSignal(props.draft.text);
  let box: HTMLTextAreaElement | undefined;
  onMount(() => box?.focus());
  const save = (event: Event): void => {
    event.preventDefault();
    if (text().trim() === "") return;
    props.store.save({ ...props.draft.comment, text: text().trim() });
    props.onDraft(undefined);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    event.stopPropagation(); // the letters are not commands of the diff
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save(event);
    if (event.key === "Escape") props.onDraft(undefined);
  };
  return (
    <form class="comment-box" onSubmit={save} onKeyDown={onKeyDown}>
      <label class="visually-hidden" for="comment-text">
        Comment on {visible(props.draft.comment.path)}, line {props.draft.comment.line}
      </label>
      <textarea
        id="comment-text"
        ref={box}
        rows="3"
        maxlength={MAX_COMMENT_LENGTH}
        placeholder="What should change here?"
        value={text()}
        onInput={({ currentTarget }) => (props.draft.text = setText(currentTarget.value))}
      />
      <div class="actions">
        <button class="primary" disabled={text().trim() === ""}>
          Add comment
        </button>
        <button type="button" class="plain" onClick={() => props.onDraft(undefined)}>
          Cancel
        </button>
        <span class="muted small key-hint">Ctrl+Enter adds, Escape cancels</span>
      </div>
    </form>
  );
}
