/** The session that the items of a transcript belong to. */
import { createContext, createSignal, useContext, type Accessor } from "solid-js";
import type { SessionModel } from "./model.ts";

/** `late`: somebody else answered before. */
export type AnswerHere = "sent" | "late";

export interface SessionContextValue {
  readonly model: SessionModel;
  /** The requests that were answered on this page. */
  readonly answersHere: Accessor<ReadonlyMap<string, AnswerHere>>;
  readonly setAnswerHere: (requestId: string, answer: AnswerHere | undefined) => void;
  /** The request that the transcript should scroll to, once. */
  readonly wantedRequest: Accessor<{ readonly requestId: string } | undefined>;
  readonly showRequest: (requestId: string) => void;
}

export const SessionContext = createContext<SessionContextValue>();

export function useSession(): SessionContextValue {
  const value = useContext(SessionContext);
  if (value === undefined) throw new Error("useSession needs a SessionContext above it");
  return value;
}

export function createSessionContext(model: SessionModel): SessionContextValue {
  const [answersHere, setAnswersHere] = createSignal<ReadonlyMap<string, AnswerHere>>(new Map());
  const [wantedRequest, setWanted] = createSignal<{ readonly requestId: string }>();
  return {
    model,
    answersHere,
    setAnswerHere: (requestId, answer) =>
      void setAnswersHere((before) => {
        const next = new Map(before);
        if (answer === undefined) next.delete(requestId);
        else next.set(requestId, answer);
        return next;
      }),
    wantedRequest,
    showRequest: (requestId) => void setWanted({ requestId }),
  };
}
