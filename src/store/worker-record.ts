/** Reads worker records that another process, and perhaps another version, has written. */
import { WORKER_REQUESTS, type WorkerRecord, type WorkerRequest } from "../domain/index.ts";

const TEXTS = ["id", "kind", "host", "scope", "owner", "version", "startedAt", "state"];
const LISTS = ["labels", "agents", "unreadyAgents"];

/** Undefined if the text is damaged. Lists that an older version does not write are empty. */
export function parseWorkerRecord(text: string | undefined): WorkerRecord | undefined {
  try {
    const value = JSON.parse(text ?? "") as Record<string, unknown> | null;
    if (value === null || !TEXTS.every((key) => typeof value[key] === "string")) return undefined;
    const lists = Object.fromEntries(LISTS.map((key) => [key, Array.isArray(value[key]) ? value[key] : []]));
    return { ...value, ...lists } as unknown as WorkerRecord;
  } catch {
    return undefined;
  }
}

/** Undefined for no request, and for one of a newer version. */
export function toWorkerRequest(text: string | null | undefined): WorkerRequest | undefined {
  return WORKER_REQUESTS.find((request) => request === text);
}
