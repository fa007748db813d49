/** Elicitation: converts a server's request into a question, and the user's answer into the protocol's format. */
import { z } from "zod";
import type { Question, QuestionAnswer } from "../domain/index.ts";
import { truncateWithCount } from "./truncate.ts";

export interface ServerQuestion {
  readonly question: Question;
  /** The id with which the server reports completion. */
  readonly elicitationId?: string | undefined;
}

/** The error code that requires the user to visit URLs first. */
const URL_REQUIRED = -32042;
const MAX_URLS = 10;
/** Questions are logged and read by people. */
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

/** Passes on unknown schemas unchanged; the asker decides. Throws if the request is not a valid question. */
export function parseServerQuestion(server: string, params: unknown): ServerQuestion {
  const { mode, url, elicitationId, requestedSchema, ...words } = Params.parse(params ?? {});
  const message = truncateWithCount(words.message, MAX_MESSAGE);
  if (mode !== "url") {
    if ((JSON.stringify(requestedSchema) ?? "").length > MAX_SCHEMA) throw new Error("the form is too large");
    return { question: { message, from: server, schema: requestedSchema } };
  }
  if (url === undefined || !isHttpUrl(url)) throw new Error("a question with mode url needs an http or https URL");
  if (url.length > MAX_URL) throw new Error(`the URL is longer than ${MAX_URL} characters`);
  return { question: { message, from: server, url }, elicitationId };
}

/** Returns undefined for any other error. */
export function readRequiredUrls(server: string, error: unknown): ServerQuestion[] | undefined {
  const { code, data } = (error ?? {}) as { code?: unknown; data?: { elicitations?: unknown } };
  if (code !== URL_REQUIRED || !Array.isArray(data?.elicitations)) return undefined;
  const all = (data.elicitations as unknown[]).slice(0, MAX_URLS);
  return all.map((one) => parseServerQuestion(server, { ...(one as object), mode: "url" }));
}

export function toElicitationResult(
  { question }: ServerQuestion,
  { action, content }: QuestionAnswer,
): Record<string, unknown> {
  const isForm = question.url === undefined;
  return action === "accept" && isForm ? { action, content: content ?? {} } : { action };
}

function isHttpUrl(url: string): boolean {
  const protocol = URL.canParse(url) ? new URL(url).protocol : "";
  return protocol === "http:" || protocol === "https:";
}
