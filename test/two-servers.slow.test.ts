import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openCommandFixture, type CommandFixture, type RunningCommand } from "../src/cli/test-command.ts";
import { newId, type EventDraft, type Store } from "../src/domain/index.ts";
import { deferred, DisposeStack } from "../src/stdx/index.ts";
import { hasTestPostgres, testSchemas } from "../src/store/postgres/fixtures/schemas.ts";
import { openPostgresStore } from "../src/store/postgres/open.ts";

const TOKEN = "the-token-of-both-servers";
const headers = { authorization: `Bearer ${TOKEN}` };
const schemas = testSchemas();

interface Balancer extends AsyncDisposable {
  readonly url: string;
  /** The port of the server behind each open connection. */
  readonly open: ReadonlyMap<Socket, number>;
}

/** Sends each connection to the first port that accepts it, in turns. */
async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const open = new Map<Socket, number>();
  let turn = 0;
  const forward = (client: Socket, left: readonly number[]): void => {
    const [port, ...others] = left;
    if (port === undefined) return void client.destroy();
    const upstream = connect(port, "127.0.0.1");
    upstream.once("connect", () => {
      open.set(client, port);
      client.pipe(upstream).pipe(client);
    });
    upstream.on("error", () => (open.has(client) ? client.destroy() : forward(client, others)));
    upstream.on("close", () => open.has(client) && client.destroy());
    client.on("error", () => upstream.destroy());
    client.on("close", () => {
      open.delete(client);
      upstream.destroy();
    });
  };
  const server = createServer((client) => {
    turn += 1;
    forward(client, turn % 2 === 0 ? ports : ports.toReversed());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open,
    async [Symbol.asyncDispose]() {
      for (const client of open.keys()) client.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

let owned: DisposeStack;
let fixture: CommandFixture;
let store: Store;
beforeEach(async () => {
  owned = new DisposeStack();
  fixture = owned.use(await openCommandFixture());
});
afterEach(() => owned[Symbol.asyncDispose]());

async function startServer(name: string, { url, schema }: { url: string; schema: string }) {
  const env = {
    ...{ ROOKERY_HOME: join(fixture.home, name), ROOKERY_TOKEN: TOKEN },
    ...{ ROOKERY_STORE_URL: url, ROOKERY_STORE_SCHEMA: schema },
  };
  const command = fixture.start(["serve", "--port", "0", "--json"], { env });
  const [, port] = await command.waitForOutput(/"url":"http:\/\/127\.0\.0\.1:(\d+)"/);
  return { command, port: Number(port) };
}

const draft = (index: number): EventDraft => ({
  ...{ type: "notice", level: "info", code: "n", message: `${index}`, at: new Date().toISOString(), agent: "a" },
});

async function openSession(): Promise<string> {
  const sessionId = newId("ses");
  const opened: EventDraft = {
    ...{ type: "session.opened", cwd: "/", backend: "api", permissions: "ask" },
    ...{ at: new Date().toISOString(), agent: "a" },
  };
  await store.append({ sessionId, id: newId("app"), expectedHead: 0, events: [opened] });
  return sessionId;
}

/** Follows as a browser does: reconnects with the id of the last event, and passes every id on. */
async function follow(
  url: string,
  { onId, until }: { readonly onId: (id: number) => void; readonly until: number },
): Promise<number> {
  let last = 0;
  for (let connections = 1; ; connections += 1) {
    try {
      const cursor = last > 0 ? { "last-event-id": String(last) } : {};
      const response = await fetch(url, { headers: { ...headers, accept: "text/event-stream", ...cursor } });
      expect(response.status).toBe(200);
      let rest = "";
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? []) {
        const blocks = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split("\n\n");
        rest = blocks.pop() ?? "";
        for (const block of blocks) {
          const id = /^id: ?(\d+)$/m.exec(block)?.[1];
          if (id === undefined) continue;
          last = Number(id);
          onId(last);
          if (last >= until) return connections;
        }
      }
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // fetch reports a broken connection as a TypeError
    }
  }
}

const kill = (command: RunningCommand): Promise<unknown> => {
  command.child.kill("SIGKILL");
  return command.ended;
};

describe.skipIf(!hasTestPostgres)("two servers behind a load balancer", () => {
  it("continue a stream on the other server without a gap or a repetition if one is killed", async () => {
    const options = await schemas.next();
    store = owned.use(await openPostgresStore(options));
    const servers = [await startServer("one", options), await startServer("other", options)];
    const balancer = owned.use(await startBalancer(servers.map(({ port }) => port)));
    const sessionId = await openSession();
    const total = 400;
    const ids: number[] = [];
    const reached = new Map([50, 150].map((id) => [id, deferred<undefined>()]));
    const following = follow(`${balancer.url}/v1/sessions/${sessionId}/events`, {
      until: total,
      onId: (id) => {
        ids.push(id);
        reached.get(id)?.resolve(undefined);
      },
    });
    const writing = (async () => {
      for (let head = 1; head < total; head += 1) {
        await store.append({ sessionId, id: newId("app"), expectedHead: head, events: [draft(head)] });
      }
    })();
    await reached.get(50)?.promise;
    const [port] = balancer.open.values(); // only the stream is open
    const [dying, living] = servers[0]?.port === port ? servers : servers.toReversed();
    await kill(dying!.command);
    const connections = await following;
    await writing;
    expect(ids).toEqual(Array.from({ length: total }, (_, index) => index + 1));
    expect(connections).toBeGreaterThan(1);
    expect((await fetch(`${balancer.url}/v1/ready`)).status).toBe(200);
    expect(new URL(`http://127.0.0.1:${living!.port}`).port).not.toBe(String(port));
  }, 60_000);

  it("answer a repeated request with the result of the other server, and accept the same token", async () => {
    const options = await schemas.next();
    store = owned.use(await openPostgresStore(options));
    const [one, other] = [await startServer("one", options), await startServer("other", options)];
    const post = async (port: number) => {
      const response = await fetch(`http://127.0.0.1:${port}/v1/sessions`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json", "idempotency-key": "the-same-key" },
        body: JSON.stringify({ agent: "anthropic", cwd: fixture.repository.path }),
      });
      return { status: response.status, id: ((await response.json()) as { id: string }).id };
    };
    const first = await post(one.port);
    expect(first.status).toBe(201);
    await kill(one.command);
    expect(await post(other.port)).toEqual(first);
    expect(await store.list()).toHaveLength(1);
  }, 60_000);
});
