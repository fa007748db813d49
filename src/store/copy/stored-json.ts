/** Checks stored JSON before it is copied. */

/** Undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Whether the text is the stored body of the event with this sequence number. */
export function isEventBody(text: string, seq: number): boolean {
  const event = parseJson(text) as { seq?: unknown; type?: unknown; at?: unknown } | null | undefined;
  return event?.seq === seq && typeof event.type === "string" && typeof event.at === "string";
}
