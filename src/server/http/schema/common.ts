/** Schemas that several routes share. `document.ts` names them for the OpenAPI document. */
import { isAbsolute } from "node:path";
import { z } from "zod";
import { ERROR_CODES, TaskId } from "../../../domain/index.ts";

export const ProblemSchema = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string().describe("What happened, why, and what to do next."),
  code: z.enum(ERROR_CODES),
  at: z.string().optional().describe("The path of the invalid input."),
  head: z.int().optional().describe("The last position of the log, if the request asked for a later one."),
  requestId: z.string().optional(),
});

/** All tokens are input and output; the others are parts of these. */
export const TOKEN_COUNTS = {
  inputTokens: z.int().describe("All input, with the tokens read from and written to a cache."),
  outputTokens: z.int().describe("All output, with the tokens of the reasoning."),
  cacheReadTokens: z.int().describe("The part of `inputTokens` that was read from a cache."),
  cacheWriteTokens: z.int().describe("The part of `inputTokens` that was written to a cache."),
  reasoningTokens: z.int().describe("The part of `outputTokens` that is reasoning, if it is reported."),
};

export const UsageSchema = z.object({
  ...TOKEN_COUNTS,
  costUsd: z.number().optional().describe("Omitted if the price of any part is unknown."),
  costBy: z.enum(["reported", "computed", "mixed"]).optional(),
});

export const PendingSchema = z.object({
  pending: z.literal(true).describe("The work is still running: repeat the request with the same Idempotency-Key."),
});

/** Paths and command arguments cannot contain NUL. Rejecting it here lets the error name the field. */
const hasNoNul = (value: string): boolean => !value.includes("\0");

export function boundedText(maxLength: number): z.ZodString {
  return z.string().min(1).max(maxLength).refine(hasNoNul, "expected no NUL character");
}

/** The name of an agent, a model or a branch. */
export const Name = boundedText(200);

/** A folder on the server's machine. Must be absolute, because clients do not know the server's working directory. */
export const Folder = boundedText(4_096).refine(isAbsolute, "expected an absolute path");

export const SessionId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/, "expected a session id");
export const RequestIdParam = z.string().min(1).max(512);
export const InputIdParam = z.string().min(1).max(512);
export const TaskIdParam = TaskId;

/** The 202 response of slow work that is still running. */
export const PENDING = {
  description: "The work is still running: repeat the request with the same Idempotency-Key.",
  schema: PendingSchema,
};
