/** Schemas of the records in Gemini CLI's session files (0.61). A field of the wrong type counts as missing. */
import { z } from "zod";
import type { JsonRecord } from "../../programs/index.ts";

const maybe = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().catch(undefined);
const text = () => maybe(z.string());
const count = () => z.number().nonnegative().catch(0);

const ToolCall = z.object({
  id: z.string(),
  name: z.string(),
  args: z.record(z.string(), z.unknown()).catch({}),
  status: text(),
  result: z.unknown().optional(),
  resultDisplay: z.unknown().optional(),
});
export type GeminiCall = z.infer<typeof ToolCall>;

/** A message of the user or the model, or a note of the program. A later record with the same id replaces it. */
export const GeminiMessage = z.object({
  id: z.string(),
  type: z.string(),
  timestamp: text(),
  content: z.unknown().optional(),
  model: text(),
  thoughts: z.array(z.object({ subject: text(), description: text() })).catch([]),
  toolCalls: z.array(ToolCall).catch([]),
  tokens: maybe(z.object({ input: count(), output: count(), cached: count(), thoughts: count(), tool: count() })),
});
export type GeminiMessage = z.infer<typeof GeminiMessage>;

/** The first record of a file, which is repeated when the session is resumed. */
export const GeminiSessionHead = z.object({ sessionId: z.string(), startTime: text(), kind: text() });
export type GeminiSessionHead = z.infer<typeof GeminiSessionHead>;

/** Changes of the whole session: the list of messages is replaced. */
const GeminiSet = z.object({ $set: z.object({ messages: maybe(z.array(z.unknown())) }) });
/** The user went back: this message and all later ones are gone. */
const GeminiRewind = z.object({ $rewindTo: z.string() });

/** The messages of a session after all records of its file. */
export class GeminiMessages {
  #byId = new Map<string, GeminiMessage>();

  /** Returns false if the record is unknown. */
  add(record: JsonRecord): boolean {
    const message = GeminiMessage.safeParse(record).data;
    if (message !== undefined) {
      this.#byId.set(message.id, message);
      return true;
    }
    const rewind = GeminiRewind.safeParse(record).data;
    if (rewind !== undefined) {
      const ids = [...this.#byId.keys()];
      const from = Math.max(0, ids.indexOf(rewind.$rewindTo)); // an unknown one removes all, as in the program
      for (const id of ids.slice(from)) this.#byId.delete(id);
      return true;
    }
    const set = GeminiSet.safeParse(record).data;
    if (set?.$set.messages != null) this.#replace(set.$set.messages);
    return set !== undefined || GeminiSessionHead.safeParse(record).success;
  }

  all(): GeminiMessage[] {
    return [...this.#byId.values()];
  }

  #replace(messages: readonly unknown[]): void {
    const known = messages.flatMap((message) => GeminiMessage.safeParse(message).data ?? []);
    this.#byId = new Map(known.map((message) => [message.id, message]));
  }
}
