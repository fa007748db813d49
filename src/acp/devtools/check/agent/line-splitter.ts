/** Splits an agent's output into lines and reports bytes that are not valid text. */

export interface AgentLineSink {
  line(text: string): void;
  /** Called for bytes that are not a line of text. */
  noise(why: string): void;
}

export interface AgentOutputSplitter {
  push(chunk: Uint8Array): void;
  /** Call at the end of the output. Reports an unterminated last line. */
  end(): void;
}

const MAX_LINE_BYTES = 64 * 1024 * 1024;
const LINE_FEED = 0x0a;

/** Reports a line above the limit as noise and skips it up to its end. */
export function createAgentOutputSplitter(sink: AgentLineSink, longest = MAX_LINE_BYTES): AgentOutputSplitter {
  let parts: Uint8Array[] = [];
  let bytes = 0;
  let tooLong = false;
  const add = (part: Uint8Array): void => {
    bytes += part.length;
    if (bytes > longest && !tooLong) sink.noise(`a line of more than ${longest} bytes`);
    tooLong ||= bytes > longest;
    if (tooLong) parts = [];
    else parts.push(part);
  };
  const finish = (): void => {
    if (!tooLong) deliver(Buffer.concat(parts), sink);
    parts = [];
    bytes = 0;
    tooLong = false;
  };
  return {
    push(chunk) {
      let start = 0;
      for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
        add(chunk.subarray(start, end));
        finish();
        start = end + 1;
      }
      if (start < chunk.length) add(chunk.subarray(start));
    },
    end() {
      if (bytes > 0 && !tooLong) sink.noise("the output ends in the middle of a line");
    },
  };
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function deliver(line: Uint8Array, sink: AgentLineSink): void {
  let text: string;
  try {
    text = decoder.decode(line);
  } catch {
    sink.noise(`a line that is not UTF-8: ${Buffer.from(line.subarray(0, 40)).toString("latin1")}`);
    return;
  }
  sink.line(text);
}
