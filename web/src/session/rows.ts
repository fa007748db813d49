/** The rows of the list: one per item, or one per part of a long text. */
import { createSignal, type Accessor } from "solid-js";
import type { TranscriptItem } from "./transcript/items.ts";
import { countParts, isEmptyText } from "./transcript/text-parts.ts";
import type { Slot, Transcript } from "./transcript/transcript.ts";

export interface Row {
  readonly item: Accessor<TranscriptItem>;
  /** Which part of the text of a message the row shows. */
  readonly part: number;
  /** Whether the item is unfolded. It is kept here, because the list removes rows that are out of sight. */
  readonly isOpen: Accessor<boolean>;
  readonly setOpen: (isOpen: boolean) => void;
}

interface SlotRows extends Omit<Row, "part"> {
  readonly setItem: (item: TranscriptItem) => void;
  rows: readonly Row[];
}

/** Keeps a row for the whole life of a slot, so that an open tool stays open while its output arrives. */
export class RowTable {
  readonly #bySlot = new Map<Slot, SlotRows>();
  #length = 0;

  /** Applies the changes of the transcript. Returns the rows if their list changed. */
  update(transcript: Transcript): readonly Row[] | undefined {
    const changes = transcript.takeChanges();
    let isListChanged = transcript.slots.length !== this.#length;
    this.#length = transcript.slots.length;
    for (const slot of changes) {
      const known = this.#bySlot.get(slot);
      known?.setItem(slot.item);
      const count = countRows(slot.item);
      if (known !== undefined && known.rows.length === count) continue;
      isListChanged = true;
      this.#bySlot.set(slot, resize(known ?? newRows(slot.item), count));
    }
    if (!isListChanged) return undefined;
    return transcript.slots.flatMap((slot) => this.#bySlot.get(slot)?.rows ?? []);
  }
}

function newRows(first: TranscriptItem): SlotRows {
  const [item, setItem] = createSignal(first);
  const [isOpen, setOpen] = createSignal(false);
  return { item, setItem: (next) => setItem(() => next), isOpen, setOpen, rows: [] };
}

function resize(known: SlotRows, count: number): SlotRows {
  const { rows, item, isOpen, setOpen } = known;
  const more = Array.from({ length: Math.max(0, count - rows.length) }, (_, at): Row => ({
    item,
    isOpen,
    setOpen,
    part: rows.length + at,
  }));
  known.rows = [...rows.slice(0, count), ...more];
  return known;
}

function countRows(item: TranscriptItem): number {
  switch (item.kind) {
    case "message":
      return isEmptyText(item.text) ? 0 : countParts(item.text);
    case "thought":
      return isEmptyText(item.text) ? 0 : 1;
    case "output":
      return item.text.trim() === "" ? 0 : 1;
    case "prompt":
    case "tool":
    case "request":
    case "plan":
    case "notice":
    case "subagent":
    case "turn_end":
      return 1;
  }
}
