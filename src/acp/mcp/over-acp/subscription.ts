/** `subscriptions/listen`: a request that stays open, and gets what the server says on its own account. */
import { deferred } from "../../../stdx/index.ts";
import { invalidParams, requestCancelled } from "../../errors.ts";
import type { Outcome, ServerLink } from "../link.ts";
import { isObject } from "./envelope.ts";
import { META, complete, type Introduction } from "./revision.ts";
import type { StatelessCall } from "./stateless.ts";

export interface Listener {
  readonly uris: ReadonlySet<string>;
  notification(method: string, params: unknown): void;
  /** The server closed the connection. */
  ended(): void;
}

export interface Listening {
  readonly link: ServerLink;
  readonly introduction: Introduction;
  /** Everybody who listens to this server. */
  readonly listeners: Set<Listener>;
}

const LISTS = {
  toolsListChanged: "tools",
  promptsListChanged: "prompts",
  resourcesListChanged: "resources",
} as const;
const MAX_URIS = 1_000;

/** Ends when it is cancelled, or when the server is gone. */
export async function listen(call: StatelessCall, { link, introduction, listeners }: Listening): Promise<Outcome> {
  const { requestId, signal } = call;
  const wanted = call.params?.["notifications"];
  if (!isObject(wanted)) throw invalidParams("subscriptions/listen says which notifications it wants");
  const lists = listsOf(wanted, introduction);
  const uris = new Set(urisOf(wanted, introduction));
  const mark = { [META.subscriptionId]: requestId };
  const over = deferred<"cancelled" | "ended">();
  let early: (() => void)[] | undefined = [];
  const notify = (method: string, params: unknown): void => {
    const given = isObject(params) ? params : {};
    const send = (): void =>
      call.notify(method, { ...given, _meta: { ...(given["_meta"] as object | undefined), ...mark } });
    if (early === undefined) send();
    else early.push(send);
  };
  const listener: Listener = {
    uris,
    notification: (method, params) => {
      if (isWanted(method, params, lists, uris)) notify(method, params);
    },
    ended: () => over.resolve("ended"),
  };
  const cancel = (): void => over.resolve("cancelled");
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  listeners.add(listener);
  try {
    await Promise.all([...uris].map((uri) => subscribe(link, uri, uris)));
    const waiting: (() => void)[] = early;
    early = undefined;
    notify("notifications/subscriptions/acknowledged", { notifications: agreement(lists, uris) });
    for (const send of waiting) send(); // nothing may come before the acknowledgement
    if ((await over.promise) === "cancelled") throw requestCancelled();
    return { result: complete(call.method, { _meta: mark }, introduction) };
  } finally {
    signal.removeEventListener("abort", cancel);
    listeners.delete(listener);
    for (const uri of uris)
      if (!heard(uri, listeners)) link.request("resources/unsubscribe", { uri }).catch(() => undefined);
  }
}

function agreement(lists: ReadonlySet<string>, uris: ReadonlySet<string>): unknown {
  const agreed = Object.keys(LISTS).filter((key) => lists.has(LISTS[key as keyof typeof LISTS]));
  return {
    ...Object.fromEntries(agreed.map((key) => [key, true])),
    ...(uris.size > 0 && { resourceSubscriptions: [...uris] }),
  };
}

/** The lists that were asked for and that the server says it tells about. */
function listsOf(wanted: Readonly<Record<string, unknown>>, introduction: Introduction): ReadonlySet<string> {
  const asked = Object.entries(LISTS).filter(([key]) => wanted[key] === true);
  return new Set(
    asked.map(([, list]) => list).filter((list) => capability(introduction, list)["listChanged"] === true),
  );
}

function urisOf(wanted: Readonly<Record<string, unknown>>, introduction: Introduction): string[] {
  const uris = wanted["resourceSubscriptions"];
  if (!Array.isArray(uris) || capability(introduction, "resources")["subscribe"] !== true) return [];
  if (uris.length > MAX_URIS) throw invalidParams(`more than ${MAX_URIS} resources cannot be listened to at once`);
  return uris.filter((uri) => typeof uri === "string");
}

function capability({ capabilities }: Introduction, name: string): Readonly<Record<string, unknown>> {
  const found = isObject(capabilities) ? capabilities[name] : undefined;
  return isObject(found) ? found : {};
}

function isWanted(method: string, params: unknown, lists: ReadonlySet<string>, uris: ReadonlySet<string>): boolean {
  const list = /^notifications\/(\w+)\/list_changed$/.exec(method)?.[1];
  if (list !== undefined) return lists.has(list);
  if (method !== "notifications/resources/updated" || !isObject(params)) return false;
  // It may be about a part of what was subscribed to.
  return typeof params["uri"] === "string" && [...uris].some((uri) => String(params["uri"]).startsWith(uri));
}

async function subscribe(link: ServerLink, uri: string, uris: Set<string>): Promise<void> {
  const outcome = await link.request("resources/subscribe", { uri });
  if ("error" in outcome) uris.delete(uri);
}

function heard(uri: string, listeners: ReadonlySet<Listener>): boolean {
  return [...listeners].some((listener) => listener.uris.has(uri));
}
