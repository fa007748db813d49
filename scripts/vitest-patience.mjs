import { vi } from "vitest";

/**
 * Vitest gives up on `vi.waitFor` after one second, which a busy machine spends on starting one process. A test that
 * waits for what must come loses nothing by a longer limit; one that names its own limit keeps it.
 */
const PATIENCE_MS = 20_000;

const { waitFor, waitUntil } = vi;
vi.waitFor = (callback, options) => waitFor(callback, patient(options));
vi.waitUntil = (callback, options) => waitUntil(callback, patient(options));

function patient(options = {}) {
  return typeof options === "number" ? options : { timeout: PATIENCE_MS, ...options };
}
