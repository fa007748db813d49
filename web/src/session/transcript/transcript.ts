/**
 * Folds the events of a session into the items of its transcript. A fold can start anywhere in the log: `add` continues
 * it with later events, and `prepend` puts the fold of an older page before it. The items are the same in any order.
 */
import { addUsage, NO_USAGE, type Usage } from "../../../../src/domain/usage.ts";
import type { EventOf, SessionEvent } from "../../../../src/domain/events.ts";
import type { NoticeItem, SubagentItem, ToolItem, TranscriptItem } from "./items.ts";
import { formatNotice } from "./notices.ts";
import { combineItems, isSameNotice, MAX_RUNNING_OUTPUT } from "./combine.ts";
import { appendText, NO_TEXT, toTextParts } from "./text-parts.ts";

/** A place in the transcript. Its item is replaced when it changes. */
export interface Slot {
  item: TranscriptItem;
}

interface TurnFacts {
  readonly startedAt: string | undefined;
  readonly usage: Usage | undefined;
}
const NO_TURN: TurnFacts = { startedAt: undefined, usage: undefined };

export class Transcript {
  #slots: Slot[] = [];
  /** The first and the last slot of each ID in this part of the log. */
  readonly #first = new Map<string, Slot>();
  readonly #last = new Map<string, Slot>();
  /** Slots that the end of the turn or of the session changes. */
  readonly #running = new Set<Slot>();
  #message: Slot | undefined;
  #turn: TurnFacts = NO_TURN;
  /** The end of a turn that started before this part of the log. */
  #openingTurnEnd: Slot | undefined;
  #hasTurnBoundary = false;
  #hasTurnEnd = false;
  #hasParking = false;
  #hasClosing = false;
  #endsMessages = false;
  #changed = new Set<Slot>();

  get slots(): readonly Slot[] {
    return this.#slots;
  }

  /** The slots whose items changed or are new since the last call. */
  takeChanges(): ReadonlySet<Slot> {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed;
  }

  add(event: SessionEvent): void {
    switch (event.type) {
      case "turn.started":
        this.#hasTurnBoundary = true;
        this.#turn = { startedAt: event.at, usage: undefined };
        this.#endMessage();
        if (event.input.length > 0)
          this.#push({ ...base("prompt", event), kind: "prompt", input: event.input, isSteered: false });
        break;
      case "input.delivered":
        this.#push({ ...base("prompt", event), kind: "prompt", input: event.input, isSteered: true });
        break;
      case "turn.ended":
        this.#endTurn(event);
        break;
      case "message.delta":
      case "message.completed":
        this.#addMessage(event);
        break;
      case "thought.delta":
        this.#addThought(event);
        break;
      case "tool.started":
      case "tool.updated":
      case "tool.ended":
        this.#addTool(event);
        break;
      case "permission.requested":
      case "question.asked":
      case "permission.resolved":
      case "question.answered":
        this.#addRequest(event);
        break;
      case "plan.updated": {
        const id = `plan ${event.turnId ?? event.seq}`;
        const slot = this.#last.get(id);
        const { entries } = event;
        if (slot?.item.kind === "plan") this.#set(slot, { ...slot.item, entries });
        else this.#push({ ...base("plan", event), kind: "plan", entries }, id);
        break;
      }
      case "subagent.started":
      case "subagent.ended":
        this.#addSubagent(event);
        break;
      case "usage.reported":
        this.#turn = { ...this.#turn, usage: addUsage(this.#turn.usage ?? NO_USAGE, event) };
        break;
      case "output.text":
        if (event.from !== undefined) break; // output of MCP servers is only logged
        this.#push({ ...base("output", event), kind: "output", text: event.text });
        break;
      case "turn.parked":
        this.#hasParking = true;
        this.#makeObsolete(({ turnId }) => turnId !== undefined);
        this.#addNotice(event);
        break;
      case "session.closed":
        this.#hasClosing = true;
        this.#makeObsolete(({ turnId }) => turnId === undefined);
        this.#addNotice(event);
        break;
      default: // the others are notices, or are not shown
        this.#addNotice(event);
    }
  }

  /** Puts an older part of the log, which ends where this one starts, before this one. Do not use `older` after that. */
  prepend(older: Transcript): void {
    const moved = new Map<Slot, Slot>();
    for (const [id, before] of older.#last) {
      const slot = this.#first.get(id);
      const combined = slot && combineItems(before.item, slot.item);
      if (slot === undefined || combined === undefined) continue;
      this.#set(slot, combined);
      moved.set(before, slot);
      older.#running.delete(before);
      if ("outcome" in combined && combined.outcome !== undefined) this.#running.delete(slot);
    }
    this.#endOlder(older, moved);
    const continued = new Set(moved.values());
    const slots = older.#slots.map((slot) => moved.get(slot) ?? slot);
    for (const slot of this.#slots) {
      if (!continued.has(slot) && !this.#countRepeated(slots, slot)) slots.push(slot);
    }
    this.#slots = slots;
    this.#joinIds(older, moved);
    for (const slot of older.#changed) if (!moved.has(slot)) this.#changed.add(slot);
    for (const slot of older.#running) this.#running.add(slot);
    if (!this.#endsMessages && this.#message === undefined) this.#message = older.#message;
    this.#joinTurn(older);
    this.#hasTurnEnd ||= older.#hasTurnEnd;
    this.#hasParking ||= older.#hasParking;
    this.#hasClosing ||= older.#hasClosing;
    this.#endsMessages ||= older.#endsMessages;
  }

  /** Applies what this part of the log ends to what is open at the end of the older part. */
  #endOlder(older: Transcript, moved: ReadonlyMap<Slot, Slot>): void {
    if (this.#hasTurnEnd) older.#interrupt();
    if (this.#hasTurnEnd || this.#hasParking) older.#makeObsolete(({ turnId }) => turnId !== undefined);
    if (this.#hasClosing) older.#makeObsolete(({ turnId }) => turnId === undefined);
    if (older.#message !== undefined && moved.has(older.#message)) older.#message = undefined;
    if (this.#endsMessages) older.#endMessage();
  }

  #joinIds(older: Transcript, moved: ReadonlyMap<Slot, Slot>): void {
    for (const [id, slot] of older.#first) this.#first.set(id, moved.get(slot) ?? slot);
    for (const [id, slot] of older.#last) if (!this.#last.has(id)) this.#last.set(id, slot);
  }

  #joinTurn(older: Transcript): void {
    const { startedAt, usage } = older.#turn;
    const end = this.#openingTurnEnd;
    if (end?.item.kind === "turn_end") {
      this.#set(end, { ...end.item, startedAt, usage: sumUsage(usage, end.item.usage) });
      this.#openingTurnEnd = older.#hasTurnBoundary ? undefined : end;
    }
    if (!this.#hasTurnBoundary) {
      this.#turn = { startedAt: this.#turn.startedAt ?? startedAt, usage: sumUsage(usage, this.#turn.usage) };
    }
    this.#openingTurnEnd = older.#openingTurnEnd ?? this.#openingTurnEnd;
    this.#hasTurnBoundary ||= older.#hasTurnBoundary;
  }

  #endTurn(event: EventOf<"turn.ended">): void {
    this.#hasTurnEnd = true;
    this.#endMessage();
    this.#interrupt();
    this.#makeObsolete(({ turnId }) => turnId !== undefined);
    const slot = this.#push({ ...base("turn_end", event), kind: "turn_end", outcome: event.outcome, ...this.#turn });
    if (!this.#hasTurnBoundary) this.#openingTurnEnd = slot;
    this.#hasTurnBoundary = true;
    this.#turn = NO_TURN;
  }

  /** Tools and children of a turn that ended without them. */
  #interrupt(): void {
    for (const slot of this.#running) {
      const { item } = slot;
      if (item.turnId === undefined || (item.kind !== "tool" && item.kind !== "subagent")) continue;
      this.#running.delete(slot);
      this.#set(slot, { ...item, outcome: "interrupted" });
    }
  }

  #makeObsolete(isEnded: (item: TranscriptItem) => boolean): void {
    for (const slot of this.#running) {
      const { item } = slot;
      if (item.kind !== "request" || !isEnded(item)) continue;
      this.#running.delete(slot);
      this.#set(slot, { ...item, isObsolete: true });
    }
  }

  /** A message that is open when another one starts was abandoned. */
  #endMessage(next?: Slot): void {
    this.#endsMessages = true;
    const slot = this.#message;
    this.#message = undefined;
    if (slot === undefined || slot === next || slot.item.kind !== "message" || slot.item.state !== "streaming") return;
    this.#set(slot, { ...slot.item, state: "abandoned" });
  }

  #addMessage(event: EventOf<"message.delta"> | EventOf<"message.completed">): void {
    const { messageId } = event;
    const id = `message ${event.turnId ?? ""} ${messageId}`;
    const known = this.#last.get(id);
    const before = known?.item.kind === "message" && known.item.state !== "complete" ? known.item : undefined;
    this.#endMessage(before && known);
    const item = before ?? { ...base("message", event), kind: "message", messageId, text: NO_TEXT };
    const isComplete = event.type === "message.completed";
    const text = isComplete ? toTextParts(event.text) : appendText(item.text, event.text);
    const next: TranscriptItem = { ...item, text, state: isComplete ? "complete" : "streaming" };
    const slot = before && known ? this.#set(known, next) : this.#push(next, id);
    this.#message = isComplete ? undefined : slot;
  }

  #addThought(event: EventOf<"thought.delta">): void {
    const { messageId, at: until } = event;
    const id = `thought ${event.turnId ?? ""} ${messageId}`;
    const slot = this.#last.get(id);
    if (slot?.item.kind === "thought") {
      this.#set(slot, { ...slot.item, until, text: appendText(slot.item.text, event.text) });
      return;
    }
    this.#push({ ...base("thought", event), kind: "thought", messageId, until, text: toTextParts(event.text) }, id);
  }

  #addTool(event: EventOf<"tool.started"> | EventOf<"tool.updated"> | EventOf<"tool.ended">): void {
    const id = `tool ${event.toolId}`;
    if (event.type === "tool.started") {
      const { name, title, kind: toolKind, input, locations, parent } = event;
      const start = { name, title, toolKind, input, locations, isNested: parent !== undefined, hasStart: true };
      this.#running.add(this.#push({ ...emptyTool(event), ...start }, id));
      return;
    }
    const known = this.#last.get(id);
    const slot = known ?? this.#push(emptyTool(event), id);
    if (known === undefined) this.#running.add(slot);
    if (slot.item.kind !== "tool" || slot.item.endedAt !== undefined) return;
    const locations = event.locations ?? slot.item.locations;
    if (event.type === "tool.updated") {
      const { title = slot.item.title, text = "" } = event;
      this.#set(slot, { ...slot.item, title, locations, text: (slot.item.text + text).slice(-MAX_RUNNING_OUTPUT) });
      return;
    }
    const { outcome, text, at: endedAt, diffs = [], blobs = [] } = event;
    this.#running.delete(slot);
    this.#set(slot, { ...slot.item, outcome, text, endedAt, locations, diffs, blobs });
  }

  #addRequest(event: RequestEvent): void {
    const { requestId } = event;
    const id = `request ${requestId}`;
    const item = { ...base("request", event), kind: "request", requestId, isObsolete: false } as const;
    if (event.type === "permission.requested" || event.type === "question.asked") {
      this.#running.add(this.#push({ ...item, request: event, answer: undefined }, id));
      return;
    }
    const slot = this.#last.get(id);
    if (slot?.item.kind !== "request") {
      this.#push({ ...item, request: undefined, answer: event }, id);
    } else if (slot.item.answer === undefined) {
      this.#running.delete(slot);
      this.#set(slot, { ...slot.item, answer: event, isObsolete: false });
    }
  }

  #addSubagent(event: EventOf<"subagent.started"> | EventOf<"subagent.ended">): void {
    const { childSessionId } = event;
    const id = `subagent ${childSessionId}`;
    const child: SubagentItem = {
      ...base("subagent", event),
      kind: "subagent",
      childSessionId,
      title: "",
      outcome: undefined,
      hasStart: false,
    };
    if (event.type === "subagent.started") {
      this.#running.add(this.#push({ ...child, title: event.title, hasStart: true }, id));
      return;
    }
    const { outcome } = event;
    const slot = this.#last.get(id);
    if (slot?.item.kind !== "subagent") {
      this.#push({ ...child, outcome }, id);
    } else if (slot.item.outcome === undefined || slot.item.outcome === "interrupted") {
      this.#running.delete(slot);
      this.#set(slot, { ...slot.item, outcome });
    }
  }

  #addNotice(event: SessionEvent): void {
    const notice = formatNotice(event);
    if (notice === undefined) return;
    const item: NoticeItem = { ...base("notice", event), kind: "notice", count: 1, ...notice };
    if (!this.#countRepeated(this.#slots, { item })) this.#push(item);
  }

  /** Returns true if the slot repeats the notice at the end, which then counts it. */
  #countRepeated(slots: readonly Slot[], { item }: Slot): boolean {
    const last = slots.at(-1);
    if (last?.item.kind !== "notice" || item.kind !== "notice" || !isSameNotice(last.item, item)) return false;
    this.#set(last, { ...last.item, count: last.item.count + item.count });
    return true;
  }

  #push(item: TranscriptItem, id?: string): Slot {
    const slot: Slot = { item };
    this.#slots.push(slot);
    this.#changed.add(slot);
    if (id !== undefined) {
      if (!this.#first.has(id)) this.#first.set(id, slot);
      this.#last.set(id, slot);
    }
    return slot;
  }

  #set(slot: Slot, item: TranscriptItem): Slot {
    slot.item = item;
    this.#changed.add(slot);
    return slot;
  }
}

type RequestEvent =
  | EventOf<"permission.requested">
  | EventOf<"question.asked">
  | EventOf<"permission.resolved">
  | EventOf<"question.answered">;

function base(kind: TranscriptItem["kind"], { seq, at, turnId }: SessionEvent) {
  return { key: `${kind} ${seq}`, seq, at, turnId };
}

/** A tool whose start is not known. */
function emptyTool(event: EventOf<"tool.started"> | EventOf<"tool.updated"> | EventOf<"tool.ended">): ToolItem {
  return {
    ...base("tool", event),
    kind: "tool",
    toolId: event.toolId,
    name: "",
    title: "",
    toolKind: "other",
    input: undefined,
    locations: undefined,
    isNested: false,
    outcome: undefined,
    endedAt: undefined,
    text: "",
    diffs: [],
    blobs: [],
    hasStart: false,
  };
}

function sumUsage(one: Usage | undefined, other: Usage | undefined): Usage | undefined {
  return one === undefined || other === undefined ? (one ?? other) : addUsage(one, other);
}
