/** The reference of error codes: exit code and HTTP status from the source, the meaning from `error-meanings.ts`. */
import { ERROR_CODES, RookeryError } from "../../src/domain/errors.ts";
import { reportError } from "../../src/cli/exit.ts";
import type { Io } from "../../src/cli/io.ts";
import { STATUS } from "../../src/server/http/status.ts";
import { ERROR_MEANINGS } from "./error-meanings.ts";
import { code, page, table } from "./markdown.ts";

export function errorPage(): string {
  return page("Error codes", "src/domain/errors.ts", [
    "Errors that a caller can act on are a `RookeryError` with one of these codes. The message says what happened, why, and what to do next. A failed turn or task carries the same codes in its log; some codes of a turn come from its agent. The command exits with the exit code; the server answers with the HTTP status and a problem document that has the code.",
    table(
      ["code", "meaning", "exit code", "HTTP status"],
      ERROR_CODES.map((name) => [code(name), ERROR_MEANINGS[name], String(exitCode(name)), String(STATUS[name])]),
    ),
  ]);
}

function exitCode(name: (typeof ERROR_CODES)[number]): number {
  const silent = { write: () => true };
  const io = { env: {}, stdout: silent, stderr: silent } as unknown as Io;
  return reportError(io, new RookeryError(name, name));
}
