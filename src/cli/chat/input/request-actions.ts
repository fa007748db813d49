/** Handles a request of the agent in a chat: prints it, opens its diff or its form, and sends the answer. */
import { FormInput } from "../../questions/form-input.ts";
import { fitsLiveRegion } from "../../questions/live-request.ts";
import { openRequestDiff } from "../../questions/request-diff.ts";
import { renderRequest } from "../../questions/request-view.ts";
import type { ChatHost } from "../host.ts";
import type { ChatLogView } from "../conversation/log-view.ts";
import type { RequestActions } from "./request-keys.ts";

export interface RequestActionsOptions {
  readonly view: ChatLogView;
  /** Ends the pager. */
  readonly signal: AbortSignal;
  /** Shows the error if the work fails. */
  readonly inBackground: (work: () => Promise<void>) => void;
}

export function createRequestActions(
  chat: ChatHost,
  { view, signal, inBackground }: RequestActionsOptions,
): RequestActions {
  return {
    answer: (requestId, answer) => inBackground(async () => chat.connection.answer(requestId, answer)),
    printLongRequest: (request) => {
      const style = { ...view.style, rows: chat.surface.size.rows };
      if (fitsLiveRegion(request, style)) return false;
      view.printApart(renderRequest(request, style));
      return true;
    },
    openDiff: (request) => inBackground(() => openRequestDiff(chat, request, signal)),
    openForm: (request, answered) => {
      const form = new FormInput(request.question ?? { message: "" });
      inBackground(async () => {
        const answer = await form.answer;
        if (!answered.aborted) await chat.connection.answer(request.requestId, answer); // not answered elsewhere
      });
      return form;
    },
  };
}
