/** Reads the server's reply to a client request. */
import { errorOf, type RookeryClient } from "../../client/index.ts";
import { messageOf, RookeryError } from "../../domain/errors.ts";

export type ServerReply = Promise<{ data?: unknown; error?: unknown; response: Response }>;

/** Rejects with the server's error, or with `server_unreachable`. */
export async function readServerReply({ url }: Pick<RookeryClient, "url">, asked: ServerReply): Promise<unknown> {
  const { data, error, response } = await asked.catch((cause: unknown): never => {
    const message = `cannot reach the server at ${url} (${messageOf(cause)}): is it running? rookery serve`;
    throw new RookeryError("server_unreachable", message, { cause });
  });
  if (data !== undefined) return data;
  throw errorOf(error, response.status);
}
