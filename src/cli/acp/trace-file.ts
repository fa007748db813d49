/** The file that a connection is written down to, where one was asked for. */
import { traceTo, type Trace } from "../../acp/devtools/trace/index.ts";
import { messageOf } from "../../domain/errors.ts";
import type { Options } from "../command.ts";
import { usage } from "../exit.ts";
import { type Io, say } from "../io.ts";
import { textOption } from "../options.ts";

export interface TraceFile extends AsyncDisposable {
  readonly trace: Trace | undefined;
}

/** Throws `usage` where the file cannot be written. What fails later is said, and stops nothing. */
export function openTraceFile(io: Io, options: Options): TraceFile {
  const file = textOption(options, "trace");
  const trace = file === undefined ? undefined : opened(file);
  return {
    trace,
    [Symbol.asyncDispose]: async () => trace?.close().catch((error: unknown) => say(io, messageOf(error))),
  };
}

function opened(file: string): Trace {
  try {
    return traceTo(file);
  } catch (error) {
    throw usage(`--trace: ${file} cannot be written: ${messageOf(error)}`);
  }
}
