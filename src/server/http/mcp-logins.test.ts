import { expect, it, vi } from "vitest";
import type { BetweenTurnsContext, LoginOutcome } from "../../domain/index.ts";
import { deferred, waitForAbort } from "../../stdx/index.ts";
import { McpLogins } from "./mcp-logins.ts";
import type { ServedRookery } from "./served-rookery.ts";

interface FakeServers {
  readonly status?: string;
  /** Called after the page of the login is known. */
  readonly login?: (signal: AbortSignal) => Promise<LoginOutcome>;
  /** Called before the servers of a folder are listed. */
  readonly list?: () => Promise<void>;
  /** Called before the connection to a server closes. */
  readonly close?: (server: string) => Promise<void>;
}

async function untilAborted(signal: AbortSignal): Promise<LoginOutcome> {
  await waitForAbort(signal);
  return { status: "cancelled" };
}

/** A Rookery with the remote servers `vault`, `vault-0`, `vault-1` and so on. `open` counts the connections. */
function fakeRookery({ status = "needs_login", login = untilAborted, list, close }: FakeServers = {}) {
  const counts = { open: 0, opened: 0 };
  const connectServers = (
    [spec]: readonly [{ readonly name: string }],
    { betweenTurns }: { readonly betweenTurns: BetweenTurnsContext },
  ) => {
    counts.open += 1;
    counts.opened += 1;
    return Promise.resolve({
      settled: () => Promise.resolve(),
      snapshot: () => ({ servers: [{ name: spec.name, status, reason: "it is down" }] }),
      login: (_: string, { signal }: { readonly signal: AbortSignal }) => {
        void betweenTurns
          .ask({ message: "log in", url: "https://vault.example/login" }, { signal })
          .catch(() => undefined);
        return login(signal);
      },
      [Symbol.asyncDispose]: async () => {
        await close?.(spec.name);
        counts.open -= 1;
      },
    });
  };
  const names = ["vault", ...Array.from({ length: 30 }, (_, index) => `vault-${index}`)];
  const specs = names.map((name) => ({ name, type: "http", url: "https://vault.example" }));
  const declaredServers = async () => {
    await list?.();
    return { specs };
  };
  return { counts, rookery: { connectServers, declaredServers } as unknown as ServedRookery };
}

it("keeps one login per server if two requests start one at the same time", async () => {
  const { counts, rookery } = fakeRookery();
  await using logins = new McpLogins(rookery);
  await Promise.allSettled([logins.start("vault", undefined), logins.start("vault", undefined)]);
  expect(logins.read("vault", undefined)).toMatchObject({ status: "waiting", url: "https://vault.example/login" });
  expect(counts).toEqual({ open: 1, opened: 2 });
});

it("ends all logins when it closes", async () => {
  const { counts, rookery } = fakeRookery();
  const logins = new McpLogins(rookery);
  await Promise.allSettled([logins.start("vault", undefined), logins.start("vault", undefined)]);
  await logins[Symbol.asyncDispose]();
  expect(counts.open).toBe(0);
});

it("starts no login if it closes while the servers are listed", async () => {
  const listed = deferred();
  const { counts, rookery } = fakeRookery({ list: () => listed.promise });
  const logins = new McpLogins(rookery);
  const starting = logins.start("vault", undefined);
  await logins[Symbol.asyncDispose]();
  listed.resolve();
  await expect(starting).rejects.toMatchObject({ code: "interrupted" });
  expect(counts).toEqual({ open: 0, opened: 0 });
});

it("waits for a login that a newer one replaced when it closes", async () => {
  const closed = deferred();
  const { counts, rookery } = fakeRookery({
    close: (server) => (server === "vault-0" ? closed.promise : Promise.resolve()),
  });
  const logins = new McpLogins(rookery);
  for (let index = 0; index < 21; index += 1) await logins.start(`vault-${index}`, undefined);
  const closing = logins[Symbol.asyncDispose]().then(() => counts.open);
  setImmediate(() => closed.resolve());
  expect(await closing).toBe(0);
});

it("ends the oldest login beyond 20", async () => {
  const { counts, rookery } = fakeRookery();
  await using logins = new McpLogins(rookery);
  for (let index = 0; index < 21; index += 1) await logins.start(`vault-${index}`, undefined);
  await vi.waitFor(() => expect(counts).toEqual({ open: 20, opened: 21 }));
  expect(logins.read("vault-0", undefined)).toMatchObject({ status: "none" });
});

it("shows why a login failed after its page was opened", async () => {
  const { rookery } = fakeRookery({ login: () => Promise.reject(new Error("the token endpoint sent nonsense")) });
  await using logins = new McpLogins(rookery);
  expect(await logins.start("vault", undefined)).toMatchObject({ status: "waiting" });
  await vi.waitFor(() =>
    expect(logins.read("vault", undefined)).toEqual({
      server: "vault",
      status: "failed",
      reason: "the token endpoint sent nonsense",
    }),
  );
});

it("shows a server that cannot be reached as failed, not as waiting", async () => {
  const { rookery } = fakeRookery({ status: "failed" });
  await using logins = new McpLogins(rookery);
  await expect(logins.start("vault", undefined)).rejects.toMatchObject({ code: "mcp_unavailable" });
  expect(logins.read("vault", undefined)).toMatchObject({ status: "failed" });
});
