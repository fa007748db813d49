/** The prompt: as typed, or read from a pipe, within the bounds of what an agent is given. */
import { RookeryError } from "../../domain/errors.ts";
import { MAX_INPUT_BYTES } from "../../session/input.ts";
import { usageError } from "../exit.ts";
import type { Io } from "../io.ts";

/** Undefined where nothing was typed and a session is to go on; a pipe is then read only for `-`. */
export async function readOptionalPrompt(
  io: Io,
  typed: string | undefined,
  goesOn: boolean,
): Promise<string | undefined> {
  return typed === undefined && goesOn ? undefined : requirePrompt(io, typed, "rookery run");
}

/** `command` is what to type the prompt after. */
export async function requirePrompt(io: Io, typed: string | undefined, command: string): Promise<string> {
  if (typed === undefined && io.stdin.isTTY === true) {
    throw usageError(`say what to do: ${command} "PROMPT"; see ${command} --help`);
  }
  const text = typed === undefined || typed === "-" ? await readStdin(io, "the prompt") : typed;
  if (text.trim() === "") throw usageError(`the prompt is empty; say what to do: ${command} "PROMPT"`);
  return text;
}

/** All of a pipe. Rejects with `input_too_large`, or `input_invalid` where it is no text. */
export async function readStdin({ stdin }: Io, what: string): Promise<string> {
  return decodeUtf8(await readBounded(stdin, what), what);
}

async function readBounded(stdin: Io["stdin"], what: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_INPUT_BYTES) throw tooLarge(what);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooLarge(what: string): RookeryError {
  const most = `${MAX_INPUT_BYTES / 1024 / 1024} MB`;
  return new RookeryError(
    "input_too_large",
    `${what} is larger than ${most}: put the text in a file of the working folder and name the file`,
  );
}

function decodeUtf8(bytes: Buffer, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    const message = `${what} on stdin is not UTF-8 text: convert it, e.g. with iconv`;
    throw new RookeryError("input_invalid", message, { cause });
  }
}
