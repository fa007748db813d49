/** The response to `GET /models`, in the format of the API that the client expects. */

import type { IncomingHttpHeaders } from "node:http";

/** Lists all models on one page. */
export function modelList(models: readonly string[], path: string, headers: IncomingHttpHeaders): unknown {
  if (/^\/v1(beta|alpha)\//.test(path)) return { models: models.map(geminiModel) };
  if (headers["anthropic-version"] !== undefined) {
    const data = models.map((id) => ({ type: "model", id, display_name: id, created_at: "2025-01-01T00:00:00Z" }));
    return { data, has_more: false, first_id: models[0] ?? null, last_id: models.at(-1) ?? null };
  }
  return { object: "list", data: models.map((id) => ({ id, object: "model", created: 0, owned_by: "system" })) };
}

function geminiModel(id: string) {
  return {
    name: `models/${id}`,
    version: "001",
    displayName: id,
    inputTokenLimit: 1_048_576,
    outputTokenLimit: 65_536,
    supportedGenerationMethods: ["generateContent", "countTokens"],
  };
}
