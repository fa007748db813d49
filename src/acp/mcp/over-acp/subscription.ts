/** `subscriptions/listen`: a request that stays open and gets the notifications that the server sends by itself. */
import { deferred } from "../../../stdx/index.ts";
import { invalidParams, requestCancelled } from "../../errors.ts";
import type { McpOutcome, ServerLink } from "../server-link.ts";
import { isJsonObject } from "../../wire/json-object.ts";
import { META_KEYS, toCompleteResult, type ServerIntroduction } from "./revision.ts";
import type { StatelessCall } from "./stateless-call.ts";

export interface SubscriptionListener {
  readonly uris: ReadonlySet<string>;
  notification(method: string, params: unknown): void;
  /** Called when the server closes the connection. */
  ended(): void;
}

export interface SubscribedServer {
  readonly link: ServerLink;
  readonly introduction: ServerIntroduction;
  /** All listeners of this server. */
  readonly listeners: Set<SubscriptionListener>;
}

const LISTS = {
  toolsListChanged: "tools",
  promptsListChanged: "prompts",
  resourcesListChanged: "resources",
} as const;
const MAX_URIS = 1_000;

/** Resolves when the server closes the connection. Rejects with -32800 when the request is cancelled. */
export async function serveSubscription(
  call: StatelessCall,
  { link, introduction, listeners }: SubscribedServer,
): Promise<McpOutcome> {
  const { requestId, signal } = call;
  const requested = call.params?.["notifications"];
  if (!isJsonObject(requested)) throw invalidParams("subscriptions/listen requires a notifications object");
  const lists = selectLists(requested, introduction);
  const uris = new Set(selectUris(requested, introduction));
  const mark = { [META_KEYS.subscriptionId]: requestId };
  const finished = deferred<"cancelled" | "ended">();
  let early: (() => void)[] | undefined = [];
  const notify = (method: string, params: unknown): void => {
    const fields = isJsonObject(params) ? params : {};
    const send = (): void =>
      call.notify(method, { ...fields, _meta: { ...(fields["_meta"] as object | undefined), ...mark } });
    if (early === undefined) send();
    else early.push(send);
  };
  const listener: SubscriptionListener = {
    uris,
    notification: (method, params) => {
      if (isSubscribed(method, params, lists, uris)) notify(method, params);
    },
    ended: () => finished.resolve("ended"),
  };
  const cancel = (): void => finished.resolve("cancelled");
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  listeners.add(listener);
  try {
    await Promise.all([...uris].map((uri) => subscribe(link, uri, uris)));
    const waiting: (() => void)[] = early;
    early = undefined;
    notify("notifications/subscriptions/acknowledged", { notifications: formatAgreement(lists, uris) });
    for (const send of waiting) send(); // nothing may come before the acknowledgement
    if ((await finished.promise) === "cancelled") throw requestCancelled();
    return { result: toCompleteResult(call.method, { _meta: mark }, introduction) };
  } finally {
    signal.removeEventListener("abort", cancel);
    listeners.delete(listener);
    for (const uri of uris)
      if (!hasListener(uri, listeners)) link.request("resources/unsubscribe", { uri }).catch(() => undefined);
  }
}

function formatAgreement(lists: ReadonlySet<string>, uris: ReadonlySet<string>): unknown {
  const agreed = Object.keys(LISTS).filter((key) => lists.has(LISTS[key as keyof typeof LISTS]));
  return {
    ...Object.fromEntries(agreed.map((key) => [key, true])),
    ...(uris.size > 0 && { resourceSubscriptions: [...uris] }),
  };
}

/** The requested lists for which the server advertises change notifications. */
function selectLists(
  requested: Readonly<Record<string, unknown>>,
  introduction: ServerIntroduction,
): ReadonlySet<string> {
  const requestedLists = Object.entries(LISTS).filter(([key]) => requested[key] === true);
  return new Set(
    requestedLists.map(([, list]) => list).filter((list) => getCapability(introduction, list)["listChanged"] === true),
  );
}

function selectUris(requested: Readonly<Record<string, unknown>>, introduction: ServerIntroduction): string[] {
  const uris = requested["resourceSubscriptions"];
  if (!Array.isArray(uris) || getCapability(introduction, "resources")["subscribe"] !== true) return [];
  if (uris.length > MAX_URIS) throw invalidParams(`cannot subscribe to more than ${MAX_URIS} resources at once`);
  return uris.filter((uri) => typeof uri === "string");
}

function getCapability({ capabilities }: ServerIntroduction, name: string): Readonly<Record<string, unknown>> {
  const found = isJsonObject(capabilities) ? capabilities[name] : undefined;
  return isJsonObject(found) ? found : {};
}

function isSubscribed(method: string, params: unknown, lists: ReadonlySet<string>, uris: ReadonlySet<string>): boolean {
  const list = /^notifications\/(\w+)\/list_changed$/.exec(method)?.[1];
  if (list !== undefined) return lists.has(list);
  if (method !== "notifications/resources/updated" || !isJsonObject(params)) return false;
  // The update may concern a part of the subscribed resource.
  return typeof params["uri"] === "string" && [...uris].some((uri) => String(params["uri"]).startsWith(uri));
}

async function subscribe(link: ServerLink, uri: string, uris: Set<string>): Promise<void> {
  const outcome = await link.request("resources/subscribe", { uri });
  if ("error" in outcome) uris.delete(uri);
}

function hasListener(uri: string, listeners: ReadonlySet<SubscriptionListener>): boolean {
  return [...listeners].some((listener) => listener.uris.has(uri));
}
