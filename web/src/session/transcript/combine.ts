/** Combines two parts of an item that are on both sides of the border between two pages of a log. */
import type { NoticeItem, TranscriptItem } from "./items.ts";
import { appendText, joinParts } from "./text-parts.ts";

/** Maximum length of a running tool's output, in characters. Its whole output arrives when it ends. */
export const MAX_RUNNING_OUTPUT = 64 * 1024;

/** Returns undefined if the later item does not continue the older one. The key of the later one stays. */
export function combineItems(older: TranscriptItem, later: TranscriptItem): TranscriptItem | undefined {
  const { key } = later;
  switch (later.kind) {
    case "message":
      if (older.kind !== "message" || older.state === "complete") return undefined;
      return later.state === "complete"
        ? { ...older, key, state: later.state, text: later.text }
        : { ...older, key, state: later.state, text: appendText(older.text, joinParts(later.text)) };
    case "thought":
      if (older.kind !== "thought") return undefined;
      return { ...older, key, until: later.until, text: appendText(older.text, joinParts(later.text)) };
    case "plan":
      return older.kind === "plan" ? { ...older, key, entries: later.entries } : undefined;
    case "tool": {
      if (older.kind !== "tool" || later.hasStart) return undefined;
      if (older.endedAt !== undefined) return { ...older, key };
      const { outcome = older.outcome, endedAt, diffs, blobs, locations = older.locations } = later;
      const title = later.title === "" ? older.title : later.title;
      const text = endedAt === undefined ? (older.text + later.text).slice(-MAX_RUNNING_OUTPUT) : later.text;
      return { ...older, key, title, locations, outcome, endedAt, diffs, blobs, text };
    }
    case "request":
      if (older.kind !== "request" || later.request !== undefined) return undefined;
      return older.answer === undefined
        ? { ...older, key, answer: later.answer, isObsolete: false }
        : { ...older, key };
    case "subagent": {
      if (older.kind !== "subagent" || later.hasStart) return undefined;
      const isOpen = older.outcome === undefined || older.outcome === "interrupted";
      return { ...older, key, outcome: isOpen ? later.outcome : older.outcome };
    }
    case "prompt":
    case "notice":
    case "output":
    case "turn_end":
      return undefined;
  }
}

export function isSameNotice(one: NoticeItem, other: NoticeItem): boolean {
  return one.level === other.level && one.text === other.text;
}
