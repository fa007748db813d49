/** Completes commands that start with a slash, and file names after `@`. */
import { fuzzyFilter } from "@mariozechner/pi-tui/dist/fuzzy.js";
import { escapeInvisible, toSingleLine } from "../sanitize.ts";
import type { CompletionProvider } from "../tui/prompt-editor.ts";

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
}

type Suggestions = NonNullable<Awaited<ReturnType<CompletionProvider["getSuggestions"]>>>;

const MAX_SUGGESTIONS = 200;

export function createCompletion({ commands, files }: CompletionSources): CompletionProvider {
  return {
    async getSuggestions(lines, cursorLine, cursorCol) {
      const before = (lines[cursorLine] ?? "").slice(0, cursorCol);
      const [, mention] = /(?:^|\s)@(\S*)$/.exec(before) ?? [];
      if (mention !== undefined) return completeFile(mention, await files());
      if (cursorLine !== 0) return null;
      const [, name, argument] = /^\/([\w:.-]*)(?:\s+(\S*))?$/.exec(before) ?? [];
      if (name === undefined) return null;
      if (argument === undefined) return completeCommand(name, commands());
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

function completeCommand(typed: string, commands: readonly CompletableCommand[]): Suggestions {
  const starting = commands.filter(({ name }) => name.startsWith(typed));
  const others = fuzzyFilter([...commands], typed, ({ name }) => name).filter((one) => !starting.includes(one));
  const items = [...starting, ...others].slice(0, MAX_SUGGESTIONS).map(({ name, argument, summary }) => ({
    value: `/${name}`,
    label: `/${name}${argument === undefined ? "" : ` ${toSingleLine(argument, 60)}`}`,
    description: toSingleLine(summary, 100),
  }));
  return { items, prefix: `/${typed}` };
}

function completeFile(typed: string, paths: readonly string[]): Suggestions {
  const found = typed === "" ? paths.filter((path) => isAtTop(path)) : fuzzyFilter([...paths], typed, (path) => path);
  const items = found.slice(0, MAX_SUGGESTIONS).map((path) => ({ value: `@${path}`, label: escapeInvisible(path) }));
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
