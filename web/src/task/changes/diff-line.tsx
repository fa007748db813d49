/** The rows of a diff. A row never changes: scrolling makes many, so these components do without reactive parts. */
import { Show, type JSX } from "solid-js";
import { visible } from "../../format.ts";
import type { PatchFile, PatchLine } from "./parse-patch.ts";
import type { LinePair } from "./split-rows.ts";

/** More of a line is not shown: minified files have lines of megabytes. */
const MAX_LINE = 2_000;
const SIGNS = { context: " ", added: "+", removed: "-" } as const;

export function UnifiedLine(props: { readonly line: PatchLine }): JSX.Element {
  return (
    <div class={`line ${props.line.change}`}>
      <LineNumber line={props.line} number={props.line.oldLine} />
      <LineNumber line={props.line} number={props.line.newLine} />
      <LineText line={props.line} />
    </div>
  );
}

export function SplitLine(props: { readonly pair: LinePair }): JSX.Element {
  return (
    <div class="pair">
      <Half line={props.pair.left} number={props.pair.left?.oldLine} />
      <Half line={props.pair.right} number={props.pair.right?.newLine} />
    </div>
  );
}

function Half(props: { readonly line: PatchLine | undefined; readonly number: number | undefined }): JSX.Element {
  const { line } = props;
  if (line === undefined) return <div class="line nothing" role="gridcell" />;
  return (
    <div class={`line ${line.change}`}>
      <LineNumber line={line} number={props.number} />
      <LineText line={line} />
    </div>
  );
}

function LineNumber(props: { readonly line: PatchLine; readonly number: number | undefined }): JSX.Element {
  return (
    <span class="number" role="gridcell" data-side={props.line.change === "removed" ? "old" : "new"}>
      {props.number}
    </span>
  );
}

function LineText(props: { readonly line: PatchLine }): JSX.Element {
  return (
    <span class="code" role="gridcell">
      <span class="sign">{SIGNS[props.line.change]}</span>
      {formatLine(props.line.text)}
      {props.line.noNewline ? <span class="end-note">no newline at the end</span> : undefined}
    </span>
  );
}

/** Shows the carriage return of a line that ends as on Windows as one sign, not as a code. */
export function formatLine(text: string): string {
  const line = text.endsWith("\r") ? `${visible(text.slice(0, -1))}␍` : visible(text);
  if (line.length <= MAX_LINE) return line;
  return `${line.slice(0, MAX_LINE)}… ${(line.length - MAX_LINE).toLocaleString("en-US")} more characters`;
}

const CHANGES: Readonly<Record<PatchFile["change"], string>> = {
  added: "added",
  modified: "",
  deleted: "deleted",
  renamed: "renamed",
  copied: "copied",
  unmerged: "in conflict",
};

export function FileHead(props: { readonly file: PatchFile }): JSX.Element {
  return (
    <div class="file-head" role="gridcell">
      <span class="mono path">
        <Show when={props.file.from}>{(from) => <span class="muted">{visible(from())} → </span>}</Show>
        {visible(props.file.path)}
      </span>
      <Show when={CHANGES[props.file.change]}>{(change) => <span class="muted small">{change()}</span>}</Show>
      <Counts additions={props.file.additions} deletions={props.file.deletions} />
    </div>
  );
}

interface CountsProps {
  readonly additions: number | undefined;
  readonly deletions: number | undefined;
}

export function Counts(props: CountsProps): JSX.Element {
  return (
    <span class="counts small">
      <Show when={(props.additions ?? 0) > 0}>
        <span class="good">+{props.additions}</span>
      </Show>
      <Show when={(props.deletions ?? 0) > 0}>
        <span class="bad">−{props.deletions}</span>
      </Show>
    </span>
  );
}
