/** Moves the focus to the next request after a person has answered one, so that the keys keep working. */
import { createEffect, on, onCleanup, type Accessor } from "solid-js";
import type { AnswerHere } from "../session/session-context.ts";
import { keyOfRequest, type OpenRequest } from "./model.ts";

/** Keys that answer the request that has the focus. */
const ANSWER_KEYS: readonly string[] = ["y", "a", "n", "Enter", " "];
/** Nobody can read a request in this time. A key that comes sooner was meant for the one before. */
const READ_MS = 250;

export interface AnswerFocus {
  /** Call this with what `RequestCard` reports. */
  onAnswer(request: OpenRequest, answer: AnswerHere | undefined): void;
}

/** Until the owner is disposed. If no request is left, the text that says so gets the focus. */
export function followAnswers(
  requests: Accessor<readonly OpenRequest[]>,
  list: () => HTMLElement | undefined,
): AnswerFocus {
  let answered: { readonly key: string; readonly index: number } | undefined;
  let movedAt = Number.NEGATIVE_INFINITY;

  const focus = (index: number): void => {
    if (document.activeElement !== null && document.activeElement !== document.body) return; // the person went elsewhere
    const cards = [...(list()?.querySelectorAll(".waiting") ?? [])];
    const card = cards[Math.min(index, cards.length - 1)];
    const target = card?.querySelector<HTMLElement>("button.primary") ?? list()?.querySelector<HTMLElement>(".empty");
    movedAt = performance.now();
    target?.focus();
  };
  createEffect(
    on(requests, (open) => {
      if (answered === undefined || open.some((request) => keyOfRequest(request) === answered?.key)) return;
      const { index } = answered;
      answered = undefined;
      focus(index);
    }),
  );
  /** Also stops a key that is held down, which would answer one request after another. */
  const stopEarlyKey = (event: KeyboardEvent): void => {
    const target = event.target as Element;
    const isOnRequest = target.closest(".request-card") !== null && !target.matches("input, textarea, select");
    const isEarly = event.repeat || performance.now() - movedAt < READ_MS;
    if (!isEarly || !isOnRequest || !ANSWER_KEYS.includes(event.key)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  addEventListener("keydown", stopEarlyKey, { capture: true });
  onCleanup(() => removeEventListener("keydown", stopEarlyKey, { capture: true }));
  return {
    onAnswer(request, answer) {
      const key = keyOfRequest(request);
      const index = requests().findIndex((each) => keyOfRequest(each) === key);
      if (answer === "sent") answered = { key, index };
      if (answer !== undefined || answered?.key !== key) return;
      answered = undefined;
      queueMicrotask(() => focus(index)); // its buttons are disabled until then
    },
  };
}
