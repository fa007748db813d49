import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import Libsql from "libsql";
import pg from "pg";
import { expect, it } from "vitest";
import { builtEnvironment, temporaryFolder, temporaryRepository } from "../../src/testing/index.ts";
import { fleetServer } from "./server.ts";

/** No interface of the store does this. */
async function deleteResponses(env: Readonly<Record<string, string | undefined>>): Promise<void> {
  const { ROOKERY_HOME: home = "", ROOKERY_STORE_URL: url, ROOKERY_STORE_SCHEMA: schema } = env;
  if (url === undefined) {
    const db = new Libsql(join(home, "rookery.db"));
    db.exec("update request set response = null");
    db.close();
    return;
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`update "${schema}".request set response = null`);
  await client.end();
}

const CONFIG = `[defaults]\nagent = "shell"\n[agents.shell]\nbackend = "command"\ncommand = ["sh", "-c", "{prompt}"]\n`;

it("executes a request with an idempotency key once, even if the server is killed before it responds", async () => {
  await using folder = await temporaryFolder();
  await using repository = await temporaryRepository({ "a.txt": "one\n" });
  const env = builtEnvironment({ home: folder.path });
  await mkdir(join(folder.path, ".config", "rookery"), { recursive: true });
  await writeFile(join(folder.path, ".config", "rookery", "rookery.toml"), CONFIG);
  await using server = await fleetServer({ cwd: repository.path, env });
  const ask = async (path: string, key: string, body: object) => {
    const headers = { authorization: `Bearer ${server.token}`, "content-type": "application/json" };
    const request = { method: "POST", headers: { ...headers, "idempotency-key": key }, body: JSON.stringify(body) };
    const response = await fetch(server.url + path, request);
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  };
  /** Simulates a kill right after the commit: the response was neither sent nor stored. */
  const killBeforeResponse = async () => {
    await server.kill();
    await deleteResponses(env);
    await server.start();
  };
  await server.start();

  const task = { prompt: "true", cwd: repository.path };
  const started = await ask("/v1/tasks", "key-of-task", task);
  const opened = await ask("/v1/sessions", "key-of-session", { cwd: repository.path });
  const turns = `/v1/sessions/${String(opened.json["id"])}/turns`;
  const prompted = await ask(turns, "key-of-turn", { input: "echo hello" });
  const forks = `/v1/sessions/${String(opened.json["id"])}/fork`;
  const forked = await ask(forks, "key-of-fork", {});
  expect([started, opened, prompted, forked].map(({ status }) => status)).toEqual([201, 201, 202, 201]);
  await killBeforeResponse();

  expect((await ask("/v1/tasks", "key-of-task", task)).json).toMatchObject({ id: started.json["id"] });
  expect((await ask("/v1/sessions", "key-of-session", { cwd: repository.path })).json).toMatchObject({
    id: opened.json["id"],
  });
  expect(await ask(turns, "key-of-turn", { input: "echo hello" })).toEqual(prompted);
  expect((await ask(forks, "key-of-fork", {})).json).toMatchObject({ id: forked.json["id"] });
  expect(await ask("/v1/tasks", "key-of-task", { ...task, prompt: "false" })).toMatchObject({ status: 400 });
  const list = async (path: string) => {
    const response = await fetch(server.url + path, { headers: { authorization: `Bearer ${server.token}` } });
    return (await response.json()) as { tasks: unknown[]; sessions: { task?: string }[] };
  };
  expect((await list("/v1/tasks")).tasks).toHaveLength(1);
  const { sessions } = await list("/v1/sessions");
  expect(sessions.filter((session) => session.task === undefined)).toHaveLength(2);
}, 60_000);
