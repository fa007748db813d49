/** A list to choose from with the arrow keys and a filter. Pure: keys in, next list out. */
import { fuzzyFilter } from "@mariozechner/pi-tui/dist/fuzzy.js";
import { matchesKey } from "@mariozechner/pi-tui/dist/keys.js";
import type { Paint } from "../paint.ts";
import { clipStyled, styledWidth } from "./styled-text.ts";

/** Details start in the same column, unless a label is wider. */
const MAX_LABEL_COLUMN = 60;

export interface SelectItem {
  readonly value: string;
  readonly label: string;
  /** Shown dimmed after the label. */
  readonly detail?: string | undefined;
  /** Shows the label dimmed too. Default: false. */
  readonly isDim?: boolean | undefined;
}

export interface SelectState {
  readonly title: string;
  readonly items: readonly SelectItem[];
  readonly filter: string;
  readonly selected: number;
}

export type SelectOutcome = { readonly chosen: SelectItem } | { readonly cancelled: true };

export function openSelect(title: string, items: readonly SelectItem[]): SelectState {
  return { title, items, filter: "", selected: 0 };
}

export function matchingItems({ items, filter }: SelectState): readonly SelectItem[] {
  return filter === "" ? items : fuzzyFilter([...items], filter, ({ label, detail = "" }) => `${label} ${detail}`);
}

/** Returns the outcome if the key ends the choice. */
export function handleSelectKey(state: SelectState, data: string): SelectState | SelectOutcome {
  const items = matchingItems(state);
  const move = (by: number): SelectState => ({
    ...state,
    selected: Math.max(0, Math.min(items.length - 1, state.selected + by)),
  });
  if (matchesKey(data, "escape") || matchesKey(data, "ctrl+c")) return { cancelled: true };
  if (matchesKey(data, "enter")) {
    const chosen = items[state.selected];
    return chosen === undefined ? state : { chosen };
  }
  if (matchesKey(data, "up")) return move(-1);
  if (matchesKey(data, "down")) return move(1);
  if (matchesKey(data, "pageUp")) return move(-10);
  if (matchesKey(data, "pageDown")) return move(10);
  if (matchesKey(data, "backspace")) return { ...state, filter: state.filter.slice(0, -1), selected: 0 };
  if (/^[^\p{Cc}]+$/u.test(data)) return { ...state, filter: state.filter + data, selected: 0 };
  return state;
}

export function renderSelect(
  state: SelectState,
  { width, rows, paint }: { readonly width: number; readonly rows: number; readonly paint: Paint },
): string[] {
  const items = matchingItems(state);
  const room = Math.max(1, rows - 2);
  const start = Math.max(0, Math.min(state.selected - Math.floor(room / 2), items.length - room));
  const shown = items.slice(start, start + room);
  const labels = Math.min(MAX_LABEL_COLUMN, Math.max(0, ...shown.map(({ label }) => styledWidth(label))));
  const visible = shown.map(({ label, detail = "", isDim = false }, index) => {
    const isSelected = start + index === state.selected;
    const padded = detail === "" ? label : label + " ".repeat(Math.max(0, labels - styledWidth(label)));
    const name = isDim ? paint("dim", padded) : padded;
    const text = `${isSelected ? "❯" : " "} ${name}${detail === "" ? "" : paint("dim", `  ${detail}`)}`;
    return clipStyled(isSelected ? paint("cyan", text) : text, width);
  });
  const count = items.length > room ? ` (${state.selected + 1} of ${items.length})` : "";
  const filter = state.filter === "" ? "" : ` filter: ${state.filter}`;
  const help = "↑↓ choose, Enter accepts, type to filter, Esc cancels";
  return [
    clipStyled(`${paint("bold", state.title)}${count}${filter}`, width),
    ...(visible.length === 0 ? [paint("dim", "  nothing matches")] : visible),
    clipStyled(paint("dim", help), width),
  ];
}
