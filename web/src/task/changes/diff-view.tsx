/** A diff as one virtual list. Only the rows in view are in the document, so its length does not matter. */
import { createEffect, createMemo, createSignal, on, Show, type JSX } from "solid-js";
import { VList, type VListHandle } from "virtua/solid";
import { visible } from "../../format.ts";
import { findLinePlace, isAboutLine, lineKey, type LineComment } from "./comments.ts";
import type { CommentStore } from "./comment-store.ts";
import { FileHead, SplitLine, UnifiedLine } from "./diff-line.tsx";
import { LineComments, type CommentDraft } from "./line-comments.tsx";
import { findMove } from "./moves.ts";
import type { Patch, PatchLine, PatchRow } from "./parse-patch.ts";
import { toSplitRows, type SplitRow } from "./split-rows.ts";

export interface DiffHandle {
  showFile(path: string): void;
}

interface DiffViewProps {
  readonly patch: Patch;
  readonly isSplit: boolean;
  readonly store: CommentStore;
  /** Called with the path of the file at the top of the view. */
  onFile(path: string): void;
  readonly ref: (handle: DiffHandle) => void;
}

const ROW_HEIGHT = 20;
type DiffRow = PatchRow | SplitRow;

export function DiffView(props: DiffViewProps): JSX.Element {
  const rows = createMemo<readonly DiffRow[]>(() => (props.isSplit ? toSplitRows(props.patch.rows) : props.patch.rows));
  const [active, setActive] = createSignal(0);
  const [draft, setDraft] = createSignal<CommentDraft>();
  let list: VListHandle | undefined;
  let grid: HTMLElement | undefined;

  createEffect(on([() => props.isSplit, () => props.patch], () => setActive(0)));
  props.ref({
    showFile(path) {
      const index = rows().findIndex((row) => row.kind === "file" && props.patch.files[row.file]?.path === path);
      if (index < 0) return;
      setActive(index);
      list?.scrollToIndex(index);
    },
  });
  const startComment = (row: DiffRow | undefined, side?: "old" | "new"): void => {
    const line = row && findLine(row, side);
    const path = row && props.patch.files[row.file]?.path;
    if (line === undefined || path === undefined) return;
    const place = findLinePlace(line);
    const key = lineKey(path, place.side, place.line);
    setDraft({ key, comment: { id: crypto.randomUUID(), path, ...place, text: "" }, text: "" });
  };
  const endDraft = (next: CommentDraft | undefined): void => {
    setDraft(next);
    if (next === undefined) grid?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "c" || event.key === "Enter") {
      event.preventDefault();
      return startComment(rows()[active()]);
    }
    const next = findMove(event.key, active(), rows(), Math.floor((list?.viewportSize ?? 400) / ROW_HEIGHT));
    if (next === undefined) return;
    event.preventDefault();
    setActive(next);
    list?.scrollToIndex(next, { align: "nearest" });
  };
  const onClick = (event: MouseEvent): void => {
    const target = event.target as HTMLElement;
    const row = target.closest<HTMLElement>("[data-row]");
    if (row === null) return;
    const index = Number(row.dataset["row"]);
    setActive(index);
    const number = target.closest<HTMLElement>(".number");
    if (number !== null) startComment(rows()[index], number.dataset["side"] as "old" | "new");
  };
  const onScroll = (offset: number): void => {
    const row = rows()[list?.findItemIndex(offset) ?? 0];
    const path = row && props.patch.files[row.file]?.path;
    if (path !== undefined) props.onFile(path);
  };
  const draftRow = createMemo((): readonly number[] => {
    const key = draft()?.key;
    const index = key === undefined ? -1 : rows().findIndex((row) => keysOf(row).includes(key));
    return index < 0 ? [] : [index]; // stays in the document while somebody writes
  });
  /** A context line is the same on both sides. A comment on it belongs to the new one. */
  function keysOf(row: DiffRow): readonly string[] {
    const path = props.patch.files[row.file]?.path ?? "";
    return linesOf(row).map((line) => {
      const place = findLinePlace(line);
      return lineKey(path, place.side, place.line);
    });
  }
  const commentsOf = (row: DiffRow): readonly LineComment[] => {
    const byLine = props.store.byLine();
    if (byLine.size === 0) return [];
    const lines = linesOf(row);
    const all = keysOf(row).flatMap((key, at) => {
      const line = lines[at];
      return (byLine.get(key) ?? []).filter((comment) => line !== undefined && isAboutLine(comment, line));
    });
    return [...new Set(all)];
  };
  return (
    <VList
      class="task-diff"
      classList={{ split: props.isSplit }}
      data={rows()}
      itemSize={ROW_HEIGHT}
      keepMounted={draftRow()}
      ref={(handle) => (list = handle)}
      onScroll={onScroll}
      onClick={onClick}
      onKeyDown={onKeyDown}
      onFocusIn={(event: FocusEvent) => (grid = (event.currentTarget as HTMLElement | null) ?? grid)}
      tabindex="0"
      role="grid"
      aria-label="Changes: arrow keys or j and k move, n and p change the file, c comments on a line"
      aria-rowcount={rows().length}
      aria-activedescendant={`diff-row-${active()}`}
    >
      {(row, index) => (
        <div
          class="diff-row"
          classList={{ active: index() === active() }}
          id={`diff-row-${index()}`}
          data-row={index()}
          role="row"
          aria-rowindex={index() + 1}
        >
          <Row row={row} patch={props.patch} />
          <Show when={linesOf(row).length > 0 && (commentsOf(row).length > 0 || isDrafting(row))}>
            <LineComments
              comments={commentsOf(row)}
              draft={isDrafting(row) ? draft() : undefined}
              lineKey={keysOf(row)[0] ?? ""}
              store={props.store}
              onDraft={endDraft}
            />
          </Show>
        </div>
      )}
    </VList>
  );

  function isDrafting(row: DiffRow): boolean {
    const key = draft()?.key;
    return key !== undefined && keysOf(row).includes(key);
  }
}

/** The kind of a row never changes, so this needs no `<Switch>`, which would cost a part of each frame. */
function Row(props: { readonly row: DiffRow; readonly patch: Patch }): JSX.Element {
  const { row } = props;
  switch (row.kind) {
    case "line":
      return <UnifiedLine line={row} />;
    case "pair":
      return <SplitLine pair={row} />;
    case "file": {
      const file = props.patch.files[row.file];
      return file && <FileHead file={file} />;
    }
    case "hunk":
      return (
        <div class="hunk mono small muted" role="gridcell">
          {visible(row.text)}
        </div>
      );
    case "note":
      return (
        <div class="diff-note small muted" role="gridcell">
          {visible(row.text)}
        </div>
      );
  }
}

function linesOf(row: DiffRow): readonly PatchLine[] {
  if (row.kind === "line") return [row];
  if (row.kind !== "pair") return [];
  return [row.left, row.right === row.left ? undefined : row.right].filter((line) => line !== undefined);
}

/** The line of a row that a comment is about: by default the new one. */
function findLine(row: DiffRow, side: "old" | "new" = "new"): PatchLine | undefined {
  const lines = linesOf(row);
  const isOld = (line: PatchLine): boolean => line.change === "removed";
  return lines.find((line) => isOld(line) === (side === "old")) ?? lines[0];
}
