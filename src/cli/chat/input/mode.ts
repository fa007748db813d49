/** What the keys do at the moment. */
import type { Paint } from "../../paint.ts";
import type { PendingRequest } from "../../run/pending-request.ts";
import type { LiveRegion } from "../../tui/inline-screen.ts";
import { promptMark } from "../../tui/prompt-surface.ts";
import type { PromptEditor } from "../../tui/prompt-editor.ts";
import { renderSelect, type SelectItem, type SelectState } from "../../tui/select-list.ts";
import { styledWidth, wrapStyled } from "../../tui/styled-text.ts";
import type { FormInput } from "../../questions/form-input.ts";
import { renderLiveRequest } from "../../questions/live-request.ts";
import { renderDecision, renderReason } from "../../questions/request-view.ts";

export type ChatMode =
  | { readonly type: "prompt" }
  | DecideMode
  | ReasonMode
  | FormMode
  | { readonly type: "select"; readonly select: SelectState; readonly resolve: (item: SelectItem | undefined) => void }
  | { readonly type: "confirm"; readonly question: string; readonly resolve: (yes: boolean) => void };

export interface DecideMode {
  readonly type: "decide";
  readonly request: PendingRequest;
  /** Whether the scrollback has the request, because it does not fit the screen. */
  readonly isPrinted: boolean;
  /** Whether the person has pressed `a` once. Default: false. */
  readonly isAlwaysAsked?: boolean;
}

export interface ReasonMode extends Pick<DecideMode, "request" | "isPrinted"> {
  readonly type: "reason";
  /** Whether the text is another command, not a reason. */
  readonly isCommand: boolean;
}

export interface FormMode {
  readonly type: "form";
  readonly request: PendingRequest;
  readonly form: FormInput;
  /** Aborted if the question is answered elsewhere. */
  readonly stop: AbortController;
}

export const PROMPT_MODE: ChatMode = { type: "prompt" };

export interface ModeStyle {
  readonly width: number;
  readonly rows: number;
  readonly paint: Paint;
}

/** The lines where the person types or chooses. */
export function renderMode(mode: ChatMode, editor: PromptEditor, { width, rows, paint }: ModeStyle): LiveRegion {
  switch (mode.type) {
    case "prompt":
      return editor.render(width, promptMark(paint));
    case "reason": {
      const above = renderLiveRequest(mode, { width, rows, paint });
      const { lines, cursor } = renderReason(mode.isCommand, {
        width,
        paint,
        renderInput: (text) => editor.render(width, { text, width: styledWidth(text) }),
      });
      return {
        lines: [...above, ...lines],
        cursor: cursor && { row: cursor.row + above.length, column: cursor.column },
      };
    }
    case "form":
      return mode.form.render({
        width,
        rows: Math.max(3, rows - 2),
        paint,
        renderInput: (text) => editor.render(width, { text, width: styledWidth(text) }),
      });
    case "decide": {
      const question = renderLiveRequest(mode, { width, rows, paint });
      return {
        lines: renderDecision(mode.request, { width, paint, isAlwaysAsked: mode.isAlwaysAsked, question }),
        cursor: undefined,
      };
    }
    case "select":
      return { lines: renderSelect(mode.select, { width, rows: Math.max(3, rows - 2), paint }), cursor: undefined };
    case "confirm":
      return { lines: wrapStyled(`${paint("yellow", "?")} ${mode.question} [y/n]`, width), cursor: undefined };
  }
}
