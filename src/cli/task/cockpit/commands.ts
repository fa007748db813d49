/** What a key can cause besides a change of the state. `cockpit.ts` executes these commands. */
import type { Answer } from "../../../session/method-types.ts";
import type { FormInput } from "../../questions/form-input.ts";
import type { TaskRequest } from "../requests.ts";
import type { TaskDecideMode } from "./request-mode.ts";
import type { ScrollStep } from "./transcript-buffer.ts";

export type CockpitCommand =
  | { readonly type: "quit" }
  | { readonly type: "suspend" }
  | { readonly type: "redraw" }
  /** A key for the line editor. */
  | { readonly type: "edit"; readonly data: string }
  | { readonly type: "setInput"; readonly text: string }
  | { readonly type: "formKey"; readonly form: FormInput; readonly data: string }
  | { readonly type: "submitForm"; readonly form: FormInput; readonly text: string }
  | { readonly type: "openTranscript"; readonly id: string }
  | { readonly type: "closeTranscript" }
  | { readonly type: "scrollTranscript"; readonly step: ScrollStep }
  /** A key at a permission question, which counts only if no other one follows at once. */
  | {
      readonly type: "decisionKey";
      readonly mode: TaskDecideMode;
      readonly data: string;
    }
  /** Reads the oldest open request of the task, and asks for an answer. */
  | { readonly type: "readRequest"; readonly id: string }
  /** Runs a queued or interrupted task in this process. */
  | { readonly type: "runHere"; readonly id: string }
  | { readonly type: "showRequestDiff"; readonly request: TaskRequest }
  | { readonly type: "answer"; readonly request: TaskRequest; readonly answer: Answer }
  | { readonly type: "showDiff"; readonly id: string }
  | { readonly type: "previewMerge"; readonly id: string }
  | { readonly type: "merge"; readonly id: string }
  | { readonly type: "stop"; readonly id: string }
  | { readonly type: "resume"; readonly id: string; readonly prompt: string | undefined }
  | { readonly type: "start"; readonly prompt: string }
  | { readonly type: "decideTrust"; readonly isTrusted: boolean };
