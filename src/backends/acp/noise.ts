/** What an agent prints beside its messages, as events. */
import type { EventBody } from "../../domain/index.ts";
import type { Noise } from "../../acp/index.ts";
import { harmless } from "../../programs/index.ts";

/** How much of a line that was dropped is shown. */
const HEAD_LENGTH = 200;

export function noiseEvents({ kind, text, bytes }: Noise, agent: string): EventBody[] {
  const shown = harmless(text);
  switch (kind) {
    case "not_json":
      return shown.trim() === "" ? [] : [{ type: "output.text", text: `${shown}\n` }];
    case "too_large": {
      const head = shown.slice(0, HEAD_LENGTH);
      const message = `${agent} printed a line of ${bytes ?? "too many"} bytes, which was passed over; it began: ${head}`;
      return [{ type: "notice", level: "warning", code: "output_dropped", message }];
    }
    case "not_a_message":
    case "response_to_nothing":
      return [];
  }
}
