/** Schemas that several routes share. What the document calls them is said where they are registered. */
import { isAbsolute } from "node:path";
import { z } from "zod";
import { ERROR_CODES, TaskId } from "../../../domain/index.ts";

export const ProblemSchema = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string().describe("What happened, to what, and what to do next."),
  code: z.enum(ERROR_CODES),
  at: z.string().optional().describe("Where in the input."),
  head: z.int().optional().describe("The last position there is, where a later one was asked for."),
  requestId: z.string().optional(),
});

export const UsageSchema = z.object({
  inputTokens: z.int(),
  outputTokens: z.int(),
  cacheReadTokens: z.int(),
  cacheWriteTokens: z.int(),
  reasoningTokens: z.int(),
  costUsd: z.number().optional().describe("Left out as soon as one report had no price."),
  costBy: z.enum(["reported", "computed", "mixed"]).optional(),
});

export const PendingSchema = z.object({
  pending: z.literal(true).describe("It goes on: ask again with the same Idempotency-Key."),
});

/** No file and no argument of a command has a NUL: it is refused here, where its place can be told. */
const hasNoNul = (value: string): boolean => !value.includes("\0");

export function words(longest: number): z.ZodString {
  return z.string().min(1).max(longest).refine(hasNoNul, "expected no NUL character");
}

/** Of an agent, a model, a branch. */
export const Name = words(200);

/** A folder of the server's machine: a relative one would be relative to where it happens to run. */
export const Folder = words(4_096).refine(isAbsolute, "expected an absolute path");

export const SessionId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/, "expected a session's id");
export const RequestId = z.string().min(1).max(512);
export const TaskIdParam = TaskId;

/** What slow work answers while it goes on. */
export const PENDING = {
  description: "It goes on: ask again with the same Idempotency-Key.",
  schema: PendingSchema,
};
