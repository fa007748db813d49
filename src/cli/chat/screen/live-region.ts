/** Renders the live region of a chat: what is in progress, what the person types, and the status line. */
import type { SessionSummary } from "../../../domain/summary.ts";
import { formatAge } from "../../format.ts";
import { toSingleLine } from "../../sanitize.ts";
import type { LiveRegion } from "../../tui/inline-screen.ts";
import type { PromptSurface } from "../../tui/prompt-surface.ts";
import { formatStatusLine, type StatusFact } from "../../tui/status-line.ts";
import { clipStyled } from "../../tui/styled-text.ts";
import type { ChatStatus } from "./chat-status.ts";
import { composeLiveRegion } from "./compose.ts";
import type { ChatState } from "../conversation/fold.ts";
import type { ChatKeys } from "../input/keys.ts";
import { renderMode } from "../input/mode.ts";
import type { ChatOutbox } from "../outbox/outbox.ts";
import { chatFacts, type ChatStyle, renderProgress } from "../conversation/view.ts";

export interface LiveChat {
  readonly state: ChatState;
  readonly surface: PromptSurface;
  readonly keys: Pick<ChatKeys, "mode" | "quitKey">;
  readonly outbox: ChatOutbox;
  readonly status: ChatStatus;
  /** The conversation that Enter continues. */
  readonly offered: SessionSummary | undefined;
  readonly directory: string;
  /** Shown as `~`. */
  readonly home: string | undefined;
}

/** `now`: milliseconds since the epoch. */
export function renderLiveRegion(chat: LiveChat, style: ChatStyle, now: number): LiveRegion {
  const { state, surface, keys, outbox, status, directory, home } = chat;
  const { rows } = surface.size;
  const { width, paint } = style;
  const { branch, note, spinnerFrame } = status;
  const queue = [...state.queue, ...outbox.queued];
  const isPrompt = keys.mode.type === "prompt";
  const unsent = isPrompt ? renderUnsent(outbox.unsent, status, style, now) : [];
  const facts = chatFacts(state, { directory, home, branch, note, now });
  return composeLiveRegion({
    rows,
    progress: [...renderProgress({ ...state, queue }, now, spinnerFrame, style), ...unsent],
    attached: isPrompt ? outbox.outputs.render(style) : [],
    mode: renderMode(keys.mode, surface.editor, { width, rows, paint }),
    rule: paint("dim", "─".repeat(width)),
    status: paint("dim", formatStatusLine([...listHints(chat, now), ...facts], width)),
  });
}

/** What waits for the start of the agent. */
function renderUnsent(
  unsent: readonly string[],
  { note, noteSince, spinnerFrame }: ChatStatus,
  { width, paint }: ChatStyle,
  now: number,
): string[] {
  if (unsent.length === 0) return [];
  const seconds = Math.floor((now - noteSince) / 1000);
  const starting = note === undefined ? [] : [`${paint("cyan", spinnerFrame)} ${paint("dim", `${note} ${seconds}s`)}`];
  const prompts = unsent.filter((text) => !text.startsWith("/")); // the chat has echoed its commands
  const waiting = prompts.map((text) => paint("dim", `❯ ${toSingleLine(text)}`));
  const lines = [...waiting, ...starting];
  return (lines.length === 0 ? [] : ["", ...lines]).map((line) => clipStyled(line, width));
}

/** What a key does that is not obvious, before the facts of the status line. */
function listHints({ keys: { quitKey }, offered, surface }: LiveChat, now: number): StatusFact[] {
  if (quitKey !== undefined) return [{ text: `press ${quitKey} again to quit`, priority: 20 }];
  if (offered === undefined || !surface.editor.isEmpty) return [];
  const title = toSingleLine(offered.title ?? "", 40);
  return [{ text: `Enter continues "${title}" (${formatAge(offered.updatedAt, now)})`, priority: 10 }];
}
