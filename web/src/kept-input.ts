/** The names under which this browser keeps what a person typed and did not send, and its removal. */
import { onCleanup } from "solid-js";
import type { Feed } from "./feed/feed.ts";

export const COMMENTS_PREFIX = "rookery-comments:";

/** In the storage of the tab. */
export function draftName(sessionId: string): string {
  return `rookery-draft-${sessionId}`;
}

/** In the storage of all tabs. */
export function commentsName(taskId: string): string {
  return COMMENTS_PREFIX + taskId;
}

export function removeDraft(sessionId: string): void {
  sessionStorage.removeItem(draftName(sessionId));
}

/** Until the owner is disposed, removes what was typed for a session or a task when it is deleted. */
export function removeInputOfDeleted(feed: Feed): void {
  onCleanup(feed.listenToDeletions(removeDraft));
  onCleanup(
    feed.listen((followed) => {
      for (const { event } of followed) {
        if (event.type === "task.removed" && "taskId" in event) localStorage.removeItem(commentsName(event.taskId));
      }
    }),
  );
}
