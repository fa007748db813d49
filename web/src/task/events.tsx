/** The events of a task as the log has them: a list that can be filtered, with an address for each event. */
import { createEffect, createMemo, createSignal, For, on, onCleanup, Show, type JSX } from "solid-js";
import { VList, type VListHandle } from "virtua/solid";
import type { TaskEvent } from "../../../src/domain/task/events.ts";
import { visible } from "../format.ts";
import "../styles/task-events.css";
import { describeTaskEvent, matchesFilter } from "./describe-event.ts";
import { useTask } from "./task-context.tsx";

const ROW_HEIGHT = matchMedia("(pointer: coarse)").matches ? 45 : 33;

export function Events(): JSX.Element {
  const { log } = useTask();
  const [filter, setFilter] = createSignal("");
  const [type, setType] = createSignal("");
  const [target, setTarget] = createSignal(readTarget());
  const [open, setOpen] = createSignal<ReadonlySet<number>>(new Set(target() === undefined ? [] : [target() ?? 0]));
  const types = createMemo(() => [...new Set(log.events().map((event) => event.type))].sort());
  const shown = createMemo(() =>
    log.events().filter((event) => (type() === "" || event.type === type()) && matchesFilter(event, filter())),
  );
  let list: VListHandle | undefined;

  const onHash = (): void => {
    const seq = readTarget();
    setTarget(seq);
    if (seq === undefined) return;
    setFilter("");
    setType("");
    setOpen((before) => new Set(before).add(seq));
  };
  addEventListener("hashchange", onHash);
  onCleanup(() => removeEventListener("hashchange", onHash));
  createEffect(
    on([target, log.isLoaded], ([seq, isLoaded]) => {
      if (seq === undefined || !isLoaded) return;
      const index = shown().findIndex((event) => event.seq === seq);
      if (index >= 0) requestAnimationFrame(() => list?.scrollToIndex(index, { align: "center" }));
    }),
  );
  const toggle = (seq: number): void => {
    setOpen((before) => {
      const next = new Set(before);
      if (!next.delete(seq)) next.add(seq);
      return next;
    });
  };
  return (
    <>
      <div class="toolbar">
        <label>
          <span class="visually-hidden">Filter events</span>
          <input
            type="search"
            placeholder="Filter"
            value={filter()}
            onInput={({ currentTarget }) => setFilter(currentTarget.value)}
          />
        </label>
        <label>
          <span class="visually-hidden">Type</span>
          <select value={type()} onChange={({ currentTarget }) => setType(currentTarget.value)}>
            <option value="">All types</option>
            <For each={types()}>{(each) => <option value={each}>{each}</option>}</For>
          </select>
        </label>
        <span class="muted small" role="status">
          {shown().length} of {log.events().length} events
        </span>
      </div>
      <Show
        when={shown().length > 0}
        fallback={<p class="empty">{log.isLoaded() ? "No events match." : "Loading…"}</p>}
      >
        <VList
          class="event-list"
          tabindex="0"
          role="region"
          aria-label="Events"
          data={shown()}
          itemSize={ROW_HEIGHT}
          ref={(handle) => (list = handle)}
        >
          {(event) => (
            <EventRow
              event={event}
              isOpen={open().has(event.seq)}
              isTarget={target() === event.seq}
              onToggle={() => toggle(event.seq)}
            />
          )}
        </VList>
      </Show>
    </>
  );
}

interface EventRowProps {
  readonly event: TaskEvent;
  readonly isOpen: boolean;
  readonly isTarget: boolean;
  onToggle(): void;
}

function EventRow(props: EventRowProps): JSX.Element {
  return (
    <div class="event" classList={{ target: props.isTarget }} id={`seq-${props.event.seq}`}>
      <div class="event-line">
        <a class="mono small" href={`#seq-${props.event.seq}`} aria-label={`Link to event ${props.event.seq}`}>
          {props.event.seq}
        </a>
        <button type="button" class="plain" aria-expanded={props.isOpen} onClick={() => props.onToggle()}>
          <time class="muted small" datetime={props.event.at} title={props.event.at}>
            {formatClock(props.event.at)}
          </time>
          <span class="mono small type">{props.event.type}</span>
          <span class="muted small what">{visible(describeTaskEvent(props.event))}</span>
        </button>
      </div>
      <Show when={props.isOpen}>
        <pre class="run-output small">{visible(JSON.stringify(props.event, undefined, 2))}</pre>
      </Show>
    </div>
  );
}

function formatClock(at: string): string {
  return new Date(at).toLocaleTimeString(undefined, { hour12: false });
}

function readTarget(): number | undefined {
  const seq = /^#seq-(\d{1,15})$/.exec(location.hash)?.[1];
  return seq === undefined ? undefined : Number(seq);
}
