/** A call of a tool: one line, which opens to its diff, output or image. */
import { createMemo, For, Show, type JSX } from "solid-js";
import type { ToolKind } from "../../../../src/domain/events.ts";
import { formatDuration, titleWithoutTool, visible } from "../../format.ts";
import { useServer } from "../../server.tsx";
import { formatInputJson } from "../input-json.ts";
import type { ToolItem } from "../transcript/items.ts";
import { BlobView } from "./blob-view.tsx";
import { DiffView } from "./diff-view.tsx";
import { Fold, type FoldState } from "./fold.tsx";
import { OutputText } from "./output-text.tsx";

const KINDS: Readonly<Record<ToolKind, string>> = {
  read: "Read",
  edit: "Edit",
  delete: "Delete",
  move: "Move",
  search: "Search",
  execute: "Run",
  fetch: "Fetch",
  think: "Think",
  ask: "Ask",
  other: "Tool",
};

const OUTCOMES: Readonly<
  Record<NonNullable<ToolItem["outcome"]>, { readonly mark: string; readonly tone: string; readonly word: string }>
> = {
  ok: { mark: "✓", tone: "good", word: "" },
  failed: { mark: "✗", tone: "bad", word: "failed" },
  denied: { mark: "⊘", tone: "warn", word: "denied" },
  cancelled: { mark: "⊘", tone: "warn", word: "cancelled" },
  timed_out: { mark: "✗", tone: "bad", word: "timed out" },
  unknown: { mark: "?", tone: "warn", word: "may or may not have run" },
  interrupted: { mark: "⊘", tone: "warn", word: "interrupted" },
};

export function ToolRow(props: FoldState & { readonly item: ToolItem }): JSX.Element {
  const { roster } = useServer();
  const outcome = () => (props.item.outcome === undefined ? undefined : OUTCOMES[props.item.outcome]);
  const title = (): string => {
    const { title: text, name, toolId } = props.item;
    const [line = ""] = [text, name, toolId].find((each) => each.trim() !== "")?.split("\n", 1) ?? [];
    return visible(titleWithoutTool(line, name).slice(0, 300));
  };
  const duration = (): string => {
    const end = props.item.endedAt === undefined ? roster.now() : Date.parse(props.item.endedAt);
    const ms = end - Date.parse(props.item.at);
    return props.item.hasStart && props.item.endedAt !== undefined && ms >= 1_000 ? formatDuration(ms) : "";
  };
  const input = createMemo(() => (props.isOpen ? formatInputJson(props.item.input) : ""));
  return (
    <Fold
      class={props.item.isNested ? "tool nested" : "tool"}
      isOpen={props.isOpen}
      onToggle={(isOpen) => props.onToggle(isOpen)}
      summary={
        <>
          <span class={`tool-outcome ${outcome()?.tone ?? "muted"}`} aria-hidden="true">
            {outcome()?.mark ?? "…"}
          </span>
          <span class="tool-kind">{KINDS[props.item.toolKind]}</span>
          <span class="tool-title mono">{title()}</span>
          <span class="tool-facts muted">
            {[outcome()?.word ?? "running", duration()].filter((fact) => fact !== "").join(" · ")}
          </span>
        </>
      }
    >
      <For each={props.item.diffs.slice(0, MAX_DIFFS)}>{(diff) => <DiffView diff={diff} />}</For>
      <Show when={props.item.diffs.length > MAX_DIFFS}>
        <p class="small muted">{props.item.diffs.length - MAX_DIFFS} more files changed</p>
      </Show>
      <For each={props.item.blobs}>{(blob) => <BlobView blob={blob} />}</For>
      <Show when={props.item.diffs.length === 0 && input() !== ""}>
        <OutputText text={input()} label="Input" />
      </Show>
      <Show when={props.item.text.trim() !== ""}>
        <OutputText text={props.item.text} label="Output" isTail={props.item.outcome === undefined} />
      </Show>
    </Fold>
  );
}

const MAX_DIFFS = 50;
