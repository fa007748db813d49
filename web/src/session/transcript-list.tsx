/**
 * The virtual list of a transcript. It opens at the end, stays there while the reader is there, and reads older pages
 * when the reader comes near the start.
 */
import { createEffect, createSignal, on, onCleanup, onMount, Show, untrack, type JSX } from "solid-js";
import { Virtualizer, type VirtualizerHandle } from "virtua/solid";
import { RowView } from "./items/row-view.tsx";
import type { SessionModel } from "./model.ts";
import { useSession } from "./session-context.ts";

/** The reader counts as being at the end within this distance, in pixels. */
const END_DISTANCE = 32;
/** Older pages are read before the reader reaches the start. */
const OLDER_DISTANCE = 3_000;
const MAX_SEARCHED_PAGES = 50;
const SCROLL_FRAMES = 4;

interface TranscriptListProps {
  readonly model: SessionModel;
  /** The event to scroll to. Default: the end. */
  readonly seq?: number | undefined;
}

export function TranscriptList(props: TranscriptListProps): JSX.Element {
  const [isAtEnd, setAtEnd] = createSignal(true);
  const [hasNew, setHasNew] = createSignal(false);
  const [scroller, setScroller] = createSignal<HTMLDivElement>();
  let list: VirtualizerHandle | undefined;
  let lastOffset = 0;
  let frame: number | undefined;

  const scrollToEnd = (): void => {
    const count = props.model.rows().length;
    if (list !== undefined && count > 0) list.scrollToIndex(count - 1, { align: "end" });
  };
  const followEnd = (): void => {
    if (!isAtEnd()) return;
    frame ??= requestAnimationFrame(() => {
      frame = undefined;
      if (isAtEnd()) scrollToEnd();
    });
  };
  const loadOlderIfNear = (): void => {
    if (list !== undefined && list.scrollOffset < OLDER_DISTANCE && props.model.isLoaded()) {
      void props.model.loadOlder();
    }
  };
  const onScroll = (offset: number): void => {
    if (list === undefined) return;
    const distance = list.scrollSize - list.viewportSize - offset;
    if (distance <= END_DISTANCE) {
      setAtEnd(true);
      setHasNew(false);
    } else if (offset < lastOffset - 1) setAtEnd(false); // content that grows below does not count as leaving the end
    lastOffset = offset;
    loadOlderIfNear();
  };

  createEffect(
    on(
      () => props.model.rows(),
      () => {
        if (props.model.isPrepending()) return;
        if (isAtEnd()) followEnd();
        else setHasNew(true);
      },
    ),
  );
  // A first page that does not fill the screen cannot be scrolled.
  createEffect(() => {
    if (props.model.isLoaded() && props.model.hasOlder()) requestAnimationFrame(loadOlderIfNear);
  });
  const { wantedRequest } = useSession();
  createEffect(
    on(wantedRequest, (wanted) => {
      if (wanted !== undefined) void showRequest(wanted.requestId);
    }),
  );
  createEffect(() => {
    const { seq } = props;
    if (seq !== undefined && props.model.isLoaded()) void untrack(() => showEvent(seq));
  });
  /** Reads older pages until the item of the event is there. */
  const showEvent = async (seq: number): Promise<void> => {
    const find = (): number => props.model.rows().findLastIndex(({ item }) => item().seq <= seq);
    setAtEnd(false);
    for (let pages = 0; find() === -1 && props.model.hasOlder() && pages < MAX_SEARCHED_PAGES; pages += 1) {
      await props.model.loadOlder();
    }
    const index = Math.max(0, find());
    const key = props.model.rows()[index]?.item().key;
    // Rows get their real height when they are drawn, so that the first position is an estimate.
    for (let frames = 0; frames < SCROLL_FRAMES; frames += 1) {
      list?.scrollToIndex(index, { align: "start" });
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
    for (const row of scroller()?.querySelectorAll<HTMLElement>("[data-key]") ?? []) {
      row.classList.toggle("found", row.dataset["key"] === key);
    }
  };
  /** Reads older pages until the request is there. */
  const showRequest = async (requestId: string): Promise<void> => {
    const find = (): number =>
      props.model.rows().findIndex(({ item }) => {
        const known = item();
        return known.kind === "request" && known.requestId === requestId;
      });
    for (let pages = 0; find() === -1 && props.model.hasOlder() && pages < MAX_SEARCHED_PAGES; pages += 1) {
      await props.model.loadOlder();
    }
    if (find() === -1) return;
    setAtEnd(false);
    list?.scrollToIndex(find(), { align: "nearest" });
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        const card = Array.from(scroller()?.querySelectorAll<HTMLElement>("[data-request]") ?? []).find(
          (each) => each.dataset["request"] === requestId,
        );
        (card?.querySelector<HTMLElement>("button.primary") ?? card)?.focus();
      }),
    );
  };
  onMount(() => {
    const observer = new ResizeObserver(followEnd); // the message box grows
    const element = scroller();
    if (element !== undefined) observer.observe(element);
    onCleanup(() => observer.disconnect());
  });
  onCleanup(() => {
    if (frame !== undefined) cancelAnimationFrame(frame);
  });

  return (
    <div class="transcript">
      <div class="transcript-scroll" ref={setScroller} tabindex="0" role="group" aria-label="Transcript">
        <Show when={props.model.isLoaded()} fallback={<p class="muted transcript-note">Loading…</p>}>
          <Show
            when={props.model.rows().length > 0}
            fallback={<p class="muted transcript-note">No messages yet. Write the first one below.</p>}
          >
            <Virtualizer
              ref={(handle) => {
                list = handle;
                queueMicrotask(scrollToEnd);
              }}
              scrollRef={scroller() as HTMLDivElement}
              data={props.model.rows()}
              shift={props.model.isPrepending()}
              bufferSize={400}
              onScroll={onScroll}
              onResize={followEnd}
            >
              {(row) => <RowView row={row} />}
            </Virtualizer>
          </Show>
        </Show>
      </div>
      <Show when={!isAtEnd()}>
        <button
          class="to-end"
          onClick={() => {
            setAtEnd(true);
            setHasNew(false);
            scrollToEnd();
          }}
        >
          {hasNew() ? "↓ New" : "↓ End"}
        </button>
      </Show>
    </div>
  );
}
