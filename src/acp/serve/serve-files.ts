/** Serves the files in a session's directories to its agent, subject to the gate. */
import { constants } from "node:fs";
import { resolve } from "node:path";
import type {
  ReadTextFileRequest,
  ReadTextFileResponse,
  WriteTextFileRequest,
  WriteTextFileResponse,
} from "@agentclientprotocol/sdk";
import { PathRefusal, confined, openPlain, replaceConfined } from "../../stdx/index.ts";
import { toServeError } from "./serve-error.ts";
import { passGate, type Gate, type GateRequest, type ServeContext } from "./gate.ts";
import { parseServeParams, readFileParams, writeFileParams } from "./serve-params.ts";

export interface ServeFilesOptions {
  /** The working directory and further roots, as absolute paths. Files outside of them are refused. */
  readonly roots: readonly string[];
  /** Default: everything within the roots is allowed. */
  readonly gate?: Gate | undefined;
  /** Larger files are refused. Default: 10 MiB. */
  readonly maxBytes?: number | undefined;
}

export interface ServedFiles {
  readTextFile(params: ReadTextFileRequest, context: ServeContext): Promise<ReadTextFileResponse>;
  writeTextFile(params: WriteTextFileRequest, context: ServeContext): Promise<WriteTextFileResponse>;
}

const DEFAULT_MAX_BYTES = 10 * 1024 * 1024;

/** Requests for the same file run in order, so that a read sees the preceding write. */
export function serveFiles({ roots, gate, maxBytes = DEFAULT_MAX_BYTES }: ServeFilesOptions): ServedFiles {
  const turns = new Map<string, Promise<unknown>>();

  async function inTurn<T>(path: string, work: () => Promise<T>): Promise<T> {
    const file = resolve(path);
    const before = turns.get(file) ?? Promise.resolve();
    const done = before.then(work, work);
    turns.set(file, done);
    try {
      return await done;
    } catch (error) {
      throw toServeError(error, path);
    } finally {
      if (turns.get(file) === done) turns.delete(file);
    }
  }

  /** Returns the real path. Throws `PathRefusal` if the path changed while the gate decided. */
  async function allowed(path: string, request: Omit<GateRequest, "path">): Promise<string> {
    const real = await confined(roots, path);
    await passGate(gate, { ...request, path: real });
    if ((await confined(roots, path)) !== real)
      throw new PathRefusal(`${path} was moved while the permission was checked; try again`);
    return real;
  }

  return {
    async readTextFile(params, { signal }) {
      const { sessionId, path, line, limit } = parseServeParams(readFileParams, params);
      return inTurn(path, async () => {
        const real = await allowed(path, { kind: "read", title: `read ${path}`, sessionId, params, signal });
        return { content: selectLines(await readUtf8File(real, path, maxBytes), line ?? 1, limit ?? Infinity) };
      });
    },
    async writeTextFile(params, { signal }) {
      const { sessionId, path, content } = parseServeParams(writeFileParams, params);
      return inTurn(path, async () => {
        await allowed(path, { kind: "edit", title: `write ${path}`, sessionId, params, signal });
        await replaceConfined(roots, path, content);
        return {};
      });
    },
  };
}

async function readUtf8File(real: string, path: string, maxBytes: number): Promise<string> {
  const file = await openPlain(real, constants.O_RDONLY);
  try {
    const { size } = await file.stat();
    if (size > maxBytes) throw new PathRefusal(`${path} has ${size} bytes, more than the limit of ${maxBytes}`);
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await file.readFile());
  } catch (error) {
    if (error instanceof TypeError) throw new PathRefusal(`${path} is not UTF-8 text`);
    throw error;
  } finally {
    await file.close();
  }
}

/** Includes line endings, so that parts can be joined. Empty beyond the last line. */
function selectLines(text: string, from: number, limit: number): string {
  if (from <= 1 && limit === Infinity) return text;
  let start = 0;
  for (let line = 1; line < from; line += 1) {
    start = text.indexOf("\n", start) + 1;
    if (start === 0) return "";
  }
  let end = start;
  for (let count = 0; count < limit; count += 1) {
    end = text.indexOf("\n", end) + 1;
    if (end === 0) return text.slice(start);
  }
  return text.slice(start, end);
}
