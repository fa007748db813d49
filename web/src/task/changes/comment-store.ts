/** Keeps the comments on the changes of a task in this browser until they are sent. */
import { createMemo, createSignal, onCleanup, type Accessor } from "solid-js";
import { COMMENTS_PREFIX, commentsName } from "../../kept-input.ts";
import { groupByLine, MAX_COMMENT_LENGTH, MAX_COMMENTS, parseKeptComments, type LineComment } from "./comments.ts";

export interface CommentStore {
  readonly comments: Accessor<readonly LineComment[]>;
  /** The comments on a line, by `lineKey`. */
  readonly byLine: Accessor<ReadonlyMap<string, readonly LineComment[]>>;
  /** Why the comments could not be kept: they are lost if the page is reloaded. */
  readonly problem: Accessor<string | undefined>;
  /** Replaces the comment with the same id, or adds it. */
  save(comment: LineComment): void;
  remove(ids: readonly string[]): void;
}

/** The comments of tasks that were not looked at for longest are dropped. */
const MAX_TASKS = 50;

export function openCommentStore(task: string): CommentStore {
  const name = commentsName(task);
  const [comments, setComments] = createSignal(parseKeptComments(localStorage.getItem(name)).comments);
  const [problem, setProblem] = createSignal<string>();
  const byLine = createMemo(() => groupByLine(comments()));
  const onStorage = (event: StorageEvent): void => {
    if (event.key === name) setComments(parseKeptComments(event.newValue).comments); // changed in another tab
  };
  addEventListener("storage", onStorage);
  onCleanup(() => removeEventListener("storage", onStorage));

  const keep = (next: readonly LineComment[]): void => {
    setComments(next);
    try {
      if (next.length === 0) localStorage.removeItem(name);
      else localStorage.setItem(name, JSON.stringify({ savedAt: Date.now(), comments: next }));
      dropOldest();
      setProblem(undefined);
    } catch {
      setProblem("This browser has no room for more comments. Send these before you reload the page.");
    }
  };
  return {
    comments,
    byLine,
    problem,
    save(comment) {
      const others = comments().filter(({ id }) => id !== comment.id);
      if (others.length >= MAX_COMMENTS) {
        return void setProblem(`At most ${MAX_COMMENTS} comments can be collected. Send these first.`);
      }
      keep([...others, { ...comment, text: comment.text.slice(0, MAX_COMMENT_LENGTH) }]);
    },
    remove(ids) {
      keep(comments().filter(({ id }) => !ids.includes(id)));
    },
  };
}

function dropOldest(): void {
  const names = Object.keys(localStorage).filter((key) => key.startsWith(COMMENTS_PREFIX));
  if (names.length <= MAX_TASKS) return;
  const byAge = names
    .map((key) => ({ key, savedAt: parseKeptComments(localStorage.getItem(key)).savedAt }))
    .sort((a, b) => a.savedAt - b.savedAt);
  for (const { key } of byAge.slice(0, names.length - MAX_TASKS)) localStorage.removeItem(key);
}
