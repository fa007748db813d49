import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { trust, userConfigFile } from "../../config/index.ts";
import type { ConfigDescription } from "../../config/describe.ts";
import { scriptedServer } from "../../mcp/test-servers.ts";
import type { listMcpServers } from "./mcp-servers.ts";
import { openHttp, type HttpScene } from "./test-scene.ts";

let scene: HttpScene;
beforeEach(async () => {
  scene = await openHttp();
});
afterEach(() => scene[Symbol.asyncDispose]());

type Listed = Awaited<ReturnType<typeof listMcpServers>>;

async function getServers(query = ""): Promise<Listed> {
  return (await scene.get(`/v1/mcp${query}`)).json as unknown as Listed;
}

async function getConfig(query = ""): Promise<ConfigDescription> {
  return (await scene.get(`/v1/config${query}`)).json as unknown as ConfigDescription;
}

async function writeUserConfig(text: string): Promise<string> {
  const file = userConfigFile(scene.env);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  return file;
}

async function writeRepositoryConfig(text: string, name = "rookery.toml"): Promise<string> {
  const file = join(scene.cwd, name);
  await writeFile(file, text);
  return file;
}

it("lists declared servers without starting them, with secrets masked", async () => {
  const file = await writeUserConfig(
    '[mcp.hub]\nurl = "https://me:hidden@hub.example/mcp?key=hidden"\n[mcp.off]\ncommand = ["x", "--token", "hidden"]\nenabled = false\n[mcp.bad]\nurl = "${NOT_SET}"\n',
  );
  const listed = await getServers();
  expect(listed).toMatchObject({ trust: "nothing_to_trust", connected: false });
  expect(listed.servers).toMatchObject([
    { name: "hub", status: "declared", source: "user", file, reached: "https://…@hub.example/mcp?…", tools: [] },
    { name: "off", status: "disabled", reached: "x --token …", fix: "enabled = true for mcp.off" },
    { name: "bad", status: "failed", fix: "export NOT_SET=…" },
  ]);
  expect(JSON.stringify(listed)).not.toContain("hidden");
});

it("connects on request, and says which tools are there and what to do about the rest", async () => {
  const { command, args } = scriptedServer();
  await writeUserConfig(
    `[mcp.mine]\ncommand = ${JSON.stringify([command, ...args])}\n[mcp.gone]\ncommand = ["${join(scene.cwd, "nothing")}"]\n`,
  );
  const [one, other] = await Promise.all([getServers("?connect=true"), getServers("?connect=true")]);
  expect(other).toEqual(one);
  expect(one.connected).toBe(true);
  const [mine, gone] = one.servers;
  expect(mine).toMatchObject({ name: "mine", status: "ready" });
  expect(mine?.tools.length).toBeGreaterThan(0);
  expect(gone).toMatchObject({ name: "gone", status: "failed", tools: [] });
  expect(gone?.fix).toBeDefined();
});

it("leaves out and does not start the servers of an untrusted repository", async () => {
  await writeRepositoryConfig('{"mcpServers":{"evil":{"command":"touch","args":["started"]}}}', ".mcp.json");
  expect(await getServers("?connect=true")).toMatchObject({ trust: "untrusted", servers: [] });
  await trust(scene.cwd, scene.env);
  expect(await getServers()).toMatchObject({ trust: "trusted", servers: [{ name: "evil", source: ".mcp.json" }] });
});

it("shows each configured value with its file, and which one applies", async () => {
  const repository = await writeRepositoryConfig(
    '[defaults]\nagent = "openai"\nmax_running = 9\n[agents."my.one"]\nmodel = "openai/x"\ntools = { deny = ["bash"] }\n',
  );
  const user = await writeUserConfig(
    '[defaults]\nagent = "anthropic"\nmax_running = 2\n[mcp.hub]\nurl = "https://x"\nheaders = { Authorization = "hidden" }\n[worktree]\nsetup = "TOKEN=hidden make"\n',
  );
  await trust(scene.cwd, scene.env);
  const described = await getConfig();
  expect(described).toMatchObject({ root: scene.cwd, trust: "trusted" });
  expect(described.files.map(({ file, exists }) => [file, exists])).toEqual([
    [repository, true],
    [join(scene.cwd, ".mcp.json"), false],
    [user, true],
  ]);
  expect(described.values.map(({ key, value, scope, applies }) => [key, value, scope, applies])).toEqual([
    ['agents."my.one".model', "openai/x", "repository", true],
    ['agents."my.one".tools.deny', ["bash"], "repository", true],
    ["defaults.agent", "openai", "repository", true],
    ["defaults.agent", "anthropic", "user", false],
    ["defaults.max_running", 9, "repository", false],
    ["defaults.max_running", 2, "user", true],
    ["mcp.hub", { url: "https://x", headers: { Authorization: "…" } }, "user", true],
    ["worktree.setup", "TOKEN=… make", "user", true],
  ]);
});

it("says that nothing of an untrusted repository applies", async () => {
  await writeRepositoryConfig('[worktree]\nsetup = "evil"\n');
  await writeUserConfig('[worktree]\nsetup = "mine"\n');
  const { trust: status, values } = await getConfig();
  expect(status).toBe("untrusted");
  expect(values.map(({ value, applies }) => [value, applies])).toEqual([
    ["evil", false],
    ["mine", true],
  ]);
});

it("responds with config_invalid and cwd_missing, and refuses relative folders", async () => {
  for (const path of ["/v1/mcp", "/v1/config"]) {
    expect(await scene.get(`${path}?cwd=/nothing/here`)).toMatchObject({ status: 422, json: { code: "cwd_missing" } });
    for (const query of ["cwd=..", "cwd=", "cwd=/a%00b", `cwd=/${"x".repeat(5_000)}`, "path=/etc", "cwd=/a&cwd=/b"])
      expect(await scene.get(`${path}?${query}`)).toMatchObject({ status: 400, json: { code: "input_invalid" } });
  }
  expect(await scene.get("/v1/mcp?agent=none")).toMatchObject({ status: 422, json: { code: "agent_unknown" } });
  expect(await scene.get("/v1/mcp?connect=yes")).toMatchObject({ status: 400 });
  await writeUserConfig("[defaults]\nagnet = 1\n");
  for (const path of ["/v1/mcp", "/v1/config"])
    expect(await scene.get(path)).toMatchObject({ status: 422, json: { code: "config_invalid" } });
});
