/** Finds the id of a message that is too large to be parsed, from the beginning and the end of its text. */
import { isRequestId, type RequestId } from "./message.ts";
import { findTopLevelSpans, tryParseJson } from "./scan.ts";

export interface OversizeIdentity {
  readonly id: RequestId;
  /** The id as it was written. */
  readonly idText: string;
  readonly isRequest: boolean;
}

const ID_AT_THE_END = /"id"\s*:\s*(\d+|"[^"\\]*")\s*\}\s*$/;

/** Undefined if the message has no id, or its id is in the part that was dropped. */
export function identifyOversizeMessage(head: string, tail: string): OversizeIdentity | undefined {
  const spans = findTopLevelSpans(head);
  const span = spans.get("id");
  const idText = span === undefined ? ID_AT_THE_END.exec(tail)?.[1] : head.slice(span.start, span.end);
  const id = idText === undefined ? undefined : tryParseJson(idText);
  if (idText === undefined || !isRequestId(id)) return undefined;
  return { id, idText, isRequest: spans.has("method") };
}
