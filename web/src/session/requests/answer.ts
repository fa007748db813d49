/** Answers a permission request or a question. */
import type { RookeryClient, components } from "../../../../src/client/index.ts";
import { isRookeryError } from "../../../../src/client/index.ts";
import { sendOnce } from "../../send.ts";

export type AnswerBody = components["schemas"]["Answer"];

/** Returns false if somebody else answered first. Rejects with other errors of the server. */
export async function answerRequest(
  client: RookeryClient,
  place: { readonly sessionId: string; readonly requestId: string },
  body: AnswerBody,
  key: string,
): Promise<boolean> {
  const path = { id: place.sessionId, requestId: place.requestId };
  try {
    await sendOnce(key, (header) =>
      client.POST("/v1/sessions/{id}/requests/{requestId}", { params: { path, header }, body }),
    );
    return true;
  } catch (error) {
    if (isRookeryError(error, "request_resolved")) return false;
    throw error;
  }
}
