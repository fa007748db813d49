/** A list to choose from with the arrow keys and a filter. Pure: keys in, next list out. */
import { fuzzyFilter } from "@mariozechner/pi-tui/dist/fuzzy.js";
import { matchesKey } from "@mariozechner/pi-tui/dist/keys.js";
import { simplifyEmoji } from "../display-width.ts";
import type { Paint } from "../paint.ts";
import { formatStatusLine } from "./status-line.ts";
import { clipStyled, fitStyled, styledWidth } from "./styled-text.ts";

export interface SelectItem {
  readonly value: string;
  readonly label: string;
  /** Short facts in dimmed columns after the label. On a narrow screen the last ones are left out. */
  readonly facts?: readonly string[] | undefined;
  /** Shown dimmed at the end, and truncated if it does not fit. */
  readonly detail?: string | undefined;
  /** Dims the label too, for example of what cannot be used. */
  readonly isDim?: boolean | undefined;
  /** True for the current choice, which has a mark and is selected first. */
  readonly isCurrent?: boolean | undefined;
}

export interface SelectState {
  readonly title: string;
  readonly items: readonly SelectItem[];
  readonly filter: string;
  readonly selected: number;
  /** Offers the typed text itself as a choice, with these words before it. Undefined: only items can be chosen. */
  readonly textLabel?: string | undefined;
}

export type SelectOutcome = { readonly chosen: SelectItem } | { readonly cancelled: true };

export function openSelect(title: string, items: readonly SelectItem[], textLabel?: string): SelectState {
  const current = items.findIndex(({ isCurrent = false }) => isCurrent);
  return { title, items, filter: "", selected: Math.max(0, current), textLabel };
}

export function matchingItems({ items, filter, textLabel }: SelectState): readonly SelectItem[] {
  if (filter === "") return items;
  const value = filter.trim();
  const isText = textLabel !== undefined && value !== "" && items.every((item) => item.value !== value);
  const found = fuzzyFilter([...items], filter, ({ label, facts = [], detail = "" }) =>
    textLabel === undefined ? [label, ...facts, detail].join(" ") : label,
  );
  if (!isText) return found;
  const typed = { value, label: `${textLabel} ${value}` };
  const isPart = found.some(({ label }) => label.toLowerCase().includes(value.toLowerCase()));
  return isPart ? [...found, typed] : [typed, ...found]; // a name that is not in the list is meant as it is
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

export interface SelectStyle {
  readonly width: number;
  readonly rows: number;
  readonly paint: Paint;
}

/** A longer list scrolls, so that the conversation above it stays visible. */
const MAX_VISIBLE_ITEMS = 10;

export function renderSelect(state: SelectState, { width, rows, paint }: SelectStyle): string[] {
  const items = matchingItems(state);
  const room = Math.max(1, Math.min(MAX_VISIBLE_ITEMS, rows - 2));
  const start = Math.max(0, Math.min(state.selected - Math.floor(room / 2), items.length - room));
  const visible = renderItems(items.slice(start, start + room), { selected: state.selected - start, width, paint });
  const count = items.length > room ? paint("dim", ` ${state.selected + 1} of ${items.length}`) : "";
  const filter = state.filter === "" ? "" : `${paint("dim", " · filter:")} ${state.filter}`;
  return [
    clipStyled(`${paint("bold", state.title)}${count}${filter}`, width),
    ...(visible.length === 0
      ? [paint("dim", state.filter === "" ? "  nothing is listed" : "  nothing matches")]
      : visible),
    paint("dim", formatStatusLine(selectHints(state), width)),
  ];
}

function selectHints({ textLabel }: SelectState) {
  return [
    { text: "↑↓ choose", priority: 7 },
    { text: "Enter accepts", priority: 9 },
    { text: textLabel === undefined ? "type to filter" : "type to filter or to enter another", priority: 6 },
    { text: "Esc cancels", priority: 8 },
  ];
}

const GAP = "  ";
/** Facts leave at least this many columns for labels and details. */
const MIN_TEXT_COLUMNS = 40;
const MIN_DETAIL_COLUMNS = 6;

/** One line for each item, in columns that fit the width. */
export function renderItems(
  items: readonly SelectItem[],
  { selected, width, paint }: { readonly selected: number; readonly width: number; readonly paint: Paint },
): string[] {
  const simple = items.map(simplifyItem); // so that columns are aligned on every terminal
  const hasMarks = items.some(({ isCurrent = false }) => isCurrent);
  const left = width - (hasMarks ? 4 : 2);
  const labels = widest(simple.map((item) => item.label));
  const details = widest(simple.map(({ detail = "" }) => detail));
  const wanted = labels + (details === 0 ? 0 : GAP.length + details);
  const facts = fitFacts(simple, left - Math.min(wanted, MIN_TEXT_COLUMNS));
  const room = left - facts.reduce((total, columns) => total + GAP.length + columns, 0);
  const half = details === 0 ? room : Math.max(Math.floor(room / 2), room - GAP.length - details);
  const label = Math.max(1, Math.min(labels, half)); // long labels leave half of the room to the details
  return simple.map((item, index) => {
    const { isDim = false, isCurrent = false, detail = "" } = item;
    const isSelected = index === selected;
    const cells = facts.map((columns, at) => fitStyled(item.facts?.[at] ?? "", columns));
    const last = clipStyled(detail, room - label - GAP.length);
    const rest = [...cells, ...(detail !== "" && room - label > MIN_DETAIL_COLUMNS ? [last] : [])].join(GAP).trimEnd();
    const name = rest === "" ? clipStyled(item.label, room) : fitStyled(item.label, label);
    const mark = hasMarks ? (isCurrent ? paint("green", "● ") : "  ") : "";
    const shown = isSelected ? paint("cyan", name) : isDim ? paint("dim", name) : name;
    const text = `${isSelected ? paint("cyan", "❯") : " "} ${mark}${shown}${rest === "" ? "" : paint("dim", GAP + rest)}`;
    return clipStyled(text, width).trimEnd();
  });
}

function simplifyItem(item: SelectItem): SelectItem {
  const { label, facts, detail } = item;
  return {
    ...item,
    label: simplifyEmoji(label),
    ...(facts !== undefined && { facts: facts.map(simplifyEmoji) }),
    ...(detail !== undefined && { detail: simplifyEmoji(detail) }),
  };
}

/** The widths of the columns of facts that fit. */
function fitFacts(items: readonly SelectItem[], room: number): number[] {
  const count = Math.max(0, ...items.map(({ facts = [] }) => facts.length));
  const widths = Array.from({ length: count }, (_, at) => widest(items.map(({ facts = [] }) => facts[at] ?? "")));
  let used = 0;
  const end = widths.findIndex((columns) => (used += GAP.length + columns) > room);
  return end === -1 ? widths : widths.slice(0, end);
}

function widest(texts: readonly string[]): number {
  return Math.max(0, ...texts.map((text) => styledWidth(text)));
}
