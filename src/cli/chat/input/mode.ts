/** The modes of the keyboard in a chat: what keys do while a prompt, a question or a list has the focus. */
import type { Paint } from "../../paint.ts";
import type { PendingRequest } from "../../run/pending-request.ts";
import type { LiveRegion } from "../../tui/inline-screen.ts";
import { promptMark } from "../../tui/prompt-surface.ts";
import type { PromptEditor } from "../../tui/prompt-editor.ts";
import { renderSelect, type SelectItem, type SelectState } from "../../tui/select-list.ts";
import { styledWidth, wrapStyled } from "../../tui/styled-text.ts";
import type { FormInput } from "../../questions/form-input.ts";
import {
  type OpenDecision,
  type OpenReason,
  renderOpenDecision,
  renderOpenReason,
} from "../../questions/open-request.ts";

export type ChatMode =
  | { readonly type: "prompt" }
  | DecideMode
  | ReasonMode
  | FormMode
  | { readonly type: "select"; readonly select: SelectState; readonly resolve: (item: SelectItem | undefined) => void }
  | { readonly type: "confirm"; readonly question: string; readonly resolve: (yes: boolean) => void };

export interface DecideMode extends OpenDecision {
  readonly type: "decide";
}

export interface ReasonMode extends OpenReason {
  readonly type: "reason";
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
    case "reason":
      return renderOpenReason(mode, {
        width,
        rows,
        paint,
        renderInput: (text) => editor.render(width, { text, width: styledWidth(text) }),
      });
    case "form":
      return mode.form.render({
        width,
        rows: Math.max(3, rows - 2),
        paint,
        renderInput: (text) => editor.render(width, { text, width: styledWidth(text) }),
      });
    case "decide":
      return renderOpenDecision(mode, { width, rows, paint });
    case "select":
      return { lines: renderSelect(mode.select, { width, rows: Math.max(3, rows - 2), paint }), cursor: undefined };
    case "confirm":
      return { lines: wrapStyled(`${paint("yellow", "?")} ${mode.question} [y/n]`, width), cursor: undefined };
  }
}
