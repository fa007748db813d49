/** Lets a proxy's author see, change and drop notifications. */
import { setTimeout as sleep } from "node:timers/promises";
import { RookeryError } from "../../domain/errors.ts";
import { getSessionId } from "../client/routing/request-params.ts";
import { withParams, type PassedMessage } from "./passed-message.ts";

/** A notification on its way through the proxy. */
export type ProxiedNotification = PassedMessage;

/** What happens to the notification: nothing returned passes it on unchanged. */
export type NotificationVerdict = undefined | "drop" | { readonly params: object };

/**
 * Messages of the same session wait until the handler is done. If it throws, takes too long or returns anything else,
 * the notification is dropped, because the handler may be there to remove something from it, and `onError` is called.
 */
export type NotificationHandler = (
  notification: ProxiedNotification,
) => NotificationVerdict | Promise<NotificationVerdict>;

/**
 * Returns the notification to pass on, or undefined if it is dropped. Returns a promise only if the handler does.
 * Throws or rejects with `plugin_failed`.
 */
export function handleNotification<Message extends PassedMessage>(
  notification: Message,
  handler: NotificationHandler,
  timeoutMs: number,
): Message | undefined | Promise<Message | undefined> {
  const verdict = callHandler(notification, handler);
  if (!(verdict instanceof Promise)) return applyVerdict(notification, verdict);
  return waitForVerdict(notification, verdict, timeoutMs).then((settled) => applyVerdict(notification, settled));
}

function callHandler(notification: PassedMessage, handler: NotificationHandler): unknown {
  try {
    return handler(notification);
  } catch (cause) {
    throw handlerError(notification, "threw", cause);
  }
}

async function waitForVerdict(
  notification: PassedMessage,
  verdict: Promise<unknown>,
  timeoutMs: number,
): Promise<unknown> {
  const waiting = new AbortController();
  const late = sleep(timeoutMs, undefined, { signal: waiting.signal, ref: false }).then(
    () => {
      throw handlerError(notification, `took longer than ${timeoutMs} ms`);
    },
    () => undefined,
  );
  const failed = (cause: unknown): never => {
    throw handlerError(notification, "threw", cause);
  };
  try {
    return await Promise.race([verdict.catch(failed), late]);
  } finally {
    waiting.abort();
  }
}

function applyVerdict<Message extends PassedMessage>(notification: Message, verdict: unknown): Message | undefined {
  if (verdict === undefined) return notification;
  if (verdict === "drop") return undefined;
  const { params } = (verdict ?? {}) as { params?: unknown };
  if (typeof params !== "object" || params === null) {
    throw handlerError(notification, `returned neither undefined, "drop" nor an object with params`);
  }
  if (getSessionId(params) !== getSessionId(notification.params)) {
    throw handlerError(notification, "changed the session id");
  }
  try {
    return withParams(notification, params);
  } catch (cause) {
    throw handlerError(notification, "returned params that cannot be serialized", cause);
  }
}

function handlerError({ method }: PassedMessage, what: string, cause?: unknown): RookeryError {
  const why = cause instanceof Error ? `: ${cause.message}` : "";
  const message = `the proxy's handler of ${method} ${what}${why}; the notification was dropped`;
  return new RookeryError("plugin_failed", message, { cause });
}
