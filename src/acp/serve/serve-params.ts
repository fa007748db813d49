/** Validates the params of an agent's file and terminal requests. Unknown fields are ignored. */
import { isAbsolute } from "node:path";
import { z } from "zod";
import { invalidParams } from "../errors.ts";

const systemText = z.string().refine((text) => !text.includes("\0"), "must not contain a NUL character");
const absolutePath = systemText.refine((path) => isAbsolute(path), "must be an absolute path");
const count = z.int().nonnegative().nullish();
const session = { sessionId: z.string() };

export const readFileParams = z.object({ ...session, path: absolutePath, line: count, limit: count });
export const writeFileParams = z.object({ ...session, path: absolutePath, content: z.string() });
export const createTerminalParams = z.object({
  ...session,
  command: systemText.min(1),
  args: z.array(systemText).nullish(),
  env: z.array(z.object({ name: systemText.min(1), value: systemText })).nullish(),
  cwd: absolutePath.nullish(),
  outputByteLimit: z.number().nonnegative().nullish(), // up to 2^64 - 1, which exceeds a JavaScript integer
});
export type CreateTerminalParams = z.infer<typeof createTerminalParams>;
export const terminalParams = z.object({ ...session, terminalId: z.string() });

/** Throws -32602; the message names the invalid fields. */
export function parseServeParams<T>(schema: z.ZodType<T>, params: unknown): T {
  const result = schema.safeParse(params);
  if (result.success) return result.data;
  const wrong = result.error.issues.map(({ path, message }) => {
    const where = path.map(String).join(".");
    return where === "" ? message : `${where}: ${message}`;
  });
  throw invalidParams(wrong.join("; "));
}
