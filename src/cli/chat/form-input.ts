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
  // A form drops what was typed before its question appeared, so a line waits for the next question.
  const waiting: string[] = [];
  let isAsking = false;
  const deliver = (): void => {
    const line = isAsking ? waiting.shift() : undefined;
    if (line === undefined) return;
    isAsking = false;
    terminalInput.write(`${line}\n`);
  };
  const stderr = new Writable({
    write(chunk: Buffer, _encoding, done) {
      print(chunk.toString());
      isAsking = true;
      setImmediate(deliver);
      done();
    },
  });
  const answer = askQuestion({ ...io, terminalInput, stderr }, question, signal);
  const submit = (line: string): void => {
    waiting.push(line);
    deliver();
  };
  return { answer, submit };
}
