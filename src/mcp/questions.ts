/** Elicitation: what a server asks a person, as a question; and a person's answer, as the protocol has it. */
import { z } from "zod";
import type { Question, QuestionAnswer } from "../domain/index.ts";
import { shortened } from "./shortened.ts";

export interface Asking {
  readonly question: Question;
  /** Under which the server tells that what it asked for has happened. */
  readonly elicitationId?: string | undefined;
}

/** The code of an error that says: first have the user visit these. */
const URL_REQUIRED = -32042;
const MAX_URLS = 10;
/** A question is kept in the log, and a person reads it. */
const MAX_MESSAGE = 10_000;
const MAX_URL = 10_000;
const MAX_SCHEMA = 256 * 1024;

const Params = z.lazy(() =>
  z.object({
    mode: z.string().optional().catch(undefined),
    message: z.string().catch(""),
    url: z.string().optional().catch(undefined),
    elicitationId: z.string().optional().catch(undefined),
    requestedSchema: z.unknown().optional(),
  }),
);

/** A schema that nobody here knows is asked as it is: whoever asks the person decides. Throws where it is no question. */
export function readAsking(server: string, params: unknown): Asking {
  const { mode, url, elicitationId, requestedSchema, ...words } = Params.parse(params ?? {});
  const message = shortened(words.message, MAX_MESSAGE);
  if (mode !== "url") {
    if ((JSON.stringify(requestedSchema) ?? "").length > MAX_SCHEMA)
      throw new Error("the form is too large to be asked");
    return { question: { message, from: server, schema: requestedSchema } };
  }
  if (url === undefined || !isWeb(url)) throw new Error("a question of mode url needs a URL of http or https");
  if (url.length > MAX_URL) throw new Error(`a URL of more than ${MAX_URL} characters is not asked to be visited`);
  return { question: { message, from: server, url }, elicitationId };
}

/** Undefined where the error is another. */
export function requiredUrls(server: string, error: unknown): Asking[] | undefined {
  const { code, data } = (error ?? {}) as { code?: unknown; data?: { elicitations?: unknown } };
  if (code !== URL_REQUIRED || !Array.isArray(data?.elicitations)) return undefined;
  const all = (data.elicitations as unknown[]).slice(0, MAX_URLS);
  return all.map((one) => readAsking(server, { ...(one as object), mode: "url" }));
}

export function answerOf({ question }: Asking, { action, content }: QuestionAnswer): Record<string, unknown> {
  const isForm = question.url === undefined;
  return action === "accept" && isForm ? { action, content: content ?? {} } : { action };
}

function isWeb(url: string): boolean {
  const protocol = URL.canParse(url) ? new URL(url).protocol : "";
  return protocol === "http:" || protocol === "https:";
}
