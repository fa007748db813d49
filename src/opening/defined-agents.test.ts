import { createServer } from "node:http";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SessionEvent, type AgentDefinition, type Store } from "../domain/index.ts";
import { deferred } from "../stdx/index.ts";
import { openScene, openWorld } from "../session/test-scene.ts";
import { call, say, transcript, type ModelRequest } from "../testing/index.ts";

const ACCESS_KEY = `ghp_${"x".repeat(20)}`;
const REVIEWER: AgentDefinition = {
  name: "reviewer",
  backend: "api",
  model: "anthropic/claude-reviewer",
  prompts: [{ text: "You review code." }],
  permissions: "read",
  tools: { deny: ["bash"] },
  budget: { steps: 7 },
};

const CONFIGURED = '[agents.reviewer]\nmodel = "anthropic/claude-configured"\n';

type World = Awaited<ReturnType<typeof openWorld>>;

async function openRookery(world: World) {
  return world.owned.use(await world.open());
}

describe("a session with a defined agent", () => {
  it("uses the prompts, the model, the tools and the permissions of the definition, and records it", async () => {
    await using world = await openWorld([say("Fine.")]);
    await world.configure(CONFIGURED);
    await writeFile(join(world.options.cwd, "style.md"), "Be short.");
    const rookery = await openRookery(world);
    const definition = { ...REVIEWER, prompts: [...(REVIEWER.prompts ?? []), "style.md"], folders: ["docs"] };
    const session = await rookery.openSession({ agent: definition });
    expect((await session.prompt("Look at it").outcome).status).toBe("done");
    const [request] = world.model.requests;
    expect(request).toMatchObject({ model: "claude-reviewer" });
    expect(request?.system).toContain("You review code.");
    expect(request?.system).toContain("Be short.");
    expect(request?.toolNames).not.toContain("bash");
    expect(session.state).toMatchObject({ agent: "reviewer", permissions: "read" });
    const events = await world.events(session.id);
    expect(events.slice(0, 2)).toMatchObject([
      { type: "session.opened", agent: "reviewer", model: "anthropic/claude-reviewer" },
      {
        type: "agent.defined",
        definition: {
          ...REVIEWER,
          prompts: [{ text: "You review code." }, { text: "Be short." }],
          folders: [join(world.options.cwd, "docs")],
        },
      },
    ]);
    for (const event of events) expect(SessionEvent.safeParse(event).error).toBeUndefined();
  });

  it("is opened again from the log alone, even if a configured agent has its name and the prompt file is gone", async () => {
    await using world = await openWorld([say("one"), say("two")]);
    const file = join(world.options.cwd, "style.md");
    await writeFile(file, "Be short.");
    const first = await world.open();
    const { id } = await first.openSession({ agent: { ...REVIEWER, prompts: ["style.md"] } });
    await first.close();
    await rm(file);
    await world.configure(CONFIGURED);
    const second = await openRookery(world);
    const session = await second.openSession({ id });
    await session.prompt("again").outcome;
    expect(world.model.requests.at(-1)).toMatchObject({ model: "claude-reviewer" });
    expect(world.model.requests.at(-1)?.system).toContain("Be short.");
    expect(world.model.requests.at(-1)?.toolNames).not.toContain("bash");
    expect(transcript(await world.events(id)).filter((line) => line.startsWith("opened"))).toHaveLength(1);
  });

  it("returns to the defined agent by its name after another agent", async () => {
    await using s = await openScene([say("one"), say("two"), say("three")], { agent: REVIEWER });
    await s.session.change({ agent: "anthropic" });
    await s.session.prompt("first").outcome;
    await s.session.change({ agent: "reviewer" });
    await s.session.prompt("second").outcome;
    expect(s.model.requests.map(({ model }) => model)).toEqual(["claude-sonnet-5", "claude-reviewer"]);
  });

  it("switches to an agent that is defined later, and defines it again", async () => {
    await using s = await openScene([say("one"), say("two"), say("three")]);
    await s.session.change({ agent: REVIEWER });
    await s.session.prompt("first").outcome;
    await s.session.change({ agent: { ...REVIEWER, prompts: [{ text: "Be strict." }] } });
    await s.session.prompt("second").outcome;
    const { id } = s.session;
    await s.session.close();
    const again = await s.rookery.openSession({ id, agent: { ...REVIEWER, model: "anthropic/claude-third" } });
    await again.prompt("third").outcome;
    expect(s.model.requests.map(({ model }) => model)).toEqual(["claude-reviewer", "claude-reviewer", "claude-third"]);
    expect(s.model.requests[1]?.system).toContain("Be strict.");
    const defined = (await s.events(id)).filter(({ type }) => type === "agent.defined");
    expect(defined).toHaveLength(3);
  });

  it("records the same definition once", async () => {
    await using s = await openScene([], { agent: REVIEWER });
    const { id } = s.session;
    await s.session.change({ agent: { ...REVIEWER } });
    await s.session.close();
    const { head } = (await s.store.summary(id))!;
    await s.rookery.openSession({ id, agent: { ...REVIEWER, mode: undefined } });
    expect((await s.store.summary(id))?.head).toBe(head);
  });

  it("keeps the definition in a fork, also of a session without a turn", async () => {
    await using s = await openScene([say("one")], { agent: REVIEWER });
    const fork = await s.rookery.openSession({ id: await s.rookery.forkSession(s.session.id) });
    await fork.prompt("hello").outcome;
    expect(s.model.requests.at(-1)).toMatchObject({ model: "claude-reviewer" });
  });

  it("gives its sub-agents the same definition", async () => {
    const script = (request: ModelRequest) => {
      if (request.messages[0]?.text !== "go") return say("Below.");
      return request.toolResults.length === 0
        ? call("delegate", { tasks: [{ prompt: "below", title: "Child" }] })
        : say("Heard.");
    };
    await using s = await openScene(script, { agent: { ...REVIEWER, permissions: "all" } });
    expect((await s.session.prompt("go").outcome).status).toBe("done");
    const [child] = await s.rookery.sessions({ parent: s.session.id });
    expect(child).toMatchObject({ agent: "reviewer", lastOutcome: "done" });
    expect(s.model.requests.every(({ model }) => model === "claude-reviewer")).toBe(true);
    expect((await s.events(child!.id)).map(({ type }) => type)).toContain("agent.defined");
  });
});

describe("MCP servers of a definition", () => {
  it("gets the value of a variable, and keeps only its name in the log", async () => {
    const seen = deferred<string | undefined>();
    const listener = createServer((request, response) => {
      seen.resolve(request.headers.authorization);
      response.writeHead(500).end();
    });
    await new Promise<void>((resolve) => void listener.listen(0, "127.0.0.1", resolve));
    const { port } = listener.address() as { port: number };
    await using world = await openWorld([]);
    world.owned.defer(() => void listener.close());
    const rookery = await openRookery(world);
    const headers = { Authorization: "Bearer ${WEB_TOKEN}" };
    const session = await rookery.openSession({
      agent: { ...REVIEWER, mcp: [{ name: "web", url: `http://127.0.0.1:${port}/mcp`, headers }] },
      env: { WEB_TOKEN: "s3cret-value" },
    });
    expect(await seen.promise).toBe("Bearer s3cret-value");
    const log = JSON.stringify(await world.events(session.id));
    expect(log).toContain("Bearer ${WEB_TOKEN}");
    expect(log).not.toContain("s3cret-value");
  });

  it("belongs to this agent alone, and wins over a configured server of the same name", async () => {
    await using world = await openWorld([]);
    await world.configure('[mcp.notes]\ncommand = ["configured"]\nenabled = false\n[mcp.other]\ncommand = ["other"]\n');
    const rookery = await openRookery(world);
    const notes = { name: "notes", command: ["defined-notes"] as [string] };
    const session = await rookery.openSession({ agent: { ...REVIEWER, mcp: [notes] } });
    expect(session.tools.servers().servers.map(({ name }) => name)).toEqual(["notes"]);
  });
});

describe("a definition that is refused", () => {
  const server = { name: "web", url: "https://web.invalid/mcp" };

  it.each<[string, object, string]>([
    ["an unknown field", { colour: "red" }, "agent.colour: unknown field"],
    ["a wrong type", { retries: "three" }, "agent.retries"],
    ["a misspelled backend", { backend: "opncode" }, "agent.backend"],
    ["a name with a slash", { name: "a/b" }, "agent.name"],
    ["the name __proto__", { name: "__proto__" }, "agent.name"],
    ["no name", { name: undefined }, "agent.name"],
    ["a server with a command and a URL", { mcp: [{ ...server, command: ["c"] }] }, "needs either command or url"],
    ["a server without a name", { mcp: [{ url: "https://web.invalid" }] }, "agent.mcp.0"],
    ["one of Rookery's secrets in pass_env", { pass_env: ["ROOKERY_TOKEN"] }, "agent.pass_env.0"],
    ["a secret in env", { env: { GITHUB_TOKEN: "abc" } }, "agent.env.GITHUB_TOKEN: it looks like a secret"],
    ["a known key in env", { env: { OTHER: "sk-aaaaaaaaaaaaaaaaaaaaaaaa" } }, "agent.env.OTHER"],
    ["a secret in a command", { command: ["x", "--api-key", "abc"] }, "agent.command.2: it looks like a secret"],
    ["a password in a URL", { base_url: "https://me:secret@api.invalid" }, "agent.base_url: it looks like a secret"],
    ["a password in a variable", { env: { DATABASE: "postgres://me:secret@db.invalid" } }, "agent.env.DATABASE"],
    ["a password in an option", { command: ["x", "--from=https://me:secret@db.invalid"] }, "agent.command.1"],
    ["a header in a command", { command: ["sh", "-c", "curl -H 'Authorization: Bearer abcdefgh'"] }, "agent.command.2"],
    ["a key in the path of a URL", { base_url: `https://api.invalid/${ACCESS_KEY}/v1` }, "agent.base_url"],
    ["a key after #", { base_url: "https://api.invalid/?a=1#access_token=abc" }, "agent.base_url"],
    ["a signature in a URL", { mcp: [{ name: "s", url: "https://a.invalid/?a;sig=abc" }] }, "agent.mcp.0.url"],
    ["a key in another text", { mode: ACCESS_KEY }, "agent.mode"],
    ["a header", { mcp: [{ ...server, headers: { A: "b" } }] }, "agent.mcp.0.headers.A: it looks like a secret"],
    ["a secret of a server", { mcp: [{ name: "s", command: ["c"], env: { KEY: "b" } }] }, "agent.mcp.0.env.KEY"],
    ["a client secret", { mcp: [{ ...server, oauth: { client_secret: "b" } }] }, "agent.mcp.0.oauth.client_secret"],
    ["a key in a query", { mcp: [{ name: "s", url: "https://a.invalid/?api_key=b" }] }, "agent.mcp.0.url"],
  ])("because of %s, with input_invalid, writes nothing", async (_, fields, message) => {
    await using s = await openScene([]);
    const agent = { ...REVIEWER, ...fields };
    const expected = { code: "input_invalid", message: expect.stringContaining(message) as unknown };
    await expect(s.rookery.openSession({ agent })).rejects.toMatchObject(expected);
    await expect(s.session.change({ agent })).rejects.toMatchObject(expected);
    expect(await s.store.list({})).toHaveLength(1);
    expect(await s.lines()).toEqual(["opened anthropic"]);
  });

  it.each<[string, object, string, string]>([
    ["an undeclared server", { mcp: ["nots"] }, "config_invalid", 'no MCP server "nots" (did you mean notes?)'],
    [
      "a prompt file that is a link to a file of the user",
      { prompts: ["l/file"] },
      "config_invalid",
      "l/file is outside",
    ],
    ["a directory that is a link to one of the user", { folders: ["l"] }, "config_invalid", "l is a symbolic link to"],
    ["a missing prompt file", { prompts: ["gone.md"] }, "config_invalid", "the prompt file gone.md does not exist"],
    ["a backend without its program", { backend: "command" }, "config_invalid", 'backend "command" needs a program'],
    ["a huge prompt", { prompts: [{ text: "x".repeat(1_100_000) }] }, "input_too_large", "shorten its prompts"],
    ["a model without a provider", { model: "nobody/m" }, "provider_unknown", "nobody"],
  ])("because of %s, writes nothing", async (_, fields, code, message) => {
    await using s = await openScene([]);
    await s.configure('[mcp.notes]\ncommand = ["notes"]\n');
    await writeFile(join(s.options.cwd, "../file"), "of the user");
    await symlink("..", join(s.options.cwd, "l"));
    const agent = { ...REVIEWER, ...fields };
    const expected = { code, message: expect.stringContaining(message) as unknown };
    await expect(s.rookery.openSession({ agent })).rejects.toMatchObject(expected);
    expect(await s.store.list({})).toHaveLength(1);
  });

  it("because the program would obey untrusted files of the repository, as for a configured agent", async () => {
    await using world = await openWorld([]);
    const { cwd } = world.options;
    await mkdir(join(cwd, ".git"));
    await mkdir(join(cwd, ".claude"));
    await writeFile(join(cwd, ".claude/settings.json"), '{"hooks":{}}');
    const rookery = await openRookery(world);
    const agent: AgentDefinition = { name: "mine", backend: "claude-code", command: ["true"] };
    await expect(rookery.openSession({ agent })).rejects.toMatchObject({ code: "not_trusted" });
    expect(await world.store.list({})).toEqual([]);
  });
});

it("refuses a definition of a newer version with log_corrupt, instead of using a part of it", async () => {
  await using world = await openWorld([]);
  const first = await world.open();
  const { id } = await first.openSession({ agent: REVIEWER });
  await first.close();
  const second = world.owned.use(await world.open(undefined, withNewerKey(world.store)));
  await expect(second.openSession({ id })).rejects.toMatchObject({
    code: "log_corrupt",
    message: expect.stringContaining(`the definition of agent reviewer in session ${id} cannot be read`) as unknown,
  });
});

/** Reads definitions as a newer version may write them. */
function withNewerKey(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === "read") {
        return async (query: Parameters<Store["read"]>[0]) => {
          const page = await target.read(query);
          const events = page.events.map((event) =>
            event.type === "agent.defined"
              ? { ...event, definition: { ...event.definition, sandbox: "strict" } as AgentDefinition }
              : event,
          );
          return { ...page, events };
        };
      }
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
