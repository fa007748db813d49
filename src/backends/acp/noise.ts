/** Converts output of an agent that is not a protocol message to events. */
import type { EventBody } from "../../domain/index.ts";
import type { Noise } from "../../acp/index.ts";
import { sanitizeTerminalText } from "../../programs/index.ts";

/** Length of the excerpt of a dropped line, in characters. */
const HEAD_LENGTH = 200;

export function toNoiseEvents({ kind, text, bytes }: Noise, agent: string): EventBody[] {
  const shown = sanitizeTerminalText(text);
  switch (kind) {
    case "not_json":
      return shown.trim() === "" ? [] : [{ type: "output.text", text: `${shown}\n` }];
    case "too_large": {
      const head = shown.slice(0, HEAD_LENGTH);
      const message = `${agent} printed a line of ${bytes ?? "too many"} bytes, which was dropped; it starts with: ${head}`;
      return [{ type: "notice", level: "warning", code: "output_dropped", message }];
    }
    case "not_a_message":
    case "response_to_nothing":
      return [];
  }
}
