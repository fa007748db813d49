/** The multi-line input: the editor of pi-tui without its borders, and with the terminal's own cursor. */
import type { AutocompleteProvider } from "@mariozechner/pi-tui/dist/autocomplete.js";
import { Editor } from "@mariozechner/pi-tui/dist/components/editor.js";
import { matchesKey } from "@mariozechner/pi-tui/dist/keys.js";
import type { TUI } from "@mariozechner/pi-tui/dist/tui.js";
import { styledWidth } from "../display-width.ts";
import type { Paint } from "../paint.ts";
import { stripControls } from "../sanitize.ts";
import type { LiveRegion } from "./inline-screen.ts";

export type CompletionProvider = AutocompleteProvider;

/** What stands before the input. Its width is given, because measuring it takes 20 ms at the first paint. */
export interface PromptMark {
  readonly text: string;
  readonly width: number;
}

export interface PromptEditorOptions {
  readonly paint: Paint;
  /** The height of the terminal. */
  readonly rows: () => number;
  /** Called when the editor has changed by itself, for example when completions arrive. */
  readonly onChange: () => void;
  /** Called with the whole text, including pastes that are shown as placeholders. */
  readonly onSubmit: (text: string) => void;
}

/** Marks the borders that the editor draws, so that they can be left out. */
const BORDER_MARK = "\u0000";
/** Rows of the list of completions. */
const MAX_SUGGESTION_ROWS = 10;
/** Rows that the list leaves to the input and the status line. */
const OTHER_ROWS = 6;
const ESCAPE = "\u001b";
/** A command with an argument, whose values are completed. */
const ARGUMENT = /^\/\S+\s/;
/** The name of a folder, whose content is completed. */
const FOLDER_MENTION = /(?:^|\s)@\S*\/$/;
const CURSOR_START = "\u001b[7m";
const CURSOR_END = "\u001b[0m";

/** A method of the editor that its types call private. */
interface CompletingEditor {
  tryTriggerAutocomplete(): void;
}

export class PromptEditor {
  readonly #editor: Editor;
  readonly #paint: Paint;
  readonly #rows: () => number;
  /** Whether the person has moved the selection of the completions with the last key. */
  #hasChosen = false;

  constructor({ paint, rows, onChange, onSubmit }: PromptEditorOptions) {
    this.#paint = paint;
    this.#rows = rows;
    // The editor uses only these two members of its screen.
    const screen = {
      requestRender: onChange,
      terminal: {
        get rows() {
          return rows();
        },
      },
    } as unknown as TUI;
    this.#editor = new Editor(screen, {
      borderColor: (text) => BORDER_MARK + text,
      selectList: {
        selectedPrefix: (text) => paint("cyan", text),
        selectedText: (text) => paint("cyan", text),
        description: (text) => paint("dim", text),
        scrollInfo: (text) => paint("dim", text),
        noMatch: (text) => paint("dim", text),
      },
    });
    this.#editor.onSubmit = onSubmit;
  }

  get isEmpty(): boolean {
    return this.#editor.getText() === "";
  }

  get isCompleting(): boolean {
    return this.#editor.isShowingAutocomplete();
  }

  /** The whole text, including pastes. */
  get text(): string {
    return this.#editor.getExpandedText();
  }

  setText(text: string): void {
    this.#editor.setText(text);
  }

  insert(text: string): void {
    this.#editor.insertTextAtCursor(text);
  }

  addToHistory(text: string): void {
    this.#editor.addToHistory(text);
  }

  /** Also completes what is already typed: the prompt accepts keys before the chat has its completions. */
  setCompletion(provider: CompletionProvider): void {
    this.#editor.setAutocompleteProvider(provider);
    if (!this.isEmpty) this.#complete();
  }

  handleKey(data: string): void {
    const isEnter = matchesKey(data, "enter");
    // Completions arrive late: without a choice, Enter must not replace what was typed.
    const isComplete = ARGUMENT.test(this.#editor.getText()) || FOLDER_MENTION.test(this.#textBeforeCursor);
    if (isEnter && this.isCompleting && !this.#hasChosen && isComplete) this.#editor.handleInput(ESCAPE);
    this.#editor.setAutocompleteMaxVisible(Math.min(MAX_SUGGESTION_ROWS, this.#rows() - OTHER_ROWS));
    this.#hasChosen = this.isCompleting && (matchesKey(data, "up") || matchesKey(data, "down"));
    const before = this.#textBeforeCursor;
    this.#editor.handleInput(data);
    const after = this.#textBeforeCursor;
    // The editor starts to complete by itself only after letters, and stops after it has completed a folder.
    if (after !== before && !this.isCompleting && FOLDER_MENTION.test(after)) this.#complete();
  }

  #complete(): void {
    (this.#editor as unknown as CompletingEditor).tryTriggerAutocomplete();
  }

  get #textBeforeCursor(): string {
    const { line, col } = this.#editor.getCursor();
    return (this.#editor.getLines()[line] ?? "").slice(0, col);
  }

  /** A long paste is shown as a placeholder. */
  paste(text: string): void {
    const clean = stripControls(text.replaceAll(/\r\n?/g, "\n"));
    this.#editor.handleInput(`\u001b[200~${clean}\u001b[201~`);
  }

  render(width: number, { text: mark, width: indent }: PromptMark): LiveRegion {
    const rendered = this.#editor.render(Math.max(3, width - indent));
    const lines: string[] = [];
    let cursor: LiveRegion["cursor"];
    let isText = false; // the lines between the borders; completions follow
    let borders = 0;
    for (const line of rendered) {
      if (line.startsWith(BORDER_MARK) || line.includes(BORDER_MARK)) {
        borders += 1;
        isText = borders === 1;
        const more = /[↑↓] \d+ more/.exec(line)?.[0];
        if (more !== undefined) lines.push(this.#paint("dim", `  ${more}`));
        continue;
      }
      const first = isText && lines.length === 0 ? mark : " ".repeat(indent);
      const at = isText ? line.indexOf(CURSOR_START) : -1;
      const plain = at === -1 ? line : line.replace(CURSOR_START, "").replace(CURSOR_END, "");
      if (at !== -1) cursor = { row: lines.length, column: indent + styledWidth(line.slice(0, at)) };
      lines.push((first + plain).trimEnd());
    }
    return { lines, cursor };
  }
}
