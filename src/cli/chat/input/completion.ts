/** Completes commands that start with a slash, and file names after `@`. */
import { fuzzyFilter } from "@mariozechner/pi-tui/dist/fuzzy.js";
import { displayWidth, truncateAtWord, truncateToWidth } from "../../display-width.ts";
import { escapeInvisible, toSingleLine } from "../../sanitize.ts";
import type { CompletionProvider } from "../../tui/prompt-editor.ts";

export interface CompletableCommand {
  /** Without the slash. */
  readonly name: string;
  readonly argument?: string | undefined;
  readonly summary: string;
  /** Values of the argument. */
  readonly values?: (() => Promise<readonly string[]>) | undefined;
}

export interface CompletionSources {
  readonly commands: () => readonly CompletableCommand[];
  readonly files: () => Promise<readonly string[]>;
  /**
   * The entries of a folder of which `files` lists nothing, for example because git ignores it. `folder` ends with a
   * slash.
   */
  readonly filesIn: (folder: string) => Promise<readonly string[]>;
  /** The columns of the terminal, in which a description is truncated. */
  readonly columns: () => number;
}

type Suggestions = NonNullable<Awaited<ReturnType<CompletionProvider["getSuggestions"]>>>;

const MAX_SUGGESTIONS = 200;

export function createCompletion({ commands, files, filesIn, columns }: CompletionSources): CompletionProvider {
  return {
    async getSuggestions(lines, cursorLine, cursorCol) {
      const before = (lines[cursorLine] ?? "").slice(0, cursorCol);
      const [, mention] = /(?:^|\s)@(\S*)$/.exec(before) ?? [];
      if (mention?.endsWith("/") === true) return completeFolder(mention, await files(), filesIn);
      if (mention !== undefined) return completeFile(mention, await files());
      if (cursorLine !== 0) return null;
      const [, name, argument] = /^\/([\w:.-]*)(?:\s+(\S*))?$/.exec(before) ?? [];
      if (name === undefined) return null;
      if (argument === undefined) return completeCommand(name, commands(), columns());
      const values = await commands()
        .find((command) => command.name === name)
        ?.values?.();
      return values === undefined ? null : completeValue(argument, values);
    },
    applyCompletion(lines, cursorLine, cursorCol, item, prefix) {
      const line = lines[cursorLine] ?? "";
      const start = line.slice(0, cursorCol - prefix.length);
      const end = item.value.endsWith("/") ? "" : " "; // a folder is completed further
      const next = [...lines];
      next[cursorLine] = start + item.value + end + line.slice(cursorCol).trimStart();
      return { lines: next, cursorLine, cursorCol: start.length + item.value.length + end.length };
    },
  };
}

/** The widest column of names that the editor's list has. */
const MAX_NAME_COLUMN = 32;
/** The columns that the list has besides the names and the descriptions. */
const LIST_MARGIN = 8;

/** The editor's list truncates in mid-word without a mark, so what it gets fits. */
function completeCommand(typed: string, commands: readonly CompletableCommand[], columns: number): Suggestions {
  const starting = commands.filter(({ name }) => name.startsWith(typed));
  const others = fuzzyFilter([...commands], typed, ({ name }) => name).filter((one) => !starting.includes(one));
  const found = [...starting, ...others].slice(0, MAX_SUGGESTIONS).map(({ name, argument = "", summary }) => ({
    value: `/${name}`,
    label: truncateToWidth(`/${name} ${toSingleLine(argument)}`.trimEnd(), MAX_NAME_COLUMN - 2),
    summary: toSingleLine(summary),
  }));
  const names = Math.max(10, ...found.map(({ label }) => displayWidth(label)));
  const room = Math.max(1, columns - names - LIST_MARGIN);
  const items = found.map(({ value, label, summary }) => ({
    value,
    label,
    description: truncateAtWord(summary, room),
  }));
  return { items, prefix: `/${typed}` };
}

function completeFile(typed: string, paths: readonly string[]): Suggestions {
  const found = typed === "" ? paths.filter((path) => isAtTop(path)) : fuzzyFilter([...paths], typed, (path) => path);
  return toMentions(typed, found);
}

/** Lists what is in the folder itself, not below it. */
async function completeFolder(
  folder: string,
  paths: readonly string[],
  filesIn: CompletionSources["filesIn"],
): Promise<Suggestions> {
  const found = paths.filter(
    (path) => path !== folder && path.startsWith(folder) && isAtTop(path.slice(folder.length)),
  );
  return toMentions(folder, found.length > 0 ? found : await filesIn(folder));
}

function toMentions(typed: string, paths: readonly string[]): Suggestions {
  const items = paths.slice(0, MAX_SUGGESTIONS).map((path) => ({ value: `@${path}`, label: escapeInvisible(path) }));
  return { items, prefix: `@${typed}` };
}

function completeValue(typed: string, values: readonly string[]): Suggestions {
  const items = fuzzyFilter([...values], typed, (value) => value)
    .slice(0, MAX_SUGGESTIONS)
    .map((value) => ({ value, label: escapeInvisible(value) }));
  return { items, prefix: typed };
}

function isAtTop(path: string): boolean {
  const slash = path.indexOf("/");
  return slash === -1 || slash === path.length - 1;
}
