/** Asks the forms of `rookery run` in a chat: their text goes to the scrollback, and the editor gives the answers. */
import { PassThrough, Writable } from "node:stream";
import type { Question, QuestionAnswer } from "../../domain/backend.ts";
import type { Io } from "../io.ts";
import { askQuestion } from "../run/form/ask.ts";

export interface FormInput {
  readonly answer: Promise<QuestionAnswer>;
  submit(line: string): void;
}

export function openForm(
  io: Io,
  question: Question,
  { print, signal }: { readonly print: (text: string) => void; readonly signal: AbortSignal },
): FormInput {
  const terminalInput = new PassThrough();
  const stderr = new Writable({
    write(chunk: Buffer, _encoding, done) {
      print(chunk.toString());
      done();
    },
  });
  const answer = askQuestion({ ...io, terminalInput, stderr }, question, signal);
  return { answer, submit: (line) => void terminalInput.write(`${line}\n`) };
}
