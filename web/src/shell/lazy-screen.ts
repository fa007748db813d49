/** Loads the code of a screen when it is needed, even if the server is unreachable at that moment. */
import { lazy, type Component } from "solid-js";

const RETRY_MS = 1_000;
/** A second failure within this time is not caused by the connection. */
const RELOAD_AGAIN_MS = 10_000;
const RELOADED_NAME = "rookery-reloaded-for-code";

/** Like `lazy`. Shows nothing until the code has arrived. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- as in the type of `lazy`
export function lazyScreen<T extends Component<any>>(load: () => Promise<T>): ReturnType<typeof lazy<T>> {
  return lazy(async () => ({ default: await load().catch(reloadPage) }));
}

/**
 * Loads the whole page again when the server is there: a browser does not ask twice for code that it did not get (seen
 * in Chromium 143), and a newer server has other code. Rejects if that did not help.
 */
async function reloadPage(cause: unknown): Promise<never> {
  while (!(await isServerThere())) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  const reloadedAt = Number(sessionStorage.getItem(RELOADED_NAME) ?? 0);
  if (Date.now() - reloadedAt < RELOAD_AGAIN_MS) {
    throw new Error("The code of this screen could not be loaded. Load the page again.", { cause });
  }
  sessionStorage.setItem(RELOADED_NAME, String(Date.now()));
  location.reload();
  return new Promise(() => undefined); // the page ends
}

async function isServerThere(): Promise<boolean> {
  return fetch("/v1/health").then(
    ({ ok }) => ok,
    () => false,
  );
}
