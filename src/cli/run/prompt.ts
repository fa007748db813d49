/** Reads the prompt from the arguments or from stdin, up to the size limit. */
import { RookeryError } from "../../domain/errors.ts";
import { MAX_INPUT_BYTES } from "../../session/input.ts";
import { usageError } from "../exit.ts";
import type { Io } from "../io.ts";

/** Returns undefined if a session continues without a prompt. Stdin is then only read for `-`. */
export async function readOptionalPrompt(
  io: Io,
  typed: string | undefined,
  continuesSession: boolean,
): Promise<string | undefined> {
  return typed === undefined && continuesSession ? undefined : requirePrompt(io, typed, "rookery run");
}

/** `command`: the command to suggest in errors. Throws `usage`. */
export async function requirePrompt(io: Io, typed: string | undefined, command: string): Promise<string> {
  if (typed === undefined && io.stdin.isTTY === true) {
    throw usageError(`the prompt is missing; type: ${command} "PROMPT"; see ${command} --help`);
  }
  const text = typed === undefined || typed === "-" ? await readStdin(io, "the prompt") : typed;
  if (text.trim() === "") throw usageError(`the prompt is empty; type: ${command} "PROMPT"`);
  return text;
}

/** Reads all of stdin. Rejects with `input_too_large`, or with `input_invalid` if it is not UTF-8. */
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
    `${what} is larger than ${most}: put the text in a file of the working directory and name that file in the prompt`,
  );
}

function decodeUtf8(bytes: Buffer, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    const message = `${what} on stdin is not UTF-8 text: convert it, for example with iconv`;
    throw new RookeryError("input_invalid", message, { cause });
  }
}
