/** Reads responses of the server, with errors for people. `send.ts` sends what changes something. */
import { errorOf } from "../../src/client/index.ts";

interface Answered<T> {
  readonly data?: T | undefined;
  readonly error?: unknown;
  readonly response: { readonly status: number };
}

/** Returns the data of a response. Rejects with an error whose message is for people. */
export async function dataOf<T>(answer: Promise<Answered<T>>): Promise<T> {
  const { data, error, response } = await answer.catch((cause: unknown) => {
    throw new Error("The server cannot be reached. Is it running?", { cause });
  });
  if (data !== undefined) return data;
  throw errorOf(error, response.status);
}

export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message === "" ? "Something went wrong." : message.charAt(0).toUpperCase() + message.slice(1);
}
