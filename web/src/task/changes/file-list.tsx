/** The tree of changed files. */
import { createMemo, Show, type JSX } from "solid-js";
import { VList } from "virtua/solid";
import type { ChangedFile } from "../../../../src/domain/task/view.ts";
import { visible } from "../../format.ts";
import { buildFileTree, type TreeRow } from "./file-tree.ts";
import { Counts } from "./diff-line.tsx";
import type { Patch } from "./parse-patch.ts";

/** `changes.css` has the same heights. Only files can be chosen. */
const FOLDER_HEIGHT = 28;
const FILE_HEIGHT = matchMedia("(pointer: coarse)").matches ? 44 : 28;
const MAX_INDENT = 10;

interface FileListProps {
  readonly files: readonly ChangedFile[];
  readonly patch: Patch;
  /** The path of the file in view. */
  readonly current: string | undefined;
  onChoose(path: string): void;
}

export function FileList(props: FileListProps): JSX.Element {
  const rows = createMemo(() => buildFileTree(props.files));
  const shown = createMemo(() => new Set(props.patch.files.map(({ path }) => path)));
  const height = (): number =>
    rows().reduce((sum, { kind }) => sum + (kind === "file" ? FILE_HEIGHT : FOLDER_HEIGHT), 0);
  return (
    <nav class="files" aria-label="Changed files">
      <VList class="file-rows" data={rows()} itemSize={FILE_HEIGHT} style={{ "--rows-height": `${height()}px` }}>
        {(row) => (
          <FileRow
            row={row}
            isCurrent={row.kind === "file" && row.file.path === props.current}
            isShown={row.kind === "file" && shown().has(row.file.path)}
            onChoose={(path) => props.onChoose(path)}
          />
        )}
      </VList>
    </nav>
  );
}

interface FileRowProps {
  readonly row: TreeRow;
  readonly isCurrent: boolean;
  readonly isShown: boolean;
  onChoose(path: string): void;
}

const LETTERS: Readonly<Record<ChangedFile["change"], string>> = {
  added: "A",
  untracked: "A",
  modified: "M",
  deleted: "D",
  renamed: "R",
  copied: "C",
  type_changed: "T",
  unmerged: "!",
};

function FileRow(props: FileRowProps): JSX.Element {
  const indent = (): string => `indent-${Math.min(props.row.depth, MAX_INDENT)}`;
  return (
    <Show
      when={props.row.kind === "file" && props.row}
      fallback={<div class={`file-row folder muted small ${indent()}`}>{visible(props.row.name)}/</div>}
    >
      {(row) => (
        <button
          type="button"
          class={`file-row plain ${indent()}`}
          aria-current={props.isCurrent ? "true" : undefined}
          disabled={!props.isShown}
          title={visible(row().file.path)}
          onClick={() => props.onChoose(row().file.path)}
        >
          <span class={`letter small ${row().file.change}`} title={row().file.change}>
            {LETTERS[row().file.change]}
          </span>
          <span class="name">{visible(row().name)}</span>
          <Show
            when={row().file.binary}
            fallback={<Counts additions={row().file.additions} deletions={row().file.deletions} />}
          >
            <span class="muted small">binary</span>
          </Show>
        </button>
      )}
    </Show>
  );
}
