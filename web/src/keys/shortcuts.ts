/** Keys that work on every screen, and the list of them for the help. */
import { onCleanup } from "solid-js";

export interface Shortcut {
  /** As `KeyboardEvent.key`; two keys in a row are separated by a space. */
  readonly keys: string;
  readonly does: string;
  run(): void;
}

const SEQUENCE_MS = 1_000;
/** Elements in which keys are text. */
const TEXT_FIELDS = "input, textarea, select, [contenteditable]";

/** Listens until the owner is disposed. Keys are text inside fields and dialogs. */
export function listenForShortcuts(shortcuts: () => readonly Shortcut[]): void {
  let first: { readonly key: string; readonly at: number } | undefined;
  const onKey = (event: KeyboardEvent): void => {
    const target = event.target as Element | null;
    if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return;
    if (target?.closest(TEXT_FIELDS) != null || document.querySelector("dialog[open]") !== null) return;
    const before = first !== undefined && event.timeStamp - first.at < SEQUENCE_MS ? `${first.key} ` : "";
    const pressed = shortcuts().find(({ keys }) => keys === before + event.key || keys === event.key);
    first = { key: event.key, at: event.timeStamp };
    if (pressed === undefined) return;
    event.preventDefault();
    first = undefined;
    pressed.run();
  };
  addEventListener("keydown", onKey);
  onCleanup(() => removeEventListener("keydown", onKey));
}

/** Moves the focus to the next or previous element that matches, as `j` and `k` do. */
export function moveFocus(selector: string, by: 1 | -1): void {
  const elements = [...document.querySelectorAll<HTMLElement>(selector)];
  const at = elements.findIndex((element) => element === document.activeElement);
  const next = at === -1 ? (by === 1 ? 0 : elements.length - 1) : Math.min(elements.length - 1, Math.max(0, at + by));
  elements[next]?.focus();
  elements[next]?.scrollIntoView({ block: "nearest" });
}
