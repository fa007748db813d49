/** Opens the file of --trace, which records a connection. */
import { traceTo, type Trace } from "../../acp/devtools/trace/index.ts";
import { messageOf } from "../../domain/errors.ts";
import type { OptionValues } from "../command.ts";
import { usageError } from "../exit.ts";
import { type Io, printNotice } from "../io.ts";
import { textOption } from "../options.ts";

export interface TraceFile extends AsyncDisposable {
  readonly trace: Trace | undefined;
}

/** Throws `usage` if the file cannot be written. Later errors are printed and do not stop the connection. */
export function openTraceFile(io: Io, options: OptionValues): TraceFile {
  const file = textOption(options, "trace");
  const trace = file === undefined ? undefined : openTrace(file);
  return {
    trace,
    [Symbol.asyncDispose]: async () => trace?.close().catch((error: unknown) => printNotice(io, messageOf(error))),
  };
}

function openTrace(file: string): Trace {
  try {
    return traceTo(file);
  } catch (error) {
    throw usageError(`--trace: cannot write ${file}: ${messageOf(error)}`);
  }
}
